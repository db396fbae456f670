"""Keep the sessions of older protocol revisions that began here and were used lately.

A request of a session that we no longer keep is still answered, without it. The SDK needs much memory for a
session, so we drop one soon if only the client's name would be lost, which we remember.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# A client that keeps a stream open for news is never idle.
IDLE_S = 600.0
# For sessions with a known client and no subscription.
BRIEFLY_IDLE_S = 60.0
MOST_NAMES = 2_000
# Of one owner, so that nobody uses up what the server can keep.
MOST_OF_ONE = 100


class _Kept:
    def __init__(self, owner: str) -> None:
        self.owner, self.client, self.in_use, self.used_at = owner, "", 0, 0.0


class Sessions:
    """Calls `on_end` with each session that it drops, and its owner. Its size follows the sessions in use."""

    def __init__(self, on_end: Callable[[str, str], None], clock: Callable[[], float] = monotonic) -> None:
        self._on_end, self._clock = on_end, clock
        self._busy: dict[str, _Kept] = {}
        # Sessions that no request uses now, in the order of their last use.
        self._idle: dict[str, _Kept] = {}
        self._light: dict[str, _Kept] = {}
        # (session, owner) -> its client, for the sessions dropped last
        self._names: dict[tuple[str, str], str] = {}

    def has_room(self, owner: str) -> bool:
        """May the owner begin another session? Not if requests use all that it may have."""
        return sum(kept.owner == owner for kept in self._busy.values()) < MOST_OF_ONE

    def begin(self, session: str, owner: str) -> None:
        """Drops the owner's session that was unused for longest, if this is one too many."""
        self._sweep()
        unused = [
            (kept.used_at, name, place)
            for place in (self._light, self._idle)
            for name, kept in place.items()
            if kept.owner == owner
        ]
        in_use = sum(kept.owner == owner for kept in self._busy.values())
        if unused and len(unused) + in_use >= MOST_OF_ONE:
            _, oldest, place = min(unused, key=lambda one: one[0])
            self._drop(place, oldest)
        kept = self._idle[session] = _Kept(owner)
        kept.used_at = self._clock()

    def take(self, session: str, owner: str) -> bool:
        """Is it kept? Its owner's request then holds it until `put_back`."""
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
        """`client`: the name it gave itself, if known. `is_told`: it subscribed to changes."""
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
        """Its client ended it."""
        for place in (self._busy, self._idle, self._light):
            place.pop(session, None)

    def client_of(self, session: str, owner: str) -> str:
        """The client's name in a session that we dropped; "" if unknown."""
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
            self._drop(place, session)

    def _drop(self, place: dict[str, _Kept], session: str) -> None:
        kept = place.pop(session)
        if kept.client:
            self._names[session, kept.owner] = kept.client
            if len(self._names) > MOST_NAMES:
                del self._names[next(iter(self._names))]
        self._on_end(session, kept.owner)
