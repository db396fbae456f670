"""The three engines behind one face: an empty repository that can be opened as often as processes would."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineclear.core.instants import Instant
from lineclear.core.log.tables import LOG
from lineclear.host.bell import PipeBell
from lineclear.store.memory import MemoryStore

if TYPE_CHECKING:
    from lineclear.app.ports import Store
    from lineclear.core.log.tables import LogEntry, Table

_numbers = itertools.count(1)


class Engine:
    """One empty repository. Every `open` gives another store on it, as another process would have."""

    name = ""
    has_processes = True

    def __init__(self) -> None:
        self._opened: list[Store] = []

    def open(self, clock: Callable[[], Instant]) -> Store:
        store = self._open(clock)
        self._opened.append(store)
        return store

    def close(self) -> None:
        for store in self._opened:
            store.close()

    def _open(self, clock: Callable[[], Instant]) -> Store:
        raise NotImplementedError


class MemoryEngine(Engine):
    """Nothing outlives the one process, so all stores are one."""

    name = "memory"
    has_processes = False
    _only: MemoryStore | None = None

    def _open(self, clock: Callable[[], Instant]) -> Store:
        if self._only is None:
            self._only = MemoryStore(clock)
        return self._only


class SqliteEngine(Engine):
    name = "sqlite"

    def __init__(self, directory: Path) -> None:
        super().__init__()
        from lineclear.store.sqlite.engine import create

        self._directory = str(directory)
        create(self._directory, 0)

    def _open(self, clock: Callable[[], Instant]) -> Store:
        from lineclear.store.sqlite.engine import SqliteStore

        return SqliteStore(self._directory, clock, PipeBell(f"{self._directory}/bells"))


class PostgresEngine(Engine):
    name = "postgres"

    def __init__(self, url: str) -> None:
        super().__init__()
        from lineclear.store.postgres.engine import create

        self.url, self.repo = url, f"repo-{next(_numbers)}"
        create(url, self.repo)

    def _open(self, clock: Callable[[], Instant]) -> Store:
        from lineclear.store.postgres.engine import PostgresStore

        return PostgresStore(self.url, self.repo, clock=clock)


def log_of(store: Store) -> list[LogEntry]:
    return store.read(lambda view: view.scan(LOG, "key"))


def rows_of(store: Store, table: Table[Any]) -> list[dict[str, int | str]]:
    return [row.as_dict() for row in store.read(lambda view: view.scan(table, "key"))]
