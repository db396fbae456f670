"""Turns Ctrl-C and similar signals into a flag, for work that can end cleanly by itself."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from lineclear.host.interrupt_shield import FROM_TERMINAL, unshielded

if TYPE_CHECKING:
    from types import FrameType
    from typing import Self

STOP_SIGNALS = (*sorted(FROM_TERMINAL), signal.SIGTERM)


class Stopping:
    """A context for the main thread. Programs that are started inside do not get the terminal's signals,
    unless started `unshielded`: a git hit by Ctrl-C would leave things half done."""

    def __init__(self) -> None:
        self._is_asked = False

    def __enter__(self) -> Self:
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, FROM_TERMINAL)
        self._handlers = {number: signal.signal(number, self._note) for number in STOP_SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        self.is_asked()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def is_asked(self) -> bool:
        """Has a stop signal come, now or earlier?"""
        if signal.sigpending() & FROM_TERMINAL:
            with unshielded():
                pass  # delivers it. Waiting for it could hang: another thread may have taken it meanwhile.
        return self._is_asked

    def _note(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._is_asked = True
