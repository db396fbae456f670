"""Keeps Ctrl-C from our children. A terminal sends it to every process in the foreground, and it would kill a
git in the middle of a snapshot or a landing. A child inherits the blocked signals of the thread that starts
it.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

FROM_TERMINAL = frozenset((signal.SIGINT, signal.SIGHUP))


def shield_thread() -> None:
    """Programs that this thread starts from now on do not get the terminal's signals; our process does."""
    signal.pthread_sigmask(signal.SIG_BLOCK, FROM_TERMINAL)


@contextmanager
def unshielded() -> Iterator[None]:
    """For other people's programs in their own sessions, which may handle these signals themselves."""
    before = signal.pthread_sigmask(signal.SIG_UNBLOCK, FROM_TERMINAL)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def starting() -> Iterator[None]:
    """Unshielded, with Ctrl-C postponed to the end of the block. So no program starts without its starter
    knowing; inside the block the starter must arrange who ends it."""
    with _postponed(signal.SIGINT), unshielded():
        yield


@contextmanager
def _postponed(number: signal.Signals) -> Iterator[None]:
    handler = signal.getsignal(number)
    # Only the main thread is interrupted. An ignored signal must stay ignored in the child.
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
