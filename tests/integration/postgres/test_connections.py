"""Lost answers, lost questions, forks, threads, and what PostgreSQL cannot keep."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from lineclear.core.log.tables import LOG, VALUE, Value
from lineclear.store.postgres.engine import ConnectionPool, PostgresStore
from lineclear.store.postgres.transaction import PostgresTx
from tests.integration.postgres.desk import (
    ANN,
    ENVIRONMENT,
    REPO,
    claim,
    execute,
    say,
    session_of,
    settle,
    trips,
)
from tests.integration.postgres.slow_line import slow_line
from tests.waiting import until
from tests.world import refused

pytestmark = pytest.mark.postgres


def claim_then(store: PostgresStore, text: str, act: Callable[[], None]) -> dict[str, Any]:
    """A claim with an operation id; `act` is done when all is decided and nothing is sent yet."""
    commit = PostgresTx.commit

    def act_and_commit(tx: PostgresTx) -> bool:
        act()
        return commit(tx)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PostgresTx, "commit", act_and_commit)
        return claim(store, text, op="op-1")


def test_an_answer_that_is_lost_leaves_the_outcome_open_and_the_operation_id_tells(url: str) -> None:
    with slow_line(url) as line:
        store = PostgresStore(line.url, REPO)
        claim(store, "warm.py")
        settle(store)
        with refused("store.failed") as caught:
            claim_then(store, "a.py", line.swallow_answers)
        assert caught.value.facts["is_lost"] is True
        line.repair()
        assert claim(store, "a.py", op="op-1")["replayed"] is True
        store.close()


def test_writes_that_are_lost_were_never_made(url: str) -> None:
    with slow_line(url) as line:
        store = PostgresStore(line.url, REPO)
        claim(store, "warm.py")
        settle(store)
        with refused("store.failed"):
            claim_then(store, "a.py", line.swallow_questions)
        line.repair()
        assert "replayed" not in claim(store, "a.py", op="op-1")
        store.close()


@pytest.mark.parametrize("lost", ["swallow_answers", "swallow_questions"])
def test_before_anything_is_written_a_loss_changes_nothing_and_says_so(url: str, lost: str) -> None:
    with slow_line(url) as line:
        store = PostgresStore(line.url, REPO)
        claim(store, "warm.py")
        settle(store)
        getattr(line, lost)()
        with refused("store.unreachable"):
            claim(store, "a.py", op="op-1")
        line.repair()
        assert "replayed" not in claim(store, "a.py", op="op-1")
        store.close()


def test_a_connection_that_died_unnoticed_is_made_again_for_a_write_too(url: str) -> None:
    with slow_line(url) as line:
        store = PostgresStore(line.url, REPO)
        claim(store, "warm.py")
        settle(store)
        session_of(store)._heard_ns = 0  # it has been idle for long
        line.swallow_answers_once()
        assert claim(store, "a.py")["fence"] == 4
        store.close()


def test_a_read_that_is_cut_says_that_nothing_is_known_to_be_wrong(url: str) -> None:
    with slow_line(url) as line:
        store = PostgresStore(line.url, REPO)
        line.swallow_answers()
        with refused("store.unreachable"):
            store.read(lambda view: view.head)
        line.repair()
        assert store.read(lambda view: view.head) == 0
        store.close()


def test_a_connection_that_ended_while_idle_is_made_anew_without_a_word(
    store: PostgresStore, url: str
) -> None:
    claim(store, "a.py")
    execute(
        url,
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
        " WHERE application_name = 'lineclear' AND datname = current_database()",
    )
    session = session_of(store)
    until(lambda: not session.wire.is_open())  # the news travels, too
    session._heard_ns = 0  # it has been idle for long
    assert claim(store, "b.py")["fence"] == 4


FORKING = """
import os, sys
from lineclear.store.postgres.engine import PostgresStore
from tests.integration.postgres.desk import claim
store = PostgresStore(sys.argv[1], "repo")
claim(store, "parent.py")
child = os.fork()
if child == 0:
    claim(store, "child.py")
    store.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
claim(store, "parent-again.py")
store.close()
"""


def test_a_store_survives_a_fork(store: PostgresStore, url: str) -> None:
    subprocess.run([sys.executable, "-c", FORKING, url], env=ENVIRONMENT, check=True, timeout=60)
    subjects = [entry.subject for entry in store.read(lambda view: view.scan(LOG, "key"))]
    assert subjects[2:] == ["file:parent.py", "file:child.py", "file:parent-again.py"]


def test_threads_share_a_store(store: PostgresStore) -> None:
    threads = [threading.Thread(target=claim, args=(store, f"{number}.py")) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.read(lambda view: view.head) == 10


def test_acknowledged_is_durable_whatever_the_default_says(url: str) -> None:
    execute(
        url, f'ALTER DATABASE "{url.split("/")[3].split("?", maxsplit=1)[0]}" SET synchronous_commit = off'
    )
    store = PostgresStore(url, REPO)
    answer = session_of(store).ask(("SELECT current_setting('synchronous_commit')", ()))[0]
    assert answer.get_value(0, 0) == b"on"
    store.close()


@pytest.mark.parametrize("text", ["nul \0 inside", "half \ud800 a pair"])
def test_a_text_that_postgres_cannot_keep_is_refused(store: PostgresStore, text: str) -> None:
    claim(store, "warm.py")
    with refused("input.bad"):
        store.transact(ANN, lambda tx: tx.append(say(text)))
    with refused("input.bad"):
        store.read(lambda view: view.get(VALUE, (text,)))
    assert claim(store, "a.py")["fence"] == 4


def test_a_name_too_long_for_an_index_is_refused(store: PostgresStore) -> None:
    claim(store, "warm.py")
    noise = "".join(chr(0x4E00 + number * 37 % 20_000) for number in range(2_000))
    with refused("input.bad"):
        store.transact(ANN, lambda tx: tx.put(VALUE, Value(noise, 1, "1", 0, "ann", 1)))
    assert claim(store, "a.py")["fence"] == 4


def test_a_read_only_session_is_refused_in_words(url: str) -> None:
    store = PostgresStore(f"{url}&options=-cdefault_transaction_read_only%3Don", REPO)
    with refused("store.read_only"):
        claim(store, "a.py")
    assert store.read(lambda view: view.head) == 0
    store.close()


# -- connections that are kept --------------------------------------------------------------------


def backend(store: PostgresStore) -> int:
    return int(session_of(store).ask(("SELECT pg_backend_pid()", ()))[0].get_value(0, 0) or b"0")


def test_a_kept_connection_is_used_again(url: str) -> None:
    pool = ConnectionPool()
    first = PostgresStore(url, REPO, pool=pool)
    claim(first, "a.py")
    pid = backend(first)
    first.close()
    second = PostgresStore(url, REPO, pool=pool)
    assert backend(second) == pid
    assert trips(second, lambda: claim(second, "b.py")) == 2
    third = PostgresStore(url, REPO, pool=pool)
    assert backend(third) != pid  # one store's alone while it is used
    third.close()
    second.close()


def test_a_kept_connection_that_died_is_not_used(url: str) -> None:
    pool = ConnectionPool()
    first = PostgresStore(url, REPO, pool=pool)
    pid, session = backend(first), session_of(first)
    first.close()
    execute(url, f"SELECT pg_terminate_backend({pid}, 60000)")
    until(lambda: not session.wire.is_open())  # the news travels, too
    second = PostgresStore(url, REPO, pool=pool)
    assert claim(second, "a.py")["fence"] == 3
    second.close()


# -- patience -------------------------------------------------------------------------------------


def test_a_silent_server_is_given_up_on(url: str) -> None:
    with slow_line(url) as line:
        store = PostgresStore(line.url, REPO, patience_s=2)
        claim(store, "a.py")
        with refused("store.failed") as caught:
            claim_then(store, "b.py", line.freeze)
        assert caught.value.facts["is_lost"] is True
        with refused("store.unreachable"):
            claim(store, "b.py")
        line.repair()
        assert claim(store, "b.py")["claims"][0]["resource"] == "file:b.py"
        store.close()


def test_nobody_waits_twice_for_a_silent_server(url: str) -> None:
    with slow_line(url) as line:
        store = PostgresStore(line.url, REPO, patience_s=1)
        claim(store, "a.py")
        session_of(store)._heard_ns = 0  # it has been idle for long
        line.freeze()
        started = time.monotonic()
        with refused("store.unreachable"):
            claim(store, "b.py")
        assert time.monotonic() - started < 2
        line.repair()
        store.close()


def test_a_refusal_that_is_lost_is_known_not_to_have_changed_anything(url: str) -> None:
    other = PostgresStore(url, REPO)
    claim(other, "taken.py", "bob")
    with slow_line(url) as line:
        store = PostgresStore(line.url, REPO)
        line.swallow_answers()
        with refused("store.unreachable"):
            claim(store, "taken.py")
        line.repair()
        store.close()
    other.close()
