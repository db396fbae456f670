"""Which level of the stack is worth a check now, and what the finished checks mean. No I/O.

Level n is main with the first n waiting candidates on it; level 0 is main itself, which passes. `levels`
says for levels 1, 2, ... what is known: GREEN, RED, RUNNING or UNKNOWN. A level that passed may land,
whatever is known of those below it. Bisection finds the candidate that broke the lowest failed level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

GREEN, RED, RUNNING, UNKNOWN = "green", "red", "running", ""


def highest_green(levels: Sequence[str]) -> int:
    return max((level for level, known in enumerate(levels, 1) if known == GREEN), default=0)


def lowest_red(levels: Sequence[str]) -> int:
    """The lowest failed level above the highest one that passed; 0 if there is none."""
    green = highest_green(levels)
    return min((level for level, known in enumerate(levels, 1) if known == RED and level > green), default=0)


def culprit(levels: Sequence[str]) -> int:
    """The level whose candidate makes the difference between passing and failing; 0: not known yet."""
    red = lowest_red(levels)
    return red if red and red == highest_green(levels) + 1 else 0


def useless(levels: Sequence[str]) -> list[int]:
    """Levels whose check is running although its result no longer matters."""
    green, red = highest_green(levels), lowest_red(levels)
    return [
        level
        for level, known in enumerate(levels, 1)
        if known == RUNNING and (level < green or (red and level > red))
    ]


def next_levels(levels: Sequence[str], free: int) -> list[int]:
    """At most `free` levels that are worth a check now, best first.

    While nothing has failed, the top is checked first: if it passes, one check was enough for all. Further
    checks split the levels below it, so that a failure at the top is traced sooner.
    """
    green, red, size = highest_green(levels), lowest_red(levels), len(levels)
    chosen: list[int] = []
    if not red and size > green and levels[-1] != RUNNING and free > 0:
        chosen.append(size)
    high = red or size
    running = [level for level, known in enumerate(levels, 1) if known == RUNNING]
    while len(chosen) < free:
        level = _middle(green, high, [*running, *chosen])
        if not level:
            break
        chosen.append(level)
    return chosen


def _middle(low: int, high: int, asked: Iterable[int]) -> int:
    """The middle of the widest gap between two levels that are known or being checked; 0 if there is no
    gap."""
    marks = sorted({low, high, *(level for level in asked if low < level < high)})
    below, gap = 0, 0
    for place in range(1, len(marks)):
        width = marks[place] - marks[place - 1]
        if width > gap:
            below, gap = marks[place - 1], width
    return below + gap // 2 if gap > 1 else 0


class Search:
    """Bisection: with which earlier change does a candidate fail? Runs when nothing else is left to land.

    There are `size` changes between where its branch began and where it failed. Point n is the state after
    the first n of them; the candidate is known to fail on point `size`. Point 0 is tried first: most
    candidates that fail, fail on their own.
    """

    def __init__(self, size: int) -> None:
        self._low, self._high = -1, size

    @property
    def answer(self) -> int:
        """0: it fails on its own; n: it passes without the n-th change and fails with it; -1: not known
        yet."""
        return self._high if self._low + 1 == self._high else -1

    @property
    def next_point(self) -> int:
        """The point to try next, while the answer is not known."""
        return 0 if self._low < 0 else (self._low + self._high) // 2

    def passed(self, point: int) -> None:
        self._low = max(self._low, point)

    def failed(self, point: int) -> None:
        self._high = min(self._high, point)
