"""A PostgreSQL server that crashes: what was promised is there, what was not is never promised twice."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from lineclear.app import claims
from lineclear.app.log import audit
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.log.epochs import EPOCH_STEP
from lineclear.core.log.tables import LOG
from lineclear.core.words.refusals import Refusal
from lineclear.store.postgres.engine import PostgresStore, create
from tests.postgres_server import ServerMissing, running_server

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

REPO = "repo"
PATIENCE_S = 60.0


@pytest.fixture
def url() -> Iterator[str]:
    """A server of its own: to crash the one that all tests share would be unkind."""
    try:
        with running_server() as server:
            # The server's own writer would bring to the disk, a little later, what nobody waited for.
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")
                connection.execute("SELECT pg_reload_conf()")
            create(server.url(), REPO)
            yield server.url()
    except ServerMissing as missing:
        pytest.skip(str(missing))


def claim(store: PostgresStore, text: str) -> dict[str, Any]:
    request = Request("ann", "main", EXCLUSIVE, [parse_resource(text)], ttl_ms=3_600_000)
    return claims.ask(store, NobodyDies(), Caller("ann"), request)


def crash(url: str) -> None:
    """Kill one of the server's processes: it throws its memory away and recovers from the log on disk."""
    with psycopg.connect(url, autocommit=True) as connection:
        victim = connection.info.backend_pid
        os.kill(victim, signal.SIGKILL)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT pg_sleep(60)")


def reopen(url: str) -> PostgresStore:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return PostgresStore(url, REPO)
        except Refusal as refusal:
            assert refusal.code == "store.unreachable"
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_what_was_acknowledged_survives_and_positions_are_never_given_twice(url: str) -> None:
    store = PostgresStore(url, REPO)
    fences: list[int] = []
    for number in range(3):
        fences += [claim(store, f"{number}/{part}.py")["fence"] for part in range(3)]
        crash(url)
        store.close()
        store = reopen(url)
        found = {entry.position for entry in store.read(lambda view: view.scan(LOG, "key"))}
        assert set(fences) <= found
        # The server's clock goes on, so the leases do; but what others may have seen is gone.
        assert len(store.read(lambda view: claims.holders(view, parse_resource("**")))) == len(fences)
        fences.append(claim(store, f"{number}/after.py")["fence"])
        assert fences[-1] > fences[-2] + EPOCH_STEP
    assert audit(store)["findings"] == []
    store.close()


def test_a_new_connection_begins_no_epoch(url: str) -> None:
    store = PostgresStore(url, REPO)
    first = claim(store, "a.py")["fence"]
    boot = store.info()["clock"]
    store.close()
    again = PostgresStore(url, REPO)
    assert again.info()["clock"] == boot
    assert claim(again, "b.py")["fence"] == first + 1
    again.close()
