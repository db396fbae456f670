"""YAML mappings by key, cut by indentation. Sequences, block texts and flow values are merged as text.

Templates (lines that start with braces), several documents and tabs are left to the rules for lines.
"""

from __future__ import annotations

import re
from itertools import pairwise

from lineclear.merge.handlers.by_key import DEEPEST, as_text, merge_by_key
from lineclear.merge.handlers.keyed import KeyedEntry, Undecided
from lineclear.merge.handlers.pieces import Pieces
from lineclear.merge.lines import split_lines
from lineclear.merge.result import Labels, MergeResult

_KEY = re.compile(
    r"""( *)("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s#\-?:{}\[\],&*!|>%@`"'][^\n]*?|-[^\s:][^\n]*?)"""
    r"""\s*:(?=\s|$)(.*)"""
)
_ITEM = re.compile(r" *- ")
_REFUSED = re.compile(r"^\s*\{[{%]|^\s*\t|^\.\.\.\s*$|^<<\s*:|^\s+<<\s*:", re.M)
_REFUSED_SIGNS = ("{{", "{%", "\t", "...", "<<")  # a text without these cannot match `_REFUSED`
# The lines before a key of the outermost mapping, the key, and the rows that belong to it.
_OUTERMOST = re.compile(
    r"(?:(?: *(?:#[^\n]*)?|---[^\n]*)\n)*+(?!---)(?:[^\s#-]|-\S)[^\n]*(?:\n|\Z)"
    r"(?:(?: *\n|#[^\n]*\n)*+(?: +[^ \n]|-(?=[ \n]|\Z))[^\n]*(?:\n|\Z))*+"
)


def merge(path: str, base: str, left: str, right: str, _labels: Labels) -> MergeResult | None:
    cut = Pieces(_part, _read).cut
    return merge_by_key(cut, as_text(path), base, left, right, is_exact=True, rule="keys")


class _Row:
    """One line with the facts that are needed at every depth."""

    def __init__(self, line: str) -> None:
        shown = line.lstrip(" ")
        self.line = line
        self.indent = len(line) - len(shown)
        self.is_empty = not shown.strip() or shown.lstrip().startswith("#")
        self.is_item = shown.startswith("-") and not shown[1:2].strip()


def _part(text: str) -> list[str]:
    """Split before each key of the outermost mapping and the comments above it."""
    if any(sign in text for sign in _REFUSED_SIGNS) and _REFUSED.search(text):
        raise Undecided("a form of YAML that is not cut by key")
    if text.startswith("---") + text.count("\n---") > 1:
        raise Undecided("several documents")
    ends = [0]
    while found := _OUTERMOST.match(text, ends[-1]):
        ends.append(found.end())
    return [*(text[start:end] for start, end in pairwise(ends)), text[ends[-1] :]]


def _read(text: str, _is_whole: bool) -> tuple[list[KeyedEntry], str]:
    return _mapping([_Row(line) for line in split_lines(text)], 0, 0)


def _mapping(rows: list[_Row], indent: int, depth: int) -> tuple[list[KeyedEntry], str]:
    if depth > DEEPEST:
        raise Undecided("nested too deep")
    entries: list[KeyedEntry] = []
    lead, number = "", 0
    while number < len(rows):
        row = rows[number]
        if row.is_empty or (depth == 0 and row.line.startswith("---")):
            lead += row.line
            number += 1
            continue
        found = _KEY.match(row.line)
        if not found or len(found[1]) != indent:
            raise Undecided("not a mapping")
        end = _end_of_entry(rows, number + 1, indent)
        entries.append(_entry(found, lead, rows[number:end], indent, depth))
        lead, number = "", end
    return entries, lead


def _end_of_entry(rows: list[_Row], number: int, indent: int) -> int:
    """The row after the last one of the entry: deeper rows, or a sequence at its own indent."""
    end = number
    while number < len(rows):
        row = rows[number]
        number += 1
        if row.is_empty:
            if row.indent > indent and row.line.strip():
                end = number
        elif row.indent < indent or (row.indent == indent and not row.is_item):
            break
        else:
            end = number
    return end


def _entry(found: re.Match[str], lead: str, rows: list[_Row], indent: int, depth: int) -> KeyedEntry:
    key, value = found[2], found[3].strip()
    first = next((row for row in rows[1:] if not row.is_empty), None)
    is_plain = not value or value.startswith("#")
    if (
        is_plain
        and first
        and first.indent > indent
        and _KEY.match(first.line)
        and not _ITEM.match(first.line)
    ):
        children, tail = _mapping(rows[1:], first.indent, depth + 1)
        return KeyedEntry(key, lead, rows[0].line, children, tail)
    return KeyedEntry(key, lead, "".join(row.line for row in rows))
