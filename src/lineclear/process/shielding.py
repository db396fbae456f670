"""Ctrl-C is for the supervisor: a terminal sends it to everybody in the foreground, and a git that it hits
dies in the middle of a snapshot or a landing. A child inherits which signals are blocked where it is started.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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
