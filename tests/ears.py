"""How a process waits for others' commits, watched or slowed down by a test."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from lineclear.app import waiting_in_line

if TYPE_CHECKING:
    from lineclear.app.ports import Listener, Store

    Wait = Callable[[Listener, float], bool]


class WatchedListener:
    """A listener whose waits go through the test's own function."""

    def __init__(self, listener: Listener, wait: Wait) -> None:
        self._listener, self._wait = listener, wait

    def __enter__(self) -> WatchedListener:
        self._listener.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._listener.__exit__(*exc)

    def wait(self, timeout_s: float, /) -> bool:
        return self._wait(self._listener, timeout_s)


def watch_waits(store: Store, wait: Wait) -> None:
    """From now on every wait of this store's listeners is a call of `wait`."""
    listen = store.listen
    store.listen = lambda: WatchedListener(listen(), wait)  # type: ignore[method-assign]


def poll_every(poll_s: float) -> None:
    """How often this process looks for itself when no bell has rung."""
    waiting_in_line.POLL_S = poll_s
    postgres = sys.modules.get("lineclear.store.postgres.listening")
    if postgres is not None:
        postgres.POLL_S = poll_s  # type: ignore[attr-defined]  # a module is known only by its name here
