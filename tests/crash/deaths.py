"""Which deaths are worth dying, given the points that a command passes."""

from __future__ import annotations

from tests.crash import proxy
from tests.crash.faults import AFTER, BEFORE, POWERLESS, TORN

Way = tuple[int, str]


def ways_to_die(engine: str, points: list[str], first: int = 1) -> list[Way]:
    """(point, how) of every one, from a point on.

    Dying after a write and before the next step is one and the same unless an answer was given between.
    """
    ways: list[Way] = []
    for number, name in enumerate(points[first - 1 :], start=first):
        ways.append((number, BEFORE))
        if engine == "postgres":
            ways += [(number, TORN), (number, proxy.UNANSWERED), (number, AFTER)]
        elif name.startswith("write"):
            ways.append((number, TORN))
        else:
            ways += [(number, AFTER), (number, POWERLESS)]
    return ways


def worst_ways_to_die(engine: str, points: list[str], first: int = 1) -> list[Way]:
    """The worst at every point, for what passes hundreds of them."""
    ways: list[Way] = []
    for number, name in enumerate(points[first - 1 :], start=first):
        if engine == "postgres":
            ways += [(number, TORN), (number, proxy.UNANSWERED)]
        else:
            ways.append((number, TORN if name.startswith("write") else BEFORE))
    return ways
