"""One repository on either engine, named by a short text, so that any process can open it.

`sqlite:/directory` or `postgresql://...#repo-id`. What a host keeps beside its store (bonds, bells) lies
in a directory of its own, which processes that work together share.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lineclear.host.bonds import BondLiveness, Bonds
from lineclear.host.clock import HostClock
from lineclear.host.host_names import host_name
from lineclear.wiring.repo import open_sqlite

if TYPE_CHECKING:
    import pytest

    from lineclear.app.ports import Store

ENGINES = ("sqlite", "postgres")


@dataclass(frozen=True)
class Place:
    """Where a store is (`spec`), and where its host keeps locks and pipes (`directory`)."""

    spec: str
    directory: str

    @property
    def engine(self) -> str:
        return self.spec.partition(":")[0].replace("postgresql", "postgres")

    @property
    def bonds(self) -> Bonds:
        return Bonds(os.path.join(self.directory, "bonds"))

    def create(self) -> bool:
        """Make the store, or bring it to the newest schema; True if there was none."""
        if self.engine == "sqlite":
            from lineclear.store.sqlite.engine import create

            return create(self.spec.removeprefix("sqlite:"), HostClock().now().wall_ns)
        from lineclear.store.postgres.engine import create as create_in_postgres

        url, _, repo_id = self.spec.partition("#")
        return create_in_postgres(url, repo_id)

    def open(self) -> Store:
        if self.engine == "sqlite":
            return open_sqlite(self.spec.removeprefix("sqlite:"))
        from lineclear.store.postgres.engine import PostgresStore

        url, _, repo_id = self.spec.partition("#")
        return PostgresStore(url, repo_id)

    def liveness(self) -> BondLiveness:
        """Who is dead is dead at once: the grace for restarting clients is not what is tested here."""
        return BondLiveness(self.bonds, HostClock(), host_name(), 0)


def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty store on the engine that the test was parametrised with."""
    if request.param == "sqlite":
        return new_sqlite(tmp_path)
    server = request.getfixturevalue("postgres_server")
    database = server.create_database()
    request.addfinalizer(lambda: server.drop_database(database))
    place = Place(f"{server.url(database)}#repo", str(tmp_path))
    place.create()
    return place


def new_sqlite(path: Path) -> Place:
    directory = path / "state"
    place = Place(f"sqlite:{directory}", str(directory))
    place.create()
    return place
