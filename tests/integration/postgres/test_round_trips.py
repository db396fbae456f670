"""How often the server is waited for: once, as a rule, also among eight who write at once."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import pytest

from lineclear.app.log import audit
from lineclear.core.tables import LOG
from lineclear.store.postgres.engine import PostgresStore
from tests.integration.postgres.desk import ENVIRONMENT, REPO, claim, release, trips
from tests.integration.postgres.slow_line import slow_line
from tests.world import refused

pytestmark = pytest.mark.postgres

DELAY_S = 0.025


def test_a_claim_costs_one_round_trip(store: PostgresStore) -> None:
    claim(store, "warm.py")
    for number in range(5):
        assert trips(store, lambda number=number: claim(store, f"src/{number}.py")) == 1  # type: ignore[misc]


def test_so_do_renewal_release_operation_ids_and_refusals(store: PostgresStore, url: str) -> None:
    claim(store, "a.py")
    assert trips(store, lambda: claim(store, "a.py")) == 1
    assert trips(store, lambda: release(store, "a.py")) == 1
    assert trips(store, lambda: claim(store, "b.py", op="op-1")) == 1
    assert trips(store, lambda: claim(store, "b.py", op="op-1")) == 1
    other = PostgresStore(url, REPO)
    claim(other, "bobs.py", "bob")
    claim(store, "c.py")
    with refused("claim.held"):
        claim(other, "c.py", "bob")  # learns of the other's claim
    before = other.round_trips
    with refused("claim.held"):
        claim(other, "c.py", "bob")
    assert other.round_trips - before == 1
    other.close()


def test_others_who_write_elsewhere_cost_a_claim_nothing(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url, REPO)
    claim(store, "a/warm.py")
    claim(other, "b/warm.py", "bob")
    for number in range(5):
        assert trips(other, lambda number=number: claim(other, f"b/{number}.py", "bob")) == 1  # type: ignore[misc]
        assert trips(store, lambda number=number: claim(store, f"a/{number}.py", op=f"op-{number}")) == 1  # type: ignore[misc]
    other.close()
    positions = [entry.position for entry in store.read(lambda view: view.scan(LOG, "key"))]
    assert positions == list(range(1, len(positions) + 1))


CLAIMING = """
import json, sys
from lineclear.app import claims
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims import EXCLUSIVE, Request
from lineclear.core.resources import parse_resource
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


def test_eight_processes_at_once_stay_near_one_round_trip(url: str) -> None:
    found = run_claimers(url, processes=8, count=25)
    assert sum(answer["trips"] for answer in found) <= 1.5 * 8 * 25
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
    assert store.round_trips - before == 10
    # Nothing that we count as one can have been quicker than the way there and back.
    assert took_s >= 10 * 2 * DELAY_S


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
    # Not for the bell either, which rang ten times: the quickest took the way there and back once, not twice.
    assert min(took_s) < 2 * 2 * DELAY_S
