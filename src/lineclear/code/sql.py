"""What an SQL statement creates."""

from __future__ import annotations

import re

from lineclear.code.source_text import flat

CREATES = re.compile(
    r"create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|materialized\s+)*"
    r"(table|view|type|function|procedure|index|sequence|trigger|schema|extension|domain)\s+"
    r"(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?([\w.\"`\[\]-]+)",
    re.I,
)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)", re.S)
MAX_TABLES = 2_000
MAX_COLUMNS = 5_000  # characters


def tables_of(text: str) -> list[tuple[str, str, int]]:
    """(name, columns, row) of each table that is created to stay."""
    plain = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    found, row, counted = [], 0, 0
    for created in CREATES.finditer(plain):
        if created[1].lower() != "table" or re.search(r"\btemp", created[0], re.I):
            continue
        columns = plain[created.end() : created.end() + MAX_COLUMNS].partition(";")[0]
        row, counted = row + plain.count("\n", counted, created.start()), created.start()
        name = re.sub(r"[\"`\[\]]", "", created[2]).casefold()
        found.append((name, re.sub(r"\s*([(),])\s*", r"\1", flat(columns)).casefold(), row))
        if len(found) == MAX_TABLES:
            break
    return found
