"""Idle connections that a long-lived process keeps, since connecting costs several round trips.

Only one store uses a connection at a time. No connection crosses a fork.
"""

from __future__ import annotations

import os
import threading
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.store.postgres.session import PostgresSession

    Key = tuple[str, str, str, float]

MOST_KEPT, KEPT_S = 8, 300.0


class ConnectionPool:
    def __init__(self) -> None:
        self._pid, self._lock = os.getpid(), threading.Lock()
        self._kept: list[tuple[float, Key, PostgresSession]] = []

    def take(self, key: Key) -> PostgresSession | None:
        """The connection that was used last and still seems to work; None if there is none."""
        if self._pid != os.getpid():
            return None
        with self._lock:
            self._drop(lambda entry: monotonic() - entry[0] > KEPT_S)
            for place in range(len(self._kept) - 1, -1, -1):
                if self._kept[place][1] == key:
                    session = self._kept.pop(place)[2]
                    if session.is_usable():
                        return session
                    session.wire.close()
        return None

    def put(self, key: Key, session: PostgresSession) -> bool:
        """Keep the connection; False if it cannot be used again."""
        if self._pid != os.getpid() or session.wire.is_in_transaction or not session.is_usable():
            return False
        with self._lock:
            if len(self._kept) >= MOST_KEPT:
                self._kept.pop(0)[2].wire.close()
            self._kept.append((monotonic(), key, session))
        return True

    def clear(self, key: Key) -> None:
        """Close the idle connections: one to this server was lost, so the others probably are, too."""
        if self._pid == os.getpid():
            with self._lock:
                self._drop(lambda entry: entry[1] == key)

    def _drop(self, is_over: Callable[[tuple[float, Key, PostgresSession]], bool]) -> None:
        for entry in self._kept:
            if is_over(entry):
                entry[2].wire.close()
        self._kept = [entry for entry in self._kept if not is_over(entry)]
