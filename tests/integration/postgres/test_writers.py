"""One writer at a time: what is decided, is decided on what the tables say now, by the server's clock."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import psycopg
import pytest

from lineclear.app.log import audit
from lineclear.core.log.tables import LOG, VALUE, Value
from lineclear.core.words.refusals import Refusal
from lineclear.store.postgres import session as session_module
from lineclear.store.postgres.engine import PostgresStore, create
from tests.integration.postgres.desk import ANN, REPO, claim, execute, release, say
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


def test_what_others_wrote_since_is_what_counts(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url, REPO)
    put_value(store, 1)
    put_value(other, 7)

    def double(tx: Tx) -> int:
        found = tx.get(VALUE, ("k",))
        assert found is not None
        tx.put(VALUE, found.changed(version=found.version * 2))
        return found.version * 2

    assert store.transact(ANN, double) == 14
    other.close()


def test_work_runs_once_and_nobody_writes_meanwhile(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url, REPO)
    put_value(store, 0)
    events: list[str] = []

    def write() -> None:
        put_value(other, 5)
        events.append("other")

    thread = threading.Thread(target=write)

    def work(tx: Tx) -> None:
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        found = tx.get(VALUE, ("k",))
        assert found is not None
        assert found.version == 0
        tx.put(VALUE, found.changed(version=1))
        events.append("work")

    store.transact(ANN, work)
    thread.join()
    assert events == ["work", "other"]
    found = store.read(lambda view: view.get(VALUE, ("k",)))
    assert found is not None
    assert found.version == 5
    other.close()


def test_who_is_stopped_while_it_holds_the_lock_keeps_the_others_waiting_only_so_long(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PostgresStore(url, REPO)
    claim(store, "warm.py")
    monkeypatch.setattr(session_module, "_LIMIT_HOLDER", session_module._LIMIT_HOLDER.replace("10s", "200ms"))
    other = PostgresStore(url, REPO)

    def work(tx: Tx) -> None:
        tx.append(say("never"))
        assert claim(other, "a.py")["fence"] == 4  # waits until the server has thrown us out

    with refused("store.failed"):
        store.transact(ANN, work)
    assert [entry.kind for entry in store.read(lambda view: view.scan(LOG, "key"))][-1] == "ClaimGranted"
    other.close()
    store.close()


def test_a_refusal_stands_only_as_long_as_its_reason(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url, REPO)
    claim(other, "a.py", "bob")
    with refused("claim.held"):
        claim(store, "a.py")
    release(other, "a.py", "bob")
    assert claim(store, "a.py")["claims"][0]["agent"] == "ann"
    other.close()


def test_the_time_of_a_write_is_the_servers(store: PostgresStore) -> None:
    before = execute(store._url, "SELECT (extract(epoch FROM clock_timestamp()) * 1e9)::bigint")[0][0]
    now = store.transact(ANN, lambda tx: (tx.append(say("x")), tx.now)[1])
    after = execute(store._url, "SELECT (extract(epoch FROM clock_timestamp()) * 1e9)::bigint")[0][0]
    assert before <= now.tick_ns <= after
    assert re.fullmatch(r"postgres/1\.[0-9a-f]{8}", now.boot)


def test_the_time_is_read_after_the_wait_for_the_lock(store: PostgresStore, url: str) -> None:
    claim(store, "warm.py")
    taken: list[int] = []
    with psycopg.connect(url) as blocker:
        blocker.execute("SELECT * FROM lineclear_begin('repo', NULL, true)")
        thread = threading.Thread(target=lambda: taken.append(store.transact(ANN, lambda tx: tx.now.tick_ns)))
        thread.start()
        thread.join(0.3)
        assert thread.is_alive()
        released = execute(url, "SELECT (extract(epoch FROM clock_timestamp()) * 1e9)::bigint")[0][0]
    thread.join()
    assert taken[0] >= released


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
        # A reader waits for nobody.
        assert len(store.read(lambda view: view.scan(LOG, "key"))) == 3
    claim(store, "a.py")
    store.close()
