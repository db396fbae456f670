"""Wrong guesses about facts and time are corrected, and nobody hears of what was decided on them."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import psycopg
import pytest

from lineclear.app.log import audit
from lineclear.core.refusals import Refusal
from lineclear.core.tables import LOG, VALUE, Value
from lineclear.store.postgres import session as session_module
from lineclear.store.postgres.engine import GUESSES, PostgresStore, create
from tests.integration.postgres.desk import ANN, REPO, claim, execute, release, say, session_of, trips
from tests.world import refused

if TYPE_CHECKING:
    from lineclear.app.ports import Tx

pytestmark = pytest.mark.postgres


def test_one_of_eight_wins(url: str) -> None:
    stores = [PostgresStore(url, REPO) for _ in range(8)]
    for round_number in range(5):
        won: list[str] = []
        barrier = threading.Barrier(8)

        def race(number: int, text: str, won: list[str] = won, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            try:
                claim(stores[number], text, f"agent-{number}")
            except Refusal as refusal:
                assert refusal.code == "claim.held"
            else:
                won.append(f"agent-{number}")

        threads = [threading.Thread(target=race, args=(n, f"prize-{round_number}.py")) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == 1
    assert audit(stores[0])["findings"] == []
    for store in stores:
        store.close()


def put_value(store: PostgresStore, version: int) -> None:
    store.transact(ANN, lambda tx: tx.put(VALUE, Value("k", version, "1", 0, "ann", 1)))


def test_a_wrong_guess_is_corrected_in_one_more_round_trip(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url, REPO)
    put_value(store, 1)
    put_value(other, 7)

    def double(tx: Tx) -> int:
        found = tx.get(VALUE, ("k",))
        assert found is not None
        tx.put(VALUE, found.changed(version=found.version * 2))
        return found.version * 2

    results: list[int] = []
    assert trips(store, lambda: results.append(store.transact(ANN, double))) == 2
    assert results == [14]
    other.close()


def test_guesses_that_are_always_wrong_end_under_the_lock(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url, REPO)
    put_value(store, 0)
    put_value(other, 0)
    runs = 0

    def work(tx: Tx) -> int:
        nonlocal runs
        runs += 1
        found = tx.get(VALUE, ("k",))
        if runs <= GUESSES:  # somebody is faster every time, as long as nobody holds the lock
            put_value(other, 100 + runs)
        assert found is not None
        tx.put(VALUE, found.changed(version=found.version + 1_000))
        return found.version

    assert store.transact(ANN, work) == 100 + GUESSES
    assert runs == GUESSES + 1
    found = other.read(lambda view: view.get(VALUE, ("k",)))
    assert found is not None
    assert found.version == 1_100 + GUESSES
    other.close()


def test_a_refusal_on_wrong_guesses_is_not_heard(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url, REPO)
    claim(other, "a.py", "bob")
    with refused("claim.held"):
        claim(store, "a.py")
    release(other, "a.py", "bob")
    # This store still believes that bob holds it, and would refuse.
    assert claim(store, "a.py")["claims"][0]["agent"] == "ann"
    other.close()


@pytest.mark.parametrize("wrong_s", [-10, 10])
def test_a_wrong_idea_of_the_time_is_corrected(store: PostgresStore, wrong_s: int) -> None:
    claim(store, "warm.py")
    session_of(store)._server_ns += wrong_s * 1_000_000_000
    assert trips(store, lambda: claim(store, "a.py")) == 2
    server_ns = execute(store._url, "SELECT (extract(epoch FROM clock_timestamp()) * 1e9)::bigint")[0][0]
    entry = store.read(lambda view: view.scan(LOG, "key", reverse=True, limit=1))[0]
    assert 0 <= server_ns - entry.at_ns < 2_000_000_000


def test_the_time_of_a_write_is_the_servers_or_a_little_less(store: PostgresStore) -> None:
    before = execute(store._url, "SELECT (extract(epoch FROM clock_timestamp()) * 1e9)::bigint")[0][0]
    now = store.transact(ANN, lambda tx: (tx.append(say("x")), tx.now)[1])
    after = execute(store._url, "SELECT (extract(epoch FROM clock_timestamp()) * 1e9)::bigint")[0][0]
    assert before - 2_000_000_000 <= now.tick_ns <= after
    assert re.fullmatch(r"postgres/1\.[0-9a-f]{8}", now.boot)


def test_nobody_is_kept_waiting_by_another_repository(store: PostgresStore, url: str) -> None:
    create(url, "other")
    other = PostgresStore(url, "other")
    claim(other, "warm.py")
    with psycopg.connect(url) as blocker:
        blocker.execute("SELECT * FROM lineclear_begin('repo', NULL, true)")
        assert claim(other, "a.py")["fence"] == 4
    assert store.read(lambda view: view.scan(LOG, "key")) == []
    other.close()


def test_whoever_holds_the_lock_too_long_is_named(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "_SET", session_module._SET.replace("'30s'", "'50ms'"))
    store = PostgresStore(url, REPO)
    claim(store, "warm.py")
    with psycopg.connect(url) as blocker:
        blocker.execute("SELECT * FROM lineclear_begin('repo', NULL, true)")
        with refused("store.busy"):
            claim(store, "a.py")
        # A reader, and a refusal, wait for nobody.
        assert len(store.read(lambda view: view.scan(LOG, "key"))) == 3
    claim(store, "a.py")
    store.close()
