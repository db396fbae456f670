"""Where two histories parted, and what only one of them holds: found by walking commits. Starts nothing.

Both sides are painted from their ends, newest commit first, until every commit that is left to look at is
known to be on both. The first commits that got both colours are where they parted; where histories have
crossed there are several. Dates only say where to look first: a clock that was wrong costs steps. What one
side holds alone is exact unless a clock was wrong by more than the age of the work.
"""

from __future__ import annotations

import heapq

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # commit -> (its parents, when it was committed in seconds)
    Links = Callable[[str], tuple[Sequence[str], int]]

_LEFT, _RIGHT, _STALE = 1, 2, 4
_BOTH = _LEFT | _RIGHT


class _Walk:
    """`met` are the first commits seen from both sides, `order` is all that was walked, newest first."""

    __slots__ = ("_heap", "_links", "_new", "colours", "met", "order")

    def __init__(self, links: Links) -> None:
        self._links = links
        self._heap: list[tuple[int, int, str]] = []
        self._new: set[str] = set()  # waiting, and not known to be below a commit of both sides
        self.colours: dict[str, int] = {}
        self.met: list[str] = []
        self.order: list[str] = []

    def paint(self, commit: str, colour: int) -> None:
        known = self.colours.get(commit, 0)
        if known & colour == colour:
            return
        self.colours[commit] = known | colour
        if (known | colour) & _STALE:
            self._new.discard(commit)
        else:
            self._new.add(commit)
        heapq.heappush(self._heap, (-self._links(commit)[1], len(self.colours), commit))

    def run(self) -> None:
        oldest_s = None  # of what only the right side has; commits of that second may still be found on both
        while self._heap and (self._new or (oldest_s is not None and -self._heap[0][0] >= oldest_s)):
            _, _, commit = heapq.heappop(self._heap)
            self._new.discard(commit)
            colour = self.colours[commit]
            parents, at_s = self._links(commit)
            if colour == _BOTH:
                self.met.append(commit)
                colour |= _STALE
            elif colour == _RIGHT:
                self.order.append(commit)
                oldest_s = at_s if oldest_s is None else min(oldest_s, at_s)
            for parent in parents:
                self.paint(parent, colour)


def part(links: Links, left: str, right: str) -> tuple[list[str], list[str]]:
    """(where both parted, what only the right side holds, newest first). No place where both parted: they
    share nothing. `right` itself is the place when the left side holds all of it."""
    walk = _walked(links, [left], [right])
    bases = list(dict.fromkeys(commit for commit in walk.met if not walk.colours[commit] & _STALE))
    own = [commit for commit in dict.fromkeys(walk.order) if walk.colours[commit] == _RIGHT]
    return _highest(links, bases), own


def _highest(links: Links, commits: list[str]) -> list[str]:
    """Without those that another one of them holds."""
    if len(commits) < 2:
        return commits
    others = {commit: [other for other in commits if other != commit] for commit in commits}
    return [
        commit for commit in commits if not _walked(links, [commit], others[commit]).colours[commit] & _RIGHT
    ]


def _walked(links: Links, left: Sequence[str], right: Sequence[str]) -> _Walk:
    walk = _Walk(links)
    for commits, colour in ((left, _LEFT), (right, _RIGHT)):
        for commit in commits:
            walk.paint(commit, colour)
    walk.run()
    return walk
