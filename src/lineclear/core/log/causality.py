"""Happened-before between two events of the log.

Each event carries the highest position that had been delivered to its actor. A delivered position
stands for everything before it, so the relation is transitive without vector clocks: two agents
that read one position and both write are concurrent, whichever was appended first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol

    class LoggedEvent(Protocol):
        position: int
        actor: str
        seen: int


BEFORE, AFTER, CONCURRENT, SAME = "before", "after", "concurrent", "same"


def happened_before(first: LoggedEvent, second: LoggedEvent) -> bool:
    if first.actor == second.actor:
        return first.position < second.position
    return first.position <= second.seen


def relation(first: LoggedEvent, second: LoggedEvent) -> str:
    if first.position == second.position:
        return SAME
    if happened_before(first, second):
        return BEFORE
    return AFTER if happened_before(second, first) else CONCURRENT
