"""The SQL of this engine: questions, and writes of whole sets of rows.

Parameter $1 is always the repo. The plain SELECTs come from store/sql.py, as for SQLite.
"""

from __future__ import annotations

from itertools import count
from json import JSONEncoder
from typing import TYPE_CHECKING

from lineclear.core.log.queries import COUNT, GET, PICK, SEARCH, Question
from lineclear.core.log.tables import ALL, LOG, TASK
from lineclear.store.sql import Statements, scan_values, search_words

if TYPE_CHECKING:
    from typing import Any

    from psycopg.pq.abc import PGresult

    from lineclear.core.log.tables import Table
    from lineclear.store.postgres.wire import Command

    Key = tuple[int | str, ...]

BEGIN = 'SELECT "head", "now_ns" FROM lineclear_begin($1, $2, $3)'
END = "SELECT lineclear_end($1, $2, $3)"
FLUSH = "SELECT lineclear_flush()"
BEGIN_WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED"
BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

encode_rows = JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode

_sql = Statements("%s", repo=True)
_made: dict[tuple[Any, ...], str] = {}
_WORDS = """to_tsvector('english', left("title" || ' ' || "body", 20000))"""
_SEARCH = f"""SELECT "id" FROM "task" WHERE "repo" = %s AND {_WORDS} @@ to_tsquery('english', %s)
ORDER BY ts_rank({_WORDS}, to_tsquery('english', %s)) DESC, "id" LIMIT %s"""


def command_of(question: Question, repo: str) -> Command:
    """The command that answers a question."""
    bounds = (question.low is None, question.high is None, question.limit > 0, question.reverse)
    length = 1 if question.kind == PICK else len(question.prefix)
    shape = (question.kind, question.table.name, question.index, length, *bounds)
    text = _made.get(shape)
    if text is None:
        text = _made[shape] = _numbered(_select(question))
    return text, _parameters(question, repo)


def rows_of(question: Question, result: PGresult) -> list[Any]:
    found = _rows(result)
    if question.kind in (SEARCH, COUNT):
        return [number for (number,) in found]
    row: Any = question.table.row
    rows = [row(*columns) for columns in found]
    return question.sorted(rows) if question.kind == PICK else rows


def _select(question: Question) -> str:
    table, index = question.table, question.index
    if question.kind == SEARCH:
        return _SEARCH
    if question.kind == GET:
        return _sql.get(table)
    if question.kind == COUNT:
        return _sql.count(table, index, len(question.prefix))
    if question.kind == PICK:
        # One statement for any number of values: otherwise each number would need its own prepared one.
        return _sql.pick(table, index, 1).replace("IN (%s)", "= ANY (%s)")
    has_low, has_high = question.low is not None, question.high is not None
    return _sql.scan(
        table, index, len(question.prefix), has_low, has_high, question.limit > 0, question.reverse
    )


def _parameters(question: Question, repo: str) -> list[int | str]:
    if question.kind == PICK:
        return [repo, _array(question.prefix)]
    prefix = question.prefix * 2 if question.kind == SEARCH else question.prefix
    return [repo, *scan_values(prefix, question.low, question.high, question.limit)]


def search(text: str, limit: int) -> Question | None:
    """The question for tasks that share words with a text; None if the text has no words."""
    words = search_words(text)
    query = " | ".join(f"'{word}'" for word in words)
    return Question(SEARCH, TASK, "words", (query,), limit=limit) if words else None


def _array(values: Key) -> str:
    """An array as PostgreSQL writes it."""
    texts = [str(value).replace("\\", "\\\\").replace('"', '\\"') for value in values]
    return "{" + ",".join(f'"{text}"' for text in texts) + "}"


def _numbered(text: str) -> str:
    """Replace each `%s` in turn by `$1`, `$2`, ..."""
    first, *rest = text.split("%s")
    return first + "".join(f"${number}{piece}" for number, piece in zip(count(1), rest, strict=False))


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


# -- writes: whole sets of rows as one JSON text ---------------------------------------------------


def _is_int(table: Table[Any], column: str) -> bool:
    return str(table.row.__init__.__annotations__[column]) == "int"


def _cell(table: Table[Any], column: str, place: int) -> str:
    return f"(e->>{place})::bigint" if _is_int(table, column) else f"e->>{place}"


_GIVEN = "jsonb_array_elements($2::jsonb) AS e"


def _put(table: Table[Any]) -> str:
    names = ", ".join(f'"{name}"' for name in table.columns)
    cells = ", ".join(_cell(table, name, place) for place, name in enumerate(table.columns))
    insert = f'INSERT INTO "{table.name}" ("repo", {names}) SELECT $1, {cells} FROM {_GIVEN}'
    if table is LOG:
        return insert  # an existing position is an error, never an update
    key = ", ".join(f'"{name}"' for name in ("repo", *table.key))
    changes = ", ".join(f'"{name}" = excluded."{name}"' for name in table.columns if name not in table.key)
    return f"{insert} ON CONFLICT ({key}) DO {f'UPDATE SET {changes}' if changes else 'NOTHING'}"


def _delete(table: Table[Any]) -> str:
    same = " AND ".join(f't."{name}" = {_cell(table, name, place)}' for place, name in enumerate(table.key))
    return f'DELETE FROM "{table.name}" AS t USING {_GIVEN} WHERE t."repo" = $1 AND {same}'


PUT = {table.name: _put(table) for table in ALL}
DELETE = {table.name: _delete(table) for table in ALL}
