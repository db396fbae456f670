"""Stores to break: empty ones, and copies of a prepared one, on every engine that processes share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.grounds import Ground
from tests.crash.jobs import Workshop, working
from tests.engines import ENGINES, Place, new_place, new_sqlite
from tests.postgres_server import Server

EVERY_ENGINE = [
    pytest.param(name, marks=pytest.mark.postgres if name == "postgres" else ()) for name in ENGINES
]


@pytest.fixture(params=EVERY_ENGINE)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty store of its own."""
    return new_place(request, tmp_path)


@pytest.fixture(scope="module", params=EVERY_ENGINE)
def ground(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """A prepared store that nobody changes, to take copies from."""
    ground = Ground(new_place(request, tmp_path_factory.mktemp("ground")))
    yield ground
    ground.drop()


@pytest.fixture(scope="module")
def sqlite_ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """The same for what only SQLite can suffer."""
    path = tmp_path_factory.mktemp("sqlite")
    ground = Ground(new_sqlite(path))
    yield ground
    ground.drop()


@pytest.fixture(scope="module")
def sqlite_workshop() -> Iterator[Workshop]:
    with working("sqlite") as workshop:
        yield workshop


@pytest.fixture(scope="module")
def postgres_ground(postgres_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """The same for what only a connection can suffer."""
    database = postgres_server.create_database()
    place = Place(f"{postgres_server.url(database)}#repo", str(tmp_path_factory.mktemp("postgres")))
    place.create()
    yield Ground(place)
    postgres_server.drop_database(database)


@pytest.fixture(scope="module")
def postgres_workshop() -> Iterator[Workshop]:
    with working("postgres") as workshop:
        yield workshop


@pytest.fixture(scope="module")
def workshop(ground: Ground) -> Iterator[Workshop]:
    with working(ground.place.engine) as workshop:
        yield workshop
