"""The opened stores that a server keeps between two hooks."""

from __future__ import annotations

import os
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from lineclear.wiring.repo import open_store, state_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.app.ports import Store
    from lineclear.git.layout import Layout
    from lineclear.settings import Settings

    Key = tuple[str, str, str, int, int]

# Nothing that was opened is used for longer than this: what we cannot see may have changed.
FRESH_S = 5.0


class StorePool:
    """Each store is one caller's alone while it is borrowed. None is used whose file was replaced."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._free: dict[Key, list[tuple[float, Store]]] = {}
        self._is_closed = False

    @contextmanager
    def borrow(self, layout: Layout, settings: Settings) -> Iterator[Store]:
        """A store to work with. After an error, wherever it came from, nobody uses it again."""
        # Looked at before it is opened: one that is replaced meanwhile is found to be another.
        key = _key(layout, settings)
        found, old = self._take(key)
        for store in old:
            store.close()
        opened_at, store = found or (monotonic(), open_store(layout, settings, is_hasty=True))
        try:
            yield store
        except BaseException:
            store.close()
            raise
        with self._lock:
            if not self._is_closed:
                self._free.setdefault(key, []).append((opened_at, store))
                return
        store.close()

    def close(self) -> None:
        with self._lock:
            self._is_closed, free, self._free = True, self._free, {}
        for stores in free.values():
            for _, store in stores:
                store.close()

    def _take(self, key: Key) -> tuple[tuple[float, Store] | None, list[Store]]:
        """A fresh one of this key, and all that are too old, of whatever key."""
        oldest = monotonic() - FRESH_S
        with self._lock:
            old = [store for kept in self._free.values() for at, store in kept if at < oldest]
            fresh = {name: [one for one in kept if one[0] >= oldest] for name, kept in self._free.items()}
            self._free = {name: kept for name, kept in fresh.items() if kept}
            kept = self._free.get(key, [])
            return (kept.pop() if kept else None), old


def _key(layout: Layout, settings: Settings) -> Key:
    directory = state_directory(layout)
    if settings.store_url:
        return directory, settings.store_url, settings.repo_id, 0, 0
    try:
        found = os.stat(f"{directory}/state.db")
    except OSError:
        return directory, "", "", 0, 0  # opening it says what is wrong
    return directory, "", "", found.st_dev, found.st_ino
