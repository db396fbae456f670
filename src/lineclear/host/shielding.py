"""Ctrl-C is for the supervisor: a terminal sends it to everybody in the foreground, and a git that it hits
dies in the middle of a snapshot or a landing. A child inherits which signals are blocked where it is started.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

FROM_TERMINAL = frozenset((signal.SIGINT, signal.SIGHUP))


def shield_thread() -> None:
    """What this thread starts from now on does not hear the terminal's signals; the process still does."""
    signal.pthread_sigmask(signal.SIG_BLOCK, FROM_TERMINAL)


@contextmanager
def unshielded() -> Iterator[None]:
    """For programs of other people, in sessions of their own: they may have a use for these signals."""
    before = signal.pthread_sigmask(signal.SIG_UNBLOCK, FROM_TERMINAL)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def starting() -> Iterator[None]:
    """Unshielded, and Ctrl-C waits for the end of it: no program is started without its starter's knowing.
    Who is to end it must be settled inside."""
    with _postponed(signal.SIGINT), unshielded():
        yield


@contextmanager
def _postponed(number: signal.Signals) -> Iterator[None]:
    import threading

    handler = signal.getsignal(number)
    # Only the main thread is interrupted; and what is ignored must be so for the child.
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[FrameType | None] = []
    signal.signal(number, lambda _number, frame: came.append(frame))
    try:
        yield
    finally:
        signal.signal(number, handler)
        if came:
            handler(number, came[0])
