"""How often the server is waited for: twice for a write, as a rule, also among eight who write at once."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from lineclear.app import messages, tasks, values
from lineclear.app.agents.heartbeat import renew
from lineclear.app.log import audit
from lineclear.app.ports import NobodyDies
from lineclear.core.log.queries import by_index, by_key
from lineclear.core.log.tables import AGENT, CLAIM, LOG, TASK, VALUE
from lineclear.core.tasks.lists import TaskDraft
from lineclear.store.postgres.engine import PostgresStore
from tests.integration.postgres.desk import ANN, ENVIRONMENT, REPO, claim, release, trips
from tests.integration.postgres.slow_line import slow_line
from tests.world import refused

if TYPE_CHECKING:
    from lineclear.app.ports import Tx, View
    from lineclear.core.log.tables import Table

pytestmark = pytest.mark.postgres

DELAY_S = 0.025


def test_a_claim_costs_two_round_trips(store: PostgresStore) -> None:
    claim(store, "warm.py")
    for number in range(5):
        assert trips(store, lambda number=number: claim(store, f"src/{number}.py")) == 2  # type: ignore[misc]


def test_so_does_the_first_of_a_process_that_knows_nothing(store: PostgresStore, url: str) -> None:
    claim(store, "warm.py")
    other = PostgresStore(url, REPO)
    assert trips(other, lambda: claim(other, "a.py")) == 2
    other.close()


def test_so_do_renewal_release_and_operation_ids(store: PostgresStore) -> None:
    claim(store, "a.py")
    assert trips(store, lambda: claim(store, "a.py")) == 2
    assert trips(store, lambda: release(store, "a.py")) == 2
    assert trips(store, lambda: claim(store, "b.py", op="op-1")) == 2
    assert trips(store, lambda: claim(store, "b.py", op="op-1")) == 2
    assert trips(store, lambda: renew(store, ANN)) == 2
    assert trips(store, lambda: release(store, "b.py")) == 2


def test_so_do_values_and_messages(store: PostgresStore) -> None:
    claim(store, "warm.py")
    assert trips(store, lambda: values.put(store, NobodyDies(), ANN, [], "k", "1")) == 2
    assert trips(store, lambda: values.put(store, NobodyDies(), ANN, [], "k", "2", version=1)) == 2
    assert trips(store, lambda: store.read(lambda view: values.get(view, "k"))) == 1
    assert trips(store, lambda: values.delete(store, NobodyDies(), ANN, [], "k")) == 2
    assert trips(store, lambda: messages.say(store, ANN, "hello", to="bob")) == 2


def test_a_task_is_taken_in_three_and_ended_in_two(store: PostgresStore) -> None:
    for title in ("One", "Two"):
        tasks.add(store, ANN, TaskDraft("", title))
    # Which one it is, and so its links, is only known after the first.
    assert trips(store, lambda: tasks.take(store, NobodyDies(), ANN)) == 3
    assert trips(store, lambda: tasks.take(store, NobodyDies(), ANN, number=2)) == 2
    assert trips(store, lambda: tasks.finish(store, ANN, 1)) == 2


def test_a_refusal_costs_one_round_trip_and_what_its_words_need(store: PostgresStore, url: str) -> None:
    claim(store, "warm.py")
    other = PostgresStore(url, REPO)
    claim(other, "bobs.py", "bob")
    before = store.round_trips
    with refused("claim.held"):
        claim(store, "bobs.py")
    assert store.round_trips - before == 2  # is bob alive?
    before = store.round_trips
    with refused("value.unknown"):
        values.delete(store, NobodyDies(), ANN, [], "k")
    assert store.round_trips - before == 1
    other.close()


def test_a_question_that_was_not_foreseen_costs_one_more(store: PostgresStore) -> None:
    claim(store, "a.py")

    def look(tx: Tx) -> None:
        assert tx.get(CLAIM, ("ann", "file:a.py")) is not None
        assert tx.get(VALUE, ("k",)) is None

    foreseen = [by_key(CLAIM, "ann", "file:a.py"), by_key(VALUE, "k")]
    assert trips(store, lambda: store.transact(ANN, look)) == 4
    assert trips(store, lambda: store.transact(ANN, look, foreseen)) == 2


def test_a_read_of_many_questions_is_one_round_trip_when_they_are_named(store: PostgresStore) -> None:
    claim(store, "warm.py")
    tables: tuple[Table[Any], ...] = (AGENT, CLAIM, TASK, LOG)

    def look(view: View) -> int:
        return sum(len(view.scan(table, "key")) for table in tables)

    def look_at_once(view: View) -> int:
        view.prefetch(*(by_index(table, "key") for table in tables))
        return look(view)

    assert trips(store, lambda: store.read(look)) == len(tables)
    assert trips(store, lambda: store.read(look_at_once)) == 1


def test_a_row_that_came_with_an_answer_is_not_asked_for_again(store: PostgresStore) -> None:
    claim(store, "a.py")

    def look(view: View) -> None:
        for found in view.scan(CLAIM, "key"):
            assert view.get(CLAIM, (found.agent, found.resource)) is found

    assert trips(store, lambda: store.read(look)) == 1


def test_others_who_write_elsewhere_cost_a_claim_nothing(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url, REPO)
    claim(store, "a/warm.py")
    claim(other, "b/warm.py", "bob")
    for number in range(5):
        assert trips(other, lambda number=number: claim(other, f"b/{number}.py", "bob")) == 2  # type: ignore[misc]
        assert trips(store, lambda number=number: claim(store, f"a/{number}.py", op=f"op-{number}")) == 2  # type: ignore[misc]
    other.close()
    positions = [entry.position for entry in store.read(lambda view: view.scan(LOG, "key"))]
    assert positions == list(range(1, len(positions) + 1))


CLAIMING = """
import json, sys
from lineclear.app import claims
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.store.postgres.engine import PostgresStore

url, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = PostgresStore(url, "repo")

def claim(text):
    request = Request(name, "main", EXCLUSIVE, [parse_resource(text)], ttl_ms=60_000)
    return claims.ask(store, NobodyDies(), Caller(name), request)["fence"]

claim(f"{name}/warm.py")
print("ready", flush=True)
sys.stdin.readline()
before = store.round_trips
fences = [claim(f"{name}/{number}.py") for number in range(count)]
print(json.dumps({"trips": store.round_trips - before, "fences": fences}), flush=True)
store.close()
"""


def run_claimers(url: str, processes: int, count: int) -> list[dict[str, Any]]:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIMING, url, f"agent-{number}", str(count)],
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return [json.loads(process.communicate(timeout=60)[0]) for process in running]


def test_eight_processes_at_once_need_no_more_than_one_alone(url: str) -> None:
    found = run_claimers(url, processes=8, count=25)
    assert [answer["trips"] for answer in found] == [2 * 25] * 8
    fences = [fence for answer in found for fence in answer["fences"]]
    assert len(set(fences)) == 8 * 25
    checked = PostgresStore(url, REPO)
    assert audit(checked)["findings"] == []
    assert checked.check() == []
    checked.close()


def test_on_a_slow_line_the_count_is_of_real_round_trips(url: str) -> None:
    with slow_line(url, DELAY_S) as line:
        store = PostgresStore(line.url, REPO)
        claim(store, "warm.py")
        before, started = store.round_trips, time.monotonic()
        for number in range(10):
            claim(store, f"{number}.py")
        took_s = time.monotonic() - started
        store.close()
    assert store.round_trips - before == 2 * 10
    # Nothing that we count as one can have been quicker than the way there and back.
    assert took_s >= 2 * 10 * 2 * DELAY_S


@pytest.mark.serial
def test_on_a_slow_line_nothing_else_is_waited_for(url: str) -> None:
    with slow_line(url, DELAY_S) as line:
        store = PostgresStore(line.url, REPO)
        claim(store, "warm.py")
        took_s = []
        for number in range(10):
            started = time.monotonic()
            claim(store, f"{number}.py")
            took_s.append(time.monotonic() - started)
        store.close()
    # Not for the bell either, which rang ten times: the quickest took two round trips, not three.
    assert min(took_s) < 3 * 2 * DELAY_S
