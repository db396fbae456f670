"""Ctrl-C and its like are noticed instead of obeyed, by who can come to a good end by itself."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from lineclear.host.shielding import FROM_TERMINAL, unshielded

if TYPE_CHECKING:
    from types import FrameType
    from typing import Self

STOP_SIGNALS = (*sorted(FROM_TERMINAL), signal.SIGTERM)


class Stopping:
    """A context of the main thread. What is started inside does not hear what a terminal sends to everybody,
    unless it is started `unshielded`: a git that Ctrl-C hits leaves things half done."""

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
        """Has somebody said stop? What was said is used up, and stays said."""
        if signal.sigpending() & FROM_TERMINAL:
            with unshielded():
                pass  # waiting for it would be for ever where another thread has taken it meanwhile
        return self._is_asked

    def _note(self, number: int, frame: FrameType | None) -> None:
        """Whichever thread takes it, this is called in the main one."""
        del number, frame
        self._is_asked = True
