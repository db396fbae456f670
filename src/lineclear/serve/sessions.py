"""Which sessions of older protocol revisions are kept: those that began here and were used lately.

A session is a convenience, not a right to be served: one that is not kept (any more) is answered without it.
What the SDK holds for one is much, so it is let go soon where nothing would be missed but the client's name,
which we remember.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# A client that keeps a stream open for news is never idle.
IDLE_S = 600.0
# Of those whose client is known, and that have nothing to be told of.
BRIEFLY_IDLE_S = 60.0
MOST_NAMES = 2_000


class _Kept:
    def __init__(self, owner: str) -> None:
        self.owner, self.client, self.in_use, self.used_at = owner, "", 0, 0.0


class Sessions:
    """`on_end` is told of each that is kept no longer, and whose it was. Grows with those in use, not with
    those that were."""

    def __init__(self, on_end: Callable[[str, str], None], clock: Callable[[], float] = monotonic) -> None:
        self._on_end, self._clock = on_end, clock
        self._busy: dict[str, _Kept] = {}
        # Those that nobody uses now, in the order of their last use.
        self._idle: dict[str, _Kept] = {}
        self._light: dict[str, _Kept] = {}
        # (session, owner) -> its client, of those that were let go; the last ones
        self._names: dict[tuple[str, str], str] = {}

    def begin(self, session: str, owner: str) -> None:
        self._sweep()
        kept = self._idle[session] = _Kept(owner)
        kept.used_at = self._clock()

    def take(self, session: str, owner: str) -> bool:
        """Is it kept? Then it stays so until it is put back. To anybody else it is not in use."""
        self._sweep()
        kept = self._idle.get(session) or self._light.get(session) or self._busy.get(session)
        if kept is None:
            return False
        if kept.owner == owner:
            self._idle.pop(session, None)
            self._light.pop(session, None)
            self._busy[session] = kept
            kept.in_use += 1
        return True

    def put_back(self, session: str, owner: str, *, client: str = "", is_told: bool = False) -> None:
        """`client`: the name it gave itself, if that was seen. `is_told`: it wants to hear of changes."""
        kept = self._busy.get(session)
        if kept is None or kept.owner != owner:
            return
        kept.client = client or kept.client
        kept.in_use -= 1
        if not kept.in_use:
            kept.used_at = self._clock()
            place = self._idle if is_told or not kept.client else self._light
            place[session] = self._busy.pop(session)

    def end(self, session: str) -> None:
        """Its client said goodbye."""
        for place in (self._busy, self._idle, self._light):
            place.pop(session, None)

    def client_of(self, session: str, owner: str) -> str:
        """The name that the client of one that was let go had given itself; "" if that is not known."""
        return self._names.get((session, owner), "")

    def __len__(self) -> int:
        return len(self._busy) + len(self._idle) + len(self._light)

    def _sweep(self) -> None:
        now = self._clock()
        self._let_go(self._light, now - BRIEFLY_IDLE_S)
        self._let_go(self._idle, now - IDLE_S)

    def _let_go(self, place: dict[str, _Kept], oldest: float) -> None:
        while place:
            session, kept = next(iter(place.items()))
            if kept.used_at > oldest:
                return
            del place[session]
            if kept.client:
                self._names[session, kept.owner] = kept.client
                if len(self._names) > MOST_NAMES:
                    del self._names[next(iter(self._names))]
            self._on_end(session, kept.owner)
