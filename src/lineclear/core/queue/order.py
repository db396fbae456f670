"""The order in which candidates land."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.log.tables import split_ids

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.core.log.tables import Candidate


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Dependencies first, then the order that a person set, then priority, then age.

    A dependency on a candidate that is not among these does not count. Candidates cannot be submitted with
    circular dependencies.
    """
    by_wish = sorted(candidates, key=lambda row: (row.rank or 1 << 40, row.priority, row.id))
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


def moved_first(order: Iterable[Candidate], number: int, before: int) -> list[int]:
    """The ids in order, with one candidate moved before another; `before` 0: to the end."""
    ids = [row.id for row in order if row.id != number]
    at = ids.index(before) if before in ids else len(ids)
    return [*ids[:at], number, *ids[at:]]
