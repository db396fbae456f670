"""Builds SQL from the declared tables, for both SQL engines. Each engine gives its own placeholder."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from lineclear.core.log.tables import Table

_MOST_SEARCH_WORDS = 64


def search_words(text: str) -> list[str]:
    return "".join(ch if ch.isalnum() else " " for ch in text).split()[:_MOST_SEARCH_WORDS]


def scan_values(
    prefix: Iterable[int | str], low: int | str | None, high: int | str | None, limit: int
) -> list[int | str]:
    """The parameters of a `scan`, in the order of its placeholders."""
    bounds = [bound for bound in (low, high) if bound is not None]
    return [*prefix, *bounds, *([limit] if limit else [])]


class Statements:
    """The statements for a table. Each is built once, since engines cache prepared ones by their text."""

    __slots__ = ("_columns", "_made", "_mark", "_where")

    def __init__(self, mark: str, repo: bool = False) -> None:
        """`mark` is the placeholder. With `repo`, every table starts with a repo column."""
        self._mark = mark
        self._where = f'"repo" = {mark} AND ' if repo else ""
        self._columns = ["repo"] if repo else []
        self._made: dict[tuple[Any, ...], str] = {}

    def get(self, table: Table[Any]) -> str:
        return self._keep(("get", table.name), lambda: self._select(table) + self._equal(table.key))

    def delete(self, table: Table[Any]) -> str:
        return self._keep(
            ("delete", table.name),
            lambda: f'DELETE FROM "{table.name}" WHERE {self._where}{self._equal(table.key)}',
        )

    def put(self, table: Table[Any]) -> str:
        return self._keep(("put", table.name), lambda: self._upsert(table))

    def pick(self, table: Table[Any], index: str, count: int) -> str:
        column = table.indexes[index][0]
        marks = ",".join([self._mark] * count)
        return self._keep(
            ("pick", table.name, index, count), lambda: f'{self._select(table)}"{column}" IN ({marks})'
        )

    def count(self, table: Table[Any], index: str, prefix: int) -> str:
        def build() -> str:
            equal = self._equal(table.indexes[index][:prefix])
            return f'SELECT count(*) FROM "{table.name}" WHERE {self._where}{equal}'

        return self._keep(("count", table.name, index, prefix), build)

    def entries(self, table: Table[Any], index: str, count: int) -> str:
        """Selects only index columns and key, which the index itself contains: no row is looked up."""

        def build() -> str:
            columns = ", ".join(f'"{name}"' for name in (*table.indexes[index], *table.key))
            first = table.indexes[index][0]
            select = f'SELECT {columns} FROM "{table.name}" WHERE {self._where}'
            marks = ",".join([self._mark] * count)
            between = f'"{first}" > {self._mark} AND "{first}" < {self._mark}'
            return f'{select}"{first}" IN ({marks}) UNION ALL {select}{between}'

        return self._keep(("entries", table.name, index, count), build)

    def scan(
        self,
        table: Table[Any],
        index: str,
        prefix: int,
        has_low: bool,
        has_high: bool,
        limit: bool,
        reverse: bool,
    ) -> str:
        def build() -> str:
            columns = table.indexes[index]
            parts = [f'"{name}" = {self._mark}' for name in columns[:prefix]]
            if has_low:
                parts.append(f'"{columns[prefix]}" > {self._mark}')
            if has_high:
                parts.append(f'"{columns[prefix]}" < {self._mark}')
            # The key makes the order total, so that all engines answer in the same order.
            total = [*columns, *(name for name in table.key if name not in columns)]
            order = ", ".join(f'"{name}"{" DESC" if reverse else ""}' for name in total)
            tail = f" LIMIT {self._mark}" if limit else ""
            return f"{self._select(table)}{' AND '.join(parts) or '1 = 1'} ORDER BY {order}{tail}"

        return self._keep(("scan", table.name, index, prefix, has_low, has_high, limit, reverse), build)

    def _keep(self, key: tuple[Any, ...], build: Callable[[], str]) -> str:
        text = self._made.get(key)
        if text is None:
            text = self._made[key] = build()
        return text

    def _select(self, table: Table[Any]) -> str:
        columns = ", ".join(f'"{name}"' for name in table.columns)
        return f'SELECT {columns} FROM "{table.name}" WHERE {self._where}'

    def _equal(self, columns: tuple[str, ...]) -> str:
        return " AND ".join(f'"{name}" = {self._mark}' for name in columns) or "1 = 1"

    def _upsert(self, table: Table[Any]) -> str:
        columns = [*self._columns, *table.columns]
        names = ", ".join(f'"{name}"' for name in columns)
        key = ", ".join(f'"{name}"' for name in [*self._columns, *table.key])
        changes = ", ".join(
            f'"{name}" = excluded."{name}"' for name in table.columns if name not in table.key
        )
        action = f"UPDATE SET {changes}" if changes else "NOTHING"
        marks = ", ".join([self._mark] * len(columns))
        return f'INSERT INTO "{table.name}" ({names}) VALUES ({marks}) ON CONFLICT ({key}) DO {action}'
