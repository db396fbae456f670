"""Wake-ups by NOTIFY; since one may get lost, a waiter also polls the head of the log."""

from __future__ import annotations

from hashlib import sha256
from time import monotonic, sleep
from typing import TYPE_CHECKING

from lineclear.store.postgres.failures import FAILURES
from lineclear.store.postgres.wire import Wire

if TYPE_CHECKING:
    from lineclear.store.postgres.wire import Command

# Whoever waits with us also looks for itself; this is for a ring that was lost.
POLL_S = 5.0
# A dead connection must not delay the waiter.
_PATIENCE_S, _AGAIN_S = 2.0, 0.25
MOST_RINGS_PER_S = 20
_RINGS_AT_ONCE = 10
_HEAD = 'SELECT "head" FROM "repo" WHERE "repo" = $1'


def channel_of(repo: str) -> str:
    return f"lineclear_{sha256(repo.encode()).hexdigest()[:16]}"


def ring(repo: str) -> Command:
    return "SELECT pg_notify($1, '')", (channel_of(repo),)


class RingLimit:
    """Allows a few rings at once, and after that a fixed number per second."""

    def __init__(self) -> None:
        self._left, self._since = float(_RINGS_AT_ONCE), monotonic()

    def take(self) -> bool:
        now = monotonic()
        self._left = min(_RINGS_AT_ONCE, self._left + (now - self._since) * MOST_RINGS_PER_S)
        self._since = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class PostgresListener:
    """Listens on its own connection. A lost ring or connection costs time, never correctness."""

    def __init__(self, url: str, repo: str) -> None:
        self._url, self._repo = url, repo
        self._wire: Wire | None = None
        self._head, self._look_at_s = 0, 0.0
        self._open()

    def __enter__(self) -> PostgresListener:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def wait(self, timeout_s: float, /) -> bool:
        """Sleep until a commit was announced or the head has moved; False if the time is up before that."""
        deadline = monotonic() + timeout_s
        while True:
            left_s = max(0.0, deadline - monotonic())
            try:
                if self._listen(min(left_s, POLL_S)):
                    return True
            except FAILURES:
                self.__exit__()
                sleep(min(left_s, _AGAIN_S))
                return False
            if monotonic() >= deadline:
                return False

    def _listen(self, timeout_s: float) -> bool:
        if self._wire is None:
            self._open()
            return True  # we may have missed something in between
        if self._wire.wait_for_notification(timeout_s):
            return True
        return monotonic() >= self._look_at_s and self._has_moved(self._wire)

    def _open(self) -> None:
        self._wire = Wire(self._url, _PATIENCE_S)
        self._wire.ask((f'LISTEN "{channel_of(self._repo)}"', ()))
        self._has_moved(self._wire)

    def _has_moved(self, wire: Wire) -> bool:
        before, self._look_at_s = self._head, monotonic() + POLL_S
        self._head = int(wire.ask((_HEAD, (self._repo,)))[0].get_value(0, 0) or b"0")
        return self._head != before
