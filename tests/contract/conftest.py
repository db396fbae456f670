"""The three engines under one suite: each test of this folder runs on memory, SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.contract.three_engines import Engine, MemoryEngine, PostgresEngine, SqliteEngine
from tests.postgres_server import Server
from tests.world import FakeClock

if TYPE_CHECKING:
    from lineclear.app.ports import Store


@pytest.fixture(scope="session")
def shared_database(postgres_server: Server) -> Iterator[str]:
    """One database for all tests here: repositories in it must not disturb each other."""
    name = postgres_server.create_database()
    yield postgres_server.url(name)
    postgres_server.drop_database(name)


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    made: Engine
    if request.param == "memory":
        made = MemoryEngine()
    elif request.param == "sqlite":
        made = SqliteEngine(tmp_path / "state")
    else:
        made = PostgresEngine(request.getfixturevalue("shared_database"))
    yield made
    made.close()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(engine: Engine, clock: FakeClock) -> Store:
    return engine.open(clock)
