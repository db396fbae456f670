"""SQL by statements: the key of a statement is what it creates, else its text; the order matters.

New tables, views, types, functions and indexes of both sides are put one after the other, each side's in its
own order, since neither can depend on the other's. Anything else that both add at one place is a conflict.
"""

from __future__ import annotations

import re

from lineclear.code.sql import CREATES
from lineclear.merge.handlers.by_key import as_text, merge_by_key
from lineclear.merge.handlers.keyed import KeyedEntry, Undecided
from lineclear.merge.result import Labels, MergeResult

_PARTS = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|(\$\w*\$).*?\1|;|[^;'"`$/-]+|.""", re.S
)


def merge(path: str, base: str, left: str, right: str, _labels: Labels) -> MergeResult | None:
    try:
        is_ordered = not _only_creates(base, left, right)
    except Undecided:
        return None
    return merge_by_key(
        lambda text: cut(text, is_ordered=is_ordered), as_text(path), base, left, right, "statements"
    )


def _plain_keys(text: str) -> list[str]:
    return [child.key for child in cut(text, is_ordered=True).children or []]


def _only_creates(base: str, left: str, right: str) -> bool:
    """Does every statement that a side adds create something with a new name?"""
    old = set(_plain_keys(base))
    added = [key for text in (left, right) for key in _plain_keys(text) if key not in old]
    return all(key.startswith("create ") for key in added)


def cut(text: str, *, is_ordered: bool) -> KeyedEntry:
    root = KeyedEntry("", "", "", [], is_ordered=is_ordered)
    assert root.children is not None
    statement = ""
    for part in _PARTS.finditer(text):
        statement += part[0]
        if part[0] == ";":
            root.children.append(_entry(statement))
            statement = ""
    if _code(statement):
        raise Undecided("the last statement does not end")
    root.tail = statement
    return root


def _entry(statement: str) -> KeyedEntry:
    lead = statement[: len(statement) - len(statement.lstrip())]
    own = statement[len(lead) :]
    plain = " ".join(_code(own).split())
    found = CREATES.match(plain)
    key = f"create {found[1]} {found[2]}".casefold() if found else plain
    return KeyedEntry(key, lead, own)


def _code(text: str) -> str:
    """The text without comments, which may come before a statement and belong to it."""
    return re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.S).strip()
