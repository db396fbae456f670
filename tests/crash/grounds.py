"""One prepared repository, and as many equal copies of it as a test wants to ruin."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path
from typing import Any

from lineclear.core.tables import ALL, LOG
from lineclear.process.bell import Bell, Listener
from tests.crash.commands import prepare
from tests.engines import Place
from tests.verbs import Desk

Entry = tuple[int | str, ...]


class Ground:
    """Where copies of the prepared repository come from; `log` is what each of them begins with."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._numbers = itertools.count(1)
        self._last: Place | None = None
        self._ear: Listener | None = None
        desk = Desk(place.open(), place.liveness())
        prepare(desk)
        desk.store.close()
        self.log = log_of(place)
        (self.proposal,) = (int(entry[0]) for entry in self.log if entry[3] == "ProposalMade")

    def copy(self) -> Place:
        """A new one; the one before it is thrown away."""
        self.drop()
        self._last = self._copy(next(self._numbers))
        return self._last

    def drop(self) -> None:
        if self._ear is not None:
            self._ear.close()
        if self._last is not None and self._last.engine == "sqlite":
            shutil.rmtree(self._last.directory)
        self._last = self._ear = None

    def _copy(self, number: int) -> Place:
        if self.place.engine == "sqlite":
            directory = Path(self.place.directory).with_name(f"copy-{number}")
            directory.mkdir()
            for name in ("state.db", "state.db-wal"):
                shutil.copy(os.path.join(self.place.directory, name), directory)
            # Somebody waits: to ring for it is a step too.
            self._ear = Bell(str(directory / "bells")).listen()
            return Place(f"sqlite:{directory}", str(directory))
        url, _, repo = self.place.spec.partition("#")
        _copy_rows(url, repo, f"{repo}-{number}")
        return Place(f"{url}#{repo}-{number}", self.place.directory)


def _copy_rows(url: str, source: str, target: str) -> None:
    import psycopg

    tables = {"repo": ("head", "created_ns"), **{table.name: table.columns for table in ALL}}
    with psycopg.connect(url) as connection:
        for name, columns in tables.items():
            listed = ", ".join(f'"{column}"' for column in columns)
            connection.execute(
                f'INSERT INTO "{name}" ("repo", {listed}) SELECT %s, {listed} FROM "{name}" WHERE "repo" = %s'.encode(),
                (target, source),
            )


def log_of(place: Place) -> list[Entry]:
    """Every entry of the log, as plain tuples; an audit of it, and of the tables, must find nothing."""
    store = place.open()
    try:
        found: dict[str, Any] = Desk(store, place.liveness()).audit()
        assert (found["findings"], found["missed"], found["damage"]) == ([], 0, [])
        return store.read(lambda view: [LOG.values(entry) for entry in view.scan(LOG, "key")])
    finally:
        store.close()
