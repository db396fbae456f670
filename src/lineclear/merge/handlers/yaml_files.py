"""YAML mappings by key, cut by indentation. Sequences, block texts and flow values are merged as text.

Templates (lines that start with braces), several documents and tabs are left to the rules for lines.
"""

from __future__ import annotations

import re

from lineclear.merge.handlers.by_key import DEEPEST, as_text, merge_by_key
from lineclear.merge.handlers.keyed import Entry, Undecided
from lineclear.merge.result import Labels, MergeResult

_KEY = re.compile(
    r"""( *)("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s#\-?:{}\[\],&*!|>%@`"'][^\n]*?|-[^\s:][^\n]*?)"""
    r"""\s*:(?=\s|$)(.*)"""
)
_REFUSED = re.compile(r"^\s*\{[{%]|^\s*\t|^\.\.\.\s*$|^<<\s*:|^\s+<<\s*:", re.M)


def merge(path: str, base: str, left: str, right: str, _labels: Labels) -> MergeResult | None:
    return merge_by_key(cut, as_text(path), base, left, right, "keys")


def cut(text: str) -> Entry:
    if _REFUSED.search(text) or len(re.findall(r"^---", text, re.M)) > 1:
        raise Undecided("a form of YAML that is not cut by key")
    lines = text.splitlines(True)
    children, tail = _mapping(lines, 0, 0)
    return Entry("", "", "", children, tail)


def _mapping(lines: list[str], indent: int, depth: int) -> tuple[list[Entry], str]:
    if depth > DEEPEST:
        raise Undecided("nested too deep")
    entries: list[Entry] = []
    lead, number = "", 0
    while number < len(lines):
        line = lines[number]
        if _is_empty(line) or (depth == 0 and line.startswith("---")):
            lead += line
            number += 1
            continue
        found = _KEY.match(line)
        if not found or len(found[1]) != indent:
            raise Undecided("not a mapping")
        end = _end_of_entry(lines, number + 1, indent)
        entries.append(_entry(found, lead, lines[number:end], indent, depth))
        lead, number = "", end
    return entries, lead


def _is_empty(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _end_of_entry(lines: list[str], number: int, indent: int) -> int:
    """Behind the last line that belongs to the entry: deeper, or a sequence at its own indent."""
    end = number
    while number < len(lines):
        line = lines[number]
        number += 1
        if _is_empty(line):
            if line.strip() and _indent(line) > indent:
                end = number
            continue
        if _indent(line) < indent or (_indent(line) == indent and not re.match(r" *-(\s|$)", line)):
            break
        end = number
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _entry(found: re.Match[str], lead: str, lines: list[str], indent: int, depth: int) -> Entry:
    key, value = found[2], found[3].strip()
    first = next((line for line in lines[1:] if not _is_empty(line)), "")
    is_plain = not value or value.startswith("#")
    if is_plain and first and _indent(first) > indent and _KEY.match(first) and not re.match(r" *- ", first):
        children, tail = _mapping(lines[1:], _indent(first), depth + 1)
        return Entry(key, lead, lines[0], children, tail)
    return Entry(key, lead, "".join(lines))
