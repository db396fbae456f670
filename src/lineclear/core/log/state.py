"""The tables in memory: the reference engine keeps them, and the audit replays the log into them.

Indexes are sorted lists, built at the first query and kept up to date from then on.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    from lineclear.core.log.tables import Table, TableRow

    R = TypeVar("R", bound=TableRow)
    Key = tuple[int | str, ...]


class _Top:
    """Sorts after every int and str: the upper end of a prefix's range."""

    def __lt__(self, _other: object) -> bool:
        return False

    def __gt__(self, _other: object) -> bool:
        return True


_TOP: Any = _Top()


class _Rows:
    """One table: rows by key, and sorted (index columns + key) entries per index."""

    def __init__(self) -> None:
        self.by_key: dict[Key, Any] = {}
        self.sorted: dict[str, list[Key]] = {}


class FoldedState:
    """The rows of all tables, with the reads that every engine offers."""

    def __init__(self) -> None:
        self._tables: dict[str, _Rows] = {}

    def _rows(self, table: Table[Any]) -> _Rows:
        rows = self._tables.get(table.name)
        if rows is None:
            rows = self._tables[table.name] = _Rows()
        return rows

    def get(self, table: Table[R], key: Key, /) -> R | None:
        row: R | None = self._rows(table).by_key.get(key)
        return row

    def put(self, table: Table[R], row: R, /) -> None:
        rows = self._rows(table)
        key = table.key_of(row)
        old = rows.by_key.get(key)
        rows.by_key[key] = row
        for name, entries in rows.sorted.items():
            entry = table.entry_of[name](row)
            if old is not None:
                before = table.entry_of[name](old)
                if before == entry:
                    continue
                _drop(entries, before)
            insort(entries, entry)

    def delete(self, table: Table[R], key: Key, /) -> None:
        rows = self._rows(table)
        old = rows.by_key.pop(key, None)
        if old is not None:
            for name, entries in rows.sorted.items():
                _drop(entries, table.entry_of[name](old))

    def pick(self, table: Table[R], index: str, values: Iterable[int | str], /) -> list[R]:
        rows, entries = self._rows(table), self._entries(table, index)
        skip = len(table.indexes[index])
        found = []
        for value in values:
            place = bisect_left(entries, (value,))
            while place < len(entries) and entries[place][0] == value:
                found.append(rows.by_key[entries[place][skip:]])
                place += 1
        return found

    def scan(
        self,
        table: Table[R],
        index: str,
        prefix: Key = (),
        *,
        low: int | str | None = None,
        high: int | str | None = None,
        limit: int = 0,
        reverse: bool = False,
    ) -> list[R]:
        rows, entries = self._rows(table), self._entries(table, index)
        start = (
            bisect_right(entries, (*prefix, low, _TOP)) if low is not None else bisect_left(entries, prefix)
        )
        end = (
            bisect_left(entries, (*prefix, high))
            if high is not None
            else bisect_right(entries, (*prefix, _TOP))
        )
        chosen = entries[start : max(start, end)]
        if reverse:
            chosen.reverse()
        skip = len(table.indexes[index])
        return [rows.by_key[entry[skip:]] for entry in (chosen[:limit] if limit else chosen)]

    def sift(
        self,
        table: Table[R],
        index: str,
        values: Iterable[int | str],
        low: int | str,
        high: int | str,
        keep: Callable[[Any], bool],
        /,
    ) -> list[R]:
        entry_of = table.entry_of[index]
        found = self.pick(table, index, values) + self.scan(table, index, low=low, high=high)
        return [row for row in found if keep(entry_of(row))]

    def count(self, table: Table[Any], index: str, prefix: Key = (), /) -> int:
        entries = self._entries(table, index)
        return bisect_right(entries, (*prefix, _TOP)) - bisect_left(entries, prefix)

    def all_rows(self, table: Table[R]) -> Iterable[R]:
        return self._rows(table).by_key.values()

    def _entries(self, table: Table[Any], index: str) -> list[Key]:
        rows = self._rows(table)
        entries = rows.sorted.get(index)
        if entries is None:
            entries = sorted(map(table.entry_of[index], rows.by_key.values()))
            rows.sorted[index] = entries
        return entries


def _drop(entries: list[Key], entry: Key) -> None:
    place = bisect_left(entries, entry)
    if place < len(entries) and entries[place] == entry:
        del entries[place]
