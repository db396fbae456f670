"""What the queue makes of the radar's findings about changed interfaces: which candidate should land first,
and which findings explain why a candidate fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.log.tables import split_names
from lineclear.core.radar.findings import MAIN, REMOVED, SIGNATURE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from lineclear.core.log.tables import Candidate, FindingRow


def landing_pairs(findings: Iterable[FindingRow], waiting: Sequence[Candidate]) -> list[tuple[int, int]]:
    """(the candidate that changes an interface, the candidate that uses it), by id, for `in_order`."""
    pairs = []
    for finding in findings:
        if finding.kind in (SIGNATURE, REMOVED):
            maker, *users = split_names(finding.agents)
            made = [row.id for row in waiting if row.task and row.task == finding.task]
            made = made or [row.id for row in waiting if is_side(row, maker)]
            used = [row.id for row in waiting if any(is_side(row, user) for user in users)]
            pairs += [(first, second) for first in made for second in used if first != second]
    return pairs


def is_side(row: Candidate, name: str) -> bool:
    """Is it the work of this side: an agent, or a branch that no agent works on?"""
    return name in (row.agent, row.branch)


def explaining(
    findings: Iterable[FindingRow], row: Candidate, landed: Candidate | None, merged: Collection[int]
) -> list[FindingRow]:
    """The findings that say what main changed under this candidate. `landed`: the candidate with which it
    fails, if known; `merged`: the tasks that are on main. A pass of the radar may be older than a landing,
    and then names the agent instead of main."""
    found = []
    for finding in findings:
        maker, *users = split_names(finding.agents)
        if finding.kind in (SIGNATURE, REMOVED) and any(is_side(row, user) for user in users):
            is_landed = landed is not None and is_side(landed, maker)
            if maker == MAIN or is_landed or finding.task in merged:
                found.append(finding)
    return found


def uses_of(finding: FindingRow) -> list[str]:
    """The files that use what has changed. The first file of a finding is the one with the change."""
    files = split_names(finding.files)
    return files[1:] or files
