"""The SQL of this engine: questions that can be compared with a guess, and writes of sets of rows.

Parameter $1 is the repo everywhere. The plain SELECTs come from store/sql.py, as for SQLite.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import count
from json import JSONDecoder, JSONEncoder

from lineclear.core.tables import ALL, LOG, TASK
from lineclear.store.sql import Statements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from psycopg.pq.abc import PGresult

    from lineclear.core.state import State
    from lineclear.core.tables import Table

    Key = tuple[int | str, ...]

GET, PICK, SCAN, SEARCH = "get", "pick", "scan", "search"

BEGIN = 'SELECT "head", "now_ns" FROM lineclear_begin($1, $2, $3)'
END = "SELECT lineclear_end($1, $2, $3)"
FLUSH = "SELECT lineclear_flush()"
BEGIN_WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED"
BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

# PostgreSQL writes JSON with these separators, and escapes the same characters.
encode_rows = JSONEncoder(ensure_ascii=False, separators=(", ", ": "), check_circular=False).encode
_decode_rows = JSONDecoder().decode

_sql = Statements("%s", repo=True)
_made: dict[tuple[Any, ...], str] = {}
_WORDS = """to_tsvector('english', left("title" || ' ' || "body", 20000))"""
_SEARCH = f"""SELECT "id" FROM "task" WHERE "repo" = %s AND {_WORDS} @@ to_tsquery('english', %s)
ORDER BY ts_rank({_WORDS}, to_tsquery('english', %s)) DESC, "id" LIMIT %s"""


class Read:
    """One question to the tables; the same for our guess and for the server.

    GET: `prefix` is the key. PICK: `prefix` are the values of the index's first column, at least one.
    SCAN: as in the port. SEARCH: `prefix` is the query for tasks, and answers are ids, not rows.
    """

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

    def answer(self, state: State) -> list[Any]:
        """What these rows say; those of a PICK in index order, so that two answers can be compared."""
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

    def plain(self, repo: str) -> tuple[str, list[int | str]]:
        """The command whose result is the answer's rows."""
        shape = ("plain", *self._shape())
        text = _made.get(shape)
        if text is None:
            text = _made[shape] = _numbered(self._select())
        return text, self._parameters(repo)

    def compared(self, repo: str, guess: list[Any]) -> tuple[str, list[int | str]]:
        """The command whose result is null if the answer is the guess, else the answer as JSON."""
        shape = ("compared", *self._shape())
        text = _made.get(shape)
        if text is None:
            text = _made[shape] = _numbered(self._comparison())
        if self.kind == PICK:
            guess = sorted(guess, key=self.table.key_of)
        return text, [*self._parameters(repo), _mark(self.values(guess))]

    def values(self, answer: list[Any]) -> list[Sequence[int | str]]:
        if self.kind == SEARCH:
            return [(number,) for number in answer]
        return [self.table.values(row) for row in answer]

    def of_values(self, values: Iterable[Sequence[Any]]) -> list[Any]:
        if self.kind == SEARCH:
            return [number for (number,) in values]
        row = self.table.row
        return [row(*columns) for columns in values]

    def of_result(self, result: PGresult) -> list[Any]:
        rows = self.of_values(_rows(result))
        return self.sorted(rows) if self.kind == PICK else rows

    def of_text(self, text: bytes) -> list[Any]:
        rows = self.of_values(_decode_rows(text.decode()))
        return self.sorted(rows) if self.kind == PICK else rows

    def _shape(self) -> tuple[Any, ...]:
        bounds = (self.low is None, self.high is None, self.limit > 0, self.reverse)
        length = 1 if self.kind == PICK else len(self.prefix)
        return (self.kind, self.table.name, self.index, length, *bounds)

    def _select(self) -> str:
        if self.kind == SEARCH:
            return _SEARCH
        if self.kind == GET:
            return _sql.get(self.table)
        if self.kind == PICK:
            # One statement for any number of values, or every number would have to be prepared.
            return _sql.pick(self.table, self.index, 1).replace("IN (%s)", "= ANY (%s)")
        has_low, has_high = self.low is not None, self.high is not None
        return _sql.scan(
            self.table, self.index, len(self.prefix), has_low, has_high, self.limit > 0, self.reverse
        )

    def _comparison(self) -> str:
        columns = ("id",) if self.kind == SEARCH else self.table.columns
        cells = ", ".join(f'f."{name}"' for name in columns)
        # A PICK promises no order; the others keep that of the inner SELECT.
        order = (
            " ORDER BY " + ", ".join(f'f."{name}"' for name in self.table.key) if self.kind == PICK else ""
        )
        answer = f"coalesce(jsonb_agg(jsonb_build_array({cells}){order}), '[]')::text"
        return f"SELECT lineclear_saw((SELECT {answer} FROM ({self._select()}) AS f), %s)"

    def _parameters(self, repo: str) -> list[int | str]:
        if self.kind == PICK:
            return [repo, _array(self.prefix)]
        bound: list[int | str] = [repo, *self.prefix]
        if self.kind == SEARCH:
            bound.append(self.prefix[0])
        if self.low is not None:
            bound.append(self.low)
        if self.high is not None:
            bound.append(self.high)
        if self.limit:
            bound.append(self.limit)
        return bound


def search(text: str, limit: int) -> Read | None:
    """The question for tasks that share words; None if there is no word in it."""
    words = "".join(ch if ch.isalnum() else " " for ch in text).split()[:64]
    query = " | ".join(f"'{word}'" for word in words)
    return Read(SEARCH, TASK, "words", (query,), limit=limit) if words else None


def _array(values: Key) -> str:
    """As PostgreSQL writes an array."""
    texts = [str(value).replace("\\", "\\\\").replace('"', '\\"') for value in values]
    return "{" + ",".join(f'"{text}"' for text in texts) + "}"


def _numbered(text: str) -> str:
    """`%s` one after the other to `$1`, `$2`, ..."""
    first, *rest = text.split("%s")
    return first + "".join(f"${number}{piece}" for number, piece in zip(count(1), rest, strict=False))


def _mark(values: list[Sequence[int | str]]) -> str:
    return sha256(encode_rows(values).encode("utf-8", "surrogatepass")).hexdigest() if values else _NOTHING


_NOTHING = sha256(b"[]").hexdigest()
_INT8 = 20  # PostgreSQL's number for the type bigint


def _rows(result: PGresult) -> list[list[int | str]]:
    is_int = [result.ftype(column) == _INT8 for column in range(result.nfields)]
    return [
        [_cell_of(result.get_value(line, column), number) for column, number in enumerate(is_int)]
        for line in range(result.ntuples)
    ]


def _cell_of(cell: bytes | None, is_int: bool) -> int | str:
    text = cell or b""  # no column is ever null
    return int(text) if is_int else text.decode()


# -- writes: whole sets of rows as one JSON text, in which positions are still stand-ins --------


def _is_int(table: Table[Any], column: str) -> bool:
    return str(table.row.__init__.__annotations__[column]) == "int"


def _cell(table: Table[Any], column: str, place: int) -> str:
    return f"(e->>{place})::bigint" if _is_int(table, column) else f"e->>{place}"


_GIVEN = "jsonb_array_elements(lineclear_settled($2, $3, $4)) AS e"


def _put(table: Table[Any]) -> str:
    names = ", ".join(f'"{name}"' for name in table.columns)
    cells = ", ".join(_cell(table, name, place) for place, name in enumerate(table.columns))
    insert = f'INSERT INTO "{table.name}" ("repo", {names}) SELECT $1, {cells} FROM {_GIVEN}'
    if table is LOG:
        return insert  # a position that is taken is an error, never an update
    key = ", ".join(f'"{name}"' for name in ("repo", *table.key))
    changes = ", ".join(f'"{name}" = excluded."{name}"' for name in table.columns if name not in table.key)
    return f"{insert} ON CONFLICT ({key}) DO {f'UPDATE SET {changes}' if changes else 'NOTHING'}"


def _delete(table: Table[Any]) -> str:
    same = " AND ".join(f't."{name}" = {_cell(table, name, place)}' for place, name in enumerate(table.key))
    return f'DELETE FROM "{table.name}" AS t USING {_GIVEN} WHERE t."repo" = $1 AND {same}'


PUT = {table.name: _put(table) for table in ALL}
DELETE = {table.name: _delete(table) for table in ALL}
