"""Which sessions of older protocol revisions are kept: those that began here and were used lately.

A session is a convenience, not a right to be served: one that is not kept (any more) is answered without it.
"""

from __future__ import annotations

from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# A client that keeps a stream open for news is never idle.
IDLE_S = 600.0


class _Kept:
    __slots__ = ("in_use", "owner", "used_at")

    def __init__(self, owner: str) -> None:
        self.owner, self.in_use, self.used_at = owner, 0, 0.0


class Sessions:
    """`on_end` is told of each that is kept no longer. Grows with those in use, not with those that were."""

    def __init__(self, on_end: Callable[[str], None], clock: Callable[[], float] = monotonic) -> None:
        self._on_end, self._clock = on_end, clock
        # Those that nobody uses now are in the order of their last use.
        self._busy: dict[str, _Kept] = {}
        self._idle: dict[str, _Kept] = {}

    def begin(self, session: str, owner: str) -> None:
        self._sweep()
        kept = self._idle[session] = _Kept(owner)
        kept.used_at = self._clock()

    def take(self, session: str, owner: str) -> bool:
        """Is it kept? Then it stays so until it is put back. To anybody else it is not in use."""
        self._sweep()
        kept = self._idle.get(session) or self._busy.get(session)
        if kept is None:
            return False
        if kept.owner == owner:
            self._idle.pop(session, None)
            self._busy[session] = kept
            kept.in_use += 1
        return True

    def put_back(self, session: str, owner: str) -> None:
        kept = self._busy.get(session)
        if kept is None or kept.owner != owner:
            return
        kept.in_use -= 1
        if not kept.in_use:
            kept.used_at = self._clock()
            self._idle[session] = self._busy.pop(session)

    def end(self, session: str) -> None:
        self._busy.pop(session, None)
        self._idle.pop(session, None)
        self._on_end(session)

    def __len__(self) -> int:
        return len(self._busy) + len(self._idle)

    def _sweep(self) -> None:
        oldest = self._clock() - IDLE_S
        while self._idle:
            session, kept = next(iter(self._idle.items()))
            if kept.used_at > oldest:
                return
            self.end(session)
