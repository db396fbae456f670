"""What the tests of PostgreSQL have in common: a few commands, and a look behind the store."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from lineclear.app import claims
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.log.events import Draft
from lineclear.store.postgres.engine import PostgresStore
from lineclear.store.postgres.session import PostgresSession

ROOT = Path(__file__).parents[3]
# For processes that tests start.
ENVIRONMENT = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
REPO = "repo"
ANN = Caller("ann")
HOUR_MS = 3_600_000


def execute(url: str, sql: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql.encode())
        return cursor.fetchall() if cursor.description else []


def claim(store: PostgresStore, text: str, name: str = "ann", op: str = "") -> dict[str, Any]:
    request = Request(name, "main", EXCLUSIVE, [parse_resource(text)], ttl_ms=HOUR_MS)
    return claims.ask(store, NobodyDies(), Caller(name, op=op), request)


def release(store: PostgresStore, text: str, name: str = "ann") -> dict[str, Any]:
    return claims.release(store, Caller(name), [parse_resource(text)])


def trips(store: PostgresStore, act: Callable[[], Any]) -> int:
    before = store.round_trips
    act()
    return store.round_trips - before


def say(text: str) -> Draft:
    return Draft("MessageSent", "all", audience="all", urgent=0, text=text)


def settle(store: PostgresStore) -> None:
    """Wait for answers that nobody waits for, such as the bell's."""
    session_of(store).wire.settle()


def session_of(store: PostgresStore) -> PostgresSession:
    assert store._session is not None
    return store._session
