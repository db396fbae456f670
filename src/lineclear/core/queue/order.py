"""The order in which candidates land."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from lineclear.core.log.tables import split_ids

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.core.log.tables import Candidate


def in_order(candidates: Iterable[Candidate], earlier: Iterable[tuple[int, int]] = ()) -> list[Candidate]:
    """Dependencies first, then the order that a person set, then priority, then `earlier`, then age.

    `earlier`: pairs of ids of which the first should land before the second, where nothing else decides. A
    dependency on a candidate that is not among these does not count. Candidates cannot be submitted with
    circular dependencies.
    """
    by_wish = _by_wish(candidates, _without_cycles(earlier))
    here = {row.id for row in by_wish}
    placed: set[int] = set()
    order: list[Candidate] = []
    while by_wish:
        following = next(
            (row for row in by_wish if all(dep in placed or dep not in here for dep in split_ids(row.after))),
            by_wish[0],
        )
        by_wish.remove(following)
        placed.add(following.id)
        order.append(following)
    return order


def _by_wish(candidates: Iterable[Candidate], earlier: set[tuple[int, int]]) -> list[Candidate]:
    order: list[Candidate] = []
    rows = sorted(candidates, key=lambda row: (*_wish(row), row.id))
    for _, equals in groupby(rows, key=_wish):
        left = {row.id: row for row in equals}
        while left:
            late = {second for first, second in earlier if first in left}
            following = next(number for number in left if number not in late)
            order.append(left.pop(following))
    return order


def _wish(row: Candidate) -> tuple[int, int]:
    return row.rank or 1 << 40, row.priority


def _without_cycles(pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Those of the pairs that are on no circle: on a circle each would have to be the first."""
    after: dict[int, set[int]] = {}
    for first, second in pairs:
        after.setdefault(first, set()).add(second)
    return {
        (first, second)
        for first, seconds in after.items()
        for second in seconds
        if first not in _reachable(second, after)
    }


def _reachable(start: int, after: dict[int, set[int]]) -> set[int]:
    """All that must come after `start`, and `start`."""
    found, new = {start}, [start]
    while new:
        fresh = after.get(new.pop(), set()) - found
        found |= fresh
        new.extend(fresh)
    return found


def moved_first(order: Iterable[Candidate], number: int, before: int) -> list[int]:
    """The ids in order, with one candidate moved before another; `before` 0: to the end."""
    ids = [row.id for row in order if row.id != number]
    at = ids.index(before) if before in ids else len(ids)
    return [*ids[:at], number, *ids[at:]]
