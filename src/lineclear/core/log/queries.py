"""Queries of the tables as values: the arguments of `get`, `pick` and `scan`.

A use case that knows in advance what it will read passes a list of them; an engine whose server is far
away then fetches all answers in one round trip.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from lineclear.core.log.state import FoldedState
    from lineclear.core.log.tables import Table

    Key = tuple[int | str, ...]

GET, PICK, SCAN, COUNT, SEARCH = "get", "pick", "scan", "count", "search"


class Question:
    """One query. GET: `prefix` is the key. PICK: `prefix` has the values of the index's first column, at
    least one. SCAN and COUNT: as in the port. SEARCH: `prefix` is a query for tasks; the answers are ids."""

    __slots__ = ("high", "identity", "index", "kind", "limit", "low", "prefix", "reverse", "table")

    def __init__(
        self,
        kind: str,
        table: Table[Any],
        index: str,
        prefix: Key,
        *,
        low: int | str | None = None,
        high: int | str | None = None,
        limit: int = 0,
        reverse: bool = False,
    ) -> None:
        self.kind, self.table, self.index, self.prefix = kind, table, index, prefix
        self.low, self.high, self.limit, self.reverse = low, high, limit, reverse
        self.identity = (kind, table.name, index, prefix, low, high, limit, reverse)

    def answer(self, state: FoldedState) -> list[Any]:
        """The rows of `state` that this question asks for."""
        if self.kind == SCAN:
            return state.scan(
                self.table,
                self.index,
                self.prefix,
                low=self.low,
                high=self.high,
                limit=self.limit,
                reverse=self.reverse,
            )
        if self.kind == PICK:
            return self.sorted(state.pick(self.table, self.index, self.prefix))
        row = state.get(self.table, self.prefix)
        return [] if row is None else [row]

    def sorted(self, rows: list[Any]) -> list[Any]:
        return sorted(rows, key=self.table.entry_of[self.index], reverse=self.reverse)


def by_key(table: Table[Any], *key: int | str) -> Question:
    return Question(GET, table, "key", key)


def any_of(table: Table[Any], index: str, *values: int | str) -> Question:
    """Rows whose first column of the index is one of the values; needs at least one value."""
    return Question(PICK, table, index, tuple(dict.fromkeys(values)))


def by_index(
    table: Table[Any],
    index: str,
    *prefix: int | str,
    low: int | str | None = None,
    high: int | str | None = None,
    limit: int = 0,
    reverse: bool = False,
) -> Question:
    return Question(SCAN, table, index, prefix, low=low, high=high, limit=limit, reverse=reverse)


def how_many(table: Table[Any], index: str, *prefix: int | str) -> Question:
    return Question(COUNT, table, index, prefix)


def around(
    table: Table[Any], index: str, values: Iterable[int | str], low: int | str, high: int | str
) -> list[Question]:
    """The questions that `sift` asks."""
    return [any_of(table, index, *values), by_index(table, index, low=low, high=high)]
