"""SQL text from the declared tables, for both SQL engines; the placeholder is theirs to say."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.core.log.tables import Table


class Statements:
    """The statements for a table, made once and kept: engines cache prepared ones by their text."""

    __slots__ = ("_columns", "_made", "_mark", "_where")

    def __init__(self, mark: str, repo: bool = False) -> None:
        """`mark` is the placeholder; with `repo` every table starts with a repo column."""
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

    def entries(self, table: Table[Any], index: str, count: int) -> str:
        """Index columns and key, which the index itself holds: no row is looked up."""
        key = ("entries", table.name, index, count)
        return self._keep(key, lambda: self._entries(table, index, count))

    def _entries(self, table: Table[Any], index: str, count: int) -> str:
        columns = ", ".join(f'"{name}"' for name in (*table.indexes[index], *table.key))
        first = table.indexes[index][0]
        select = f'SELECT {columns} FROM "{table.name}" WHERE {self._where}'
        marks = ",".join([self._mark] * count)
        between = f'"{first}" > {self._mark} AND "{first}" < {self._mark}'
        return f'{select}"{first}" IN ({marks}) UNION ALL {select}{between}'

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
        key = ("scan", table.name, index, prefix, has_low, has_high, limit, reverse)
        return self._keep(key, lambda: self._range(table, index, prefix, has_low, has_high, limit, reverse))

    def _keep(self, key: tuple[Any, ...], make: Any) -> str:
        text = self._made.get(key)
        if text is None:
            text = self._made[key] = make()
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

    def _range(
        self,
        table: Table[Any],
        index: str,
        prefix: int,
        has_low: bool,
        has_high: bool,
        limit: bool,
        reverse: bool,
    ) -> str:
        columns = table.indexes[index]
        parts = [f'"{name}" = {self._mark}' for name in columns[:prefix]]
        if has_low:
            parts.append(f'"{columns[prefix]}" > {self._mark}')
        if has_high:
            parts.append(f'"{columns[prefix]}" < {self._mark}')
        # The key makes the order total, so that all engines answer in the same one.
        total = [*columns, *(name for name in table.key if name not in columns)]
        order = ", ".join(f'"{name}"{" DESC" if reverse else ""}' for name in total)
        tail = f" LIMIT {self._mark}" if limit else ""
        return f"{self._select(table)}{' AND '.join(parts) or '1 = 1'} ORDER BY {order}{tail}"
