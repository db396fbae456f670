"""One prepared repository, and as many equal copies of it as a test wants to ruin."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path
from typing import Any

from lineclear.core.log.tables import ALL, LOG, OPERATION
from lineclear.host.bell import PipeBell, PipeListener
from tests.crash.commands import OP, Command, prepare
from tests.engines import Place
from tests.verbs import Desk

Entry = tuple[int | str, ...]


class Ground:
    """Where copies of the prepared repository come from; `log` is what each of them begins with."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._numbers = itertools.count(1)
        self._last: Place | None = None
        self._ear: PipeListener | None = None
        desk = Desk(place.open(), place.liveness())
        prepare(desk)
        desk.store.close()
        with Inspector(place) as inspector:
            self.log = inspector.log()
        (self.proposal,) = (int(entry[0]) for entry in self.log if entry[3] == "ProposalMade")

    def copy(self) -> Place:
        """A new one; the one before it is thrown away."""
        self.drop()
        self._last = self._copy(next(self._numbers))
        return self._last

    def copy_alone(self) -> Place:
        """A copy that shares nothing with others: on PostgreSQL a schema of its own."""
        if self.place.engine == "sqlite":
            return self.copy()
        url, _, repo = self.place.spec.partition("#")
        schema = f"alone_{next(self._numbers)}"
        place = Place(f"{url}&options=-csearch_path%3D{schema}#{repo}", self.place.directory)
        new_schema(url, schema)
        place.create()
        _copy_rows(url, f"public.{repo}", f"{schema}.{repo}")
        return place

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
            self._ear = PipeBell(str(directory / "bells")).listen()
            return Place(f"sqlite:{directory}", str(directory))
        url, _, repo = self.place.spec.partition("#")
        _copy_rows(url, f"public.{repo}", f"public.{repo}-{number}")
        return Place(f"{url}#{repo}-{number}", self.place.directory)


def _copy_rows(url: str, source: str, target: str) -> None:
    """Both are SCHEMA.REPO; a repo that is there already becomes equal to the source."""
    import psycopg

    (from_schema, _, from_repo), (to_schema, _, to_repo) = source.partition("."), target.partition(".")
    tables = {"repo": ("head", "created_ns"), **{table.name: table.columns for table in ALL}}
    with psycopg.connect(url) as connection:
        connection.execute(f'DELETE FROM "{to_schema}"."repo" WHERE "repo" = %s'.encode(), (to_repo,))
        for name, columns in tables.items():
            listed = ", ".join(f'"{column}"' for column in columns)
            connection.execute(
                f'INSERT INTO "{to_schema}"."{name}" ("repo", {listed}) SELECT %s, {listed}'
                f' FROM "{from_schema}"."{name}" WHERE "repo" = %s'.encode(),
                (to_repo, from_repo),
            )


def new_schema(url: str, name: str) -> None:
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())


class Inspector:
    """Opens what a crash has left, and looks at it."""

    def __init__(self, place: Place) -> None:
        self._desk = Desk(place.open(), place.liveness())

    def __enter__(self) -> Inspector:
        return self

    def __exit__(self, *exc: object) -> None:
        self._desk.store.close()

    def log(self) -> list[Entry]:
        """Every entry; an audit of the log and the tables, and the engine's own check, must find nothing."""
        found = self._desk.audit()
        assert (found["findings"], found["missed"], found["damage"]) == ([], 0, [])
        return self._desk.store.read(lambda view: [LOG.values(entry) for entry in view.scan(LOG, "key")])

    def has_operation(self) -> bool:
        """Is there a stored answer for a repeat?"""
        return self._desk.store.read(lambda view: view.get(OPERATION, (OP,))) is not None

    def repeat(self, command: Command) -> dict[str, Any]:
        """The same command again, as a caller does that never heard the answer."""
        verb, arguments, options = command
        said = self._desk.do(verb, *arguments, **options)
        assert "answer" in said, said
        answer: dict[str, Any] = said["answer"]
        return answer


def kinds(log: list[Entry]) -> list[str]:
    return [str(entry[3]) for entry in log]
