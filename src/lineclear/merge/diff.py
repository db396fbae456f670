"""The differences between two sequences: match unique items first, then find the shortest edit.

Used for lines and for tokens. Work is counted in steps; when they run out, the rest counts as
different, which can make a conflict larger, but never a merge wrong.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# A pair of ranges that differ: a[a0:a1] became b[b0:b1].
Edit = tuple[int, int, int, int]

MAX_EDITS = 160  # in a range without a unique common item; with more, the whole range is one replacement


@dataclass(slots=True, eq=False)
class Steps:
    """The work left for one file."""

    left: int

    def spend(self, count: int) -> bool:
        """False once the budget is gone."""
        self.left -= count
        return self.left > 0


def edits(a: Sequence[str], b: Sequence[str], steps: Steps) -> list[Edit]:
    """The differing ranges, in order; between two of them everything is equal."""
    numbers = {item: number for number, item in enumerate(dict.fromkeys((*a, *b)))}
    ia = [numbers[item] for item in a]
    ib = [numbers[item] for item in b]
    steps.spend(len(ia) + len(ib))
    found: list[Edit] = []
    _compare(ia, ib, steps, found)
    return _slide(ia, ib, _join(found))


def _compare(ia: list[int], ib: list[int], steps: Steps, found: list[Edit]) -> None:
    """Appends the differing ranges to `found`; `todo` is a stack of ranges, the first on top."""
    todo = [(0, len(ia), 0, len(ib))]
    while todo:
        a0, a1, b0, b1 = _trim(ia, ib, *todo.pop())
        if a0 == a1 or b0 == b1:
            if a0 != a1 or b0 != b1:
                found.append((a0, a1, b0, b1))
            continue
        anchors = _unique_anchors(ia, ib, a0, a1, b0, b1, steps)
        if anchors:
            todo.extend(reversed(_between(ia, ib, anchors, a0, a1, b0, b1)))
        else:
            _shortest(ia, ib, a0, a1, b0, b1, steps, found)


def _trim(ia: list[int], ib: list[int], a0: int, a1: int, b0: int, b1: int) -> Edit:
    while a0 < a1 and b0 < b1 and ia[a0] == ib[b0]:
        a0 += 1
        b0 += 1
    while a0 < a1 and b0 < b1 and ia[a1 - 1] == ib[b1 - 1]:
        a1 -= 1
        b1 -= 1
    return a0, a1, b0, b1


def _between(
    ia: list[int], ib: list[int], anchors: list[tuple[int, int]], a0: int, a1: int, b0: int, b1: int
) -> list[Edit]:
    """The gaps before, between and after the anchors, except those that are equal."""
    gaps = []
    for x, y in anchors:
        if ia[a0:x] != ib[b0:y]:
            gaps.append((a0, x, b0, y))
        a0, b0 = x + 1, y + 1
    gaps.append((a0, a1, b0, b1))
    return gaps


def _unique_anchors(
    ia: list[int], ib: list[int], a0: int, a1: int, b0: int, b1: int, steps: Steps
) -> list[tuple[int, int]]:
    """The places of items that occur once on both sides: the longest sequence in the same order."""
    if not steps.spend(a1 - a0 + b1 - b0):
        return []
    places = _unique_in(ia, a0, a1)
    found = _unique_in(ib, b0, b1)
    pairs = [(places[item], y) for item, y in found.items() if item in places]
    return _longest_rising(pairs)


def _unique_in(items: list[int], start: int, end: int) -> dict[int, int]:
    """Item -> place, for the items that occur once, in order."""
    part = items[start:end]
    places = dict(zip(part, range(start, end), strict=True))
    if len(places) == len(part):
        return places
    times = Counter(part)
    return {item: place for item, place in places.items() if times[item] == 1}


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest sequence of pairs whose first numbers rise; `pairs` are ordered by their second numbers."""
    firsts = [x for x, _ in pairs]
    if firsts == sorted(firsts):
        return pairs
    tops: list[int] = []
    at: list[int] = []
    before = [-1] * len(pairs)
    for k, (x, _) in enumerate(pairs):
        place = bisect_left(tops, x)
        before[k] = at[place - 1] if place else -1
        if place == len(tops):
            tops.append(x)
            at.append(k)
        else:
            tops[place] = x
            at[place] = k
    chain = []
    k = at[-1] if at else -1
    while k >= 0:
        chain.append(pairs[k])
        k = before[k]
    chain.reverse()
    return chain


def _shortest(
    ia: list[int], ib: list[int], a0: int, a1: int, b0: int, b1: int, steps: Steps, found: list[Edit]
) -> None:
    """Myers' greedy shortest edit; every frontier is kept so that the path can be walked back."""
    trace = _frontiers(ia, ib, a0, a1, b0, b1, steps)
    if trace is None:
        found.append((a0, a1, b0, b1))
        return
    found.extend(_walk_back(trace, a0, a1, b0, b1))


def _frontiers(
    ia: list[int], ib: list[int], a0: int, a1: int, b0: int, b1: int, steps: Steps
) -> list[dict[int, int]] | None:
    n, m = a1 - a0, b1 - b0
    common = (Counter(ia[a0:a1]) & Counter(ib[b0:b1])).total()
    if n + m - 2 * common > MAX_EDITS:
        return None  # no order of the common items could make it shorter
    front = {1: 0}
    trace: list[dict[int, int]] = []
    for d in range(min(n + m, MAX_EDITS) + 1):
        trace.append(front)
        if not steps.spend(d + 1):
            return None
        following: dict[int, int] = {}
        for k in range(-d, d + 1, 2):
            down = k == -d or (k != d and front[k - 1] < front[k + 1])
            x = front[k + 1] if down else front[k - 1] + 1
            y = x - k
            while x < n and y < m and ia[a0 + x] == ib[b0 + y]:
                x += 1
                y += 1
            following[k] = x
            if x >= n and y >= m:
                return trace
        front = following
    return None


def _walk_back(trace: list[dict[int, int]], a0: int, a1: int, b0: int, b1: int) -> list[Edit]:
    x, y = a1 - a0, b1 - b0
    moves: list[Edit] = []
    for d in range(len(trace) - 1, 0, -1):
        front = trace[d]
        k = x - y
        down = k == -d or (k != d and front[k - 1] < front[k + 1])
        from_k = k + 1 if down else k - 1
        from_x = front[from_k]
        from_y = from_x - from_k
        if down:
            moves.append((a0 + from_x, a0 + from_x, b0 + from_y, b0 + from_y + 1))
        else:
            moves.append((a0 + from_x, a0 + from_x + 1, b0 + from_y, b0 + from_y))
        x, y = from_x, from_y
    moves.reverse()
    return moves


def _join(found: list[Edit]) -> list[Edit]:
    """The edits with touching ones joined."""
    joined: list[Edit] = []
    for edit in found:
        if joined and joined[-1][1] == edit[0] and joined[-1][3] == edit[2]:
            last = joined[-1]
            joined[-1] = (last[0], edit[1], last[2], edit[3])
        else:
            joined.append(edit)
    return joined


def _slide(ia: list[int], ib: list[int], found: list[Edit]) -> list[Edit]:
    """Move pure insertions and deletions down as far as the equal items allow, as git does."""
    slid: list[Edit] = []
    for position, (a0, a1, b0, b1) in enumerate(found):
        limit = found[position + 1][0] if position + 1 < len(found) else len(ia)
        by = 0
        if a0 == a1:
            while a1 + by < limit and ib[b0 + by] == ia[a1 + by]:
                by += 1
        elif b0 == b1:
            while a1 + by < limit and ia[a0 + by] == ia[a1 + by]:
                by += 1
        slid.append((a0 + by, a1 + by, b0 + by, b1 + by))
    return _join(slid)
