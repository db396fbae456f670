"""Whom a finding concerns, and whether it may interrupt. A hook loads it: imports nothing costly."""

from __future__ import annotations

from lineclear.core.log.tables import split_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.log.tables import FindingRow

# One side made a change, and the other uses what changed.
_ONE_SIDED = ("signature", "removed")


def is_about(row: FindingRow, name: str) -> bool:
    """Is the agent one of the sides, or a sub-agent of one?"""
    return any(name == side or name.startswith(side + "/") for side in split_names(row.agents))


def interrupts(row: FindingRow, name: str) -> bool:
    """Must the agent hear of it at its next tool call? Who changed an interface can go on: the agent that
    uses it is told."""
    maker = split_names(row.agents)[0]
    is_maker = name == maker or name.startswith(maker + "/")
    return bool(row.interrupts) and not (is_maker and row.kind in _ONE_SIDED)
