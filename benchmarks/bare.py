"""The floor of contention: the rows that a use case writes, written by plain statements and no rule.

The rows are not invented here. One run of the real use cases is recorded, statement by statement, and
played again under the same gate (`flock`, then BEGIN IMMEDIATE) with the same durability.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from dataclasses import dataclass

import apsw

from lineclear.store.sqlite.engine import CHECKPOINT_PAGES, DATABASE

Value = int | str | float | bytes | None
WRITES = ("INSERT", "UPDATE", "DELETE")
NEW_POSITION, NEW_TASK, NEW_SUBJECT, NEW_TITLE = "position", "task", "subject", "title"


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL, its values, and which of them are new in each round: (place, kind, offset)."""

    sql: str
    values: list[Value]
    fresh: list[tuple[int, str, int]]


@dataclass(frozen=True, slots=True)
class Marks:
    """What in a recording stands for something that differs each time."""

    name: str
    head: int
    task: int
    title: str


class Recorder:
    """Notes every writing statement of the connections that are opened while it is active."""

    def __init__(self) -> None:
        self.written: list[tuple[str, list[Value]]] = []

    def __enter__(self) -> Recorder:
        apsw.connection_hooks.append(self._attach)
        return self

    def __exit__(self, *_exc: object) -> None:
        apsw.connection_hooks.remove(self._attach)

    def take(self) -> list[tuple[str, list[Value]]]:
        taken, self.written = self.written, []
        return taken

    def _attach(self, connection: apsw.Connection) -> None:
        connection.exec_trace = self._note

    def _note(self, _cursor: object, sql: str, values: object) -> bool:
        # A trigger's own statements are announced with a comment; playing the outer one fires it again.
        if sql.startswith(WRITES) and isinstance(values, tuple | list):
            self.written.append((sql, list(values)))
        return True


def as_statements(written: list[tuple[str, list[Value]]], marks: Marks) -> list[Statement]:
    return [Statement(sql, values, _fresh(values, marks)) for sql, values in written]


def _fresh(values: list[Value], marks: Marks) -> list[tuple[int, str, int]]:
    found = []
    for place, value in enumerate(values):
        if isinstance(value, int) and marks.head < value <= marks.head + 10:
            found.append((place, NEW_POSITION, value - marks.head))
        elif value == marks.task:
            found.append((place, NEW_TASK, 0))
        elif value == f"T-{marks.task}":
            found.append((place, NEW_SUBJECT, 0))
        elif value == marks.title:
            found.append((place, NEW_TITLE, 0))
    return found


def renamed(steps: list[list[Statement]], before: str, after: str) -> list[list[Statement]]:
    """The same recording in another agent's name, so that each process has rows of its own."""
    return [
        [
            Statement(
                s.sql, [v.replace(before, after) if isinstance(v, str) else v for v in s.values], s.fresh
            )
            for s in step
        ]
        for step in steps
    ]


class BareStore:
    """A gate, a connection and nothing else."""

    def __init__(self, directory: str, first_task: int) -> None:
        self._gate = os.open(os.path.join(directory, "bare.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        self._db = apsw.Connection(os.path.join(directory, DATABASE), flags=apsw.SQLITE_OPEN_READWRITE)
        self._db.set_busy_timeout(2_000)
        self._db.set_wal_hook(self._note_wal)
        self._db.pragma("synchronous", 2)
        self._task = first_task
        self._pages = 0

    def play(self, statements: list[Statement], *, is_new_task: bool) -> None:
        self._task += is_new_task
        fcntl.flock(self._gate, fcntl.LOCK_EX)
        try:
            self._db.execute("BEGIN IMMEDIATE")
            head = self._db.execute('SELECT max("position") FROM "log"').get or 0
            for statement in statements:
                self._db.execute(statement.sql, self._values(statement, head))
            self._db.execute("COMMIT")
            if self._pages >= CHECKPOINT_PAGES:
                self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                self._pages = 0
        finally:
            fcntl.flock(self._gate, fcntl.LOCK_UN)

    def close(self) -> None:
        self._db.close()
        os.close(self._gate)

    def _values(self, statement: Statement, head: int) -> list[Value]:
        values = statement.values.copy()
        for place, kind, offset in statement.fresh:
            values[place] = _NEW[kind](head + offset, self._task)
        return values

    def _note_wal(self, _db: apsw.Connection, _name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK


_NEW: dict[str, Callable[[int, int], Value]] = {
    NEW_POSITION: lambda position, _task: position,
    NEW_TASK: lambda _position, task: task,
    NEW_SUBJECT: lambda _position, task: f"T-{task}",
    NEW_TITLE: lambda _position, task: f"w{task}",
}
