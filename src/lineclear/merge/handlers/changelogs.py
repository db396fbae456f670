"""Changelogs: sections by heading, with points below it; what a side adds under a heading stays there.

Points that both sides add come in the order left, right, or sorted if the list is sorted by number.
"""

from __future__ import annotations

import re
from collections import Counter

from lineclear.merge.handlers.by_key import as_text, merge_by_key
from lineclear.merge.handlers.keyed import KeyedEntry, Undecided
from lineclear.merge.lines import split_lines
from lineclear.merge.result import Labels, MergeResult

_HEADING = re.compile(r"(#{1,6})\s+(.*\S)")
_POINT = re.compile(r"( {0,3})[-*+]\s+\S")
_FENCE = re.compile(r"\s*(```|~~~)")


def merge(path: str, base: str, left: str, right: str, _labels: Labels) -> MergeResult | None:
    return merge_by_key(cut, as_text(path), base, left, right, "points under headings")


def cut(text: str) -> KeyedEntry:
    if not _HEADING.search(text):
        raise Undecided("no headings")
    root = KeyedEntry("", "", "", [])
    stack = [(0, root)]
    lead = ""
    counts: Counter[int] = Counter()
    for block in _blocks(text):
        found = _HEADING.match(block)
        if not block.strip():
            lead += block
            continue
        if found:
            level = len(found[1])
            while stack[-1][0] >= level:
                stack.pop()
            entry = KeyedEntry(f"# {found[2].casefold()}", lead, block, [])
            stack[-1][1].add(entry)
            stack.append((level, entry))
        else:
            parent = stack[-1][1]
            parent.add(KeyedEntry(_key(block, counts, id(parent)), lead, block))
        lead = ""
    root.tail = lead
    return root


def _key(block: str, counts: Counter[int], parent: int) -> str:
    """The text of a point; for other paragraphs their number, so that edits of the same one are compared."""
    if _POINT.match(block):
        return " ".join(block.split())
    counts[parent] += 1
    return f"text {counts[parent]}"


def _blocks(text: str) -> list[str]:
    """Headings, points with the text indented below them, blank lines, and whole paragraphs."""
    blocks: list[str] = []
    is_fenced = False
    for line in split_lines(text):
        if _FENCE.match(line):
            is_fenced = not is_fenced
            _grow(blocks, line)
        elif is_fenced:
            blocks[-1] += line
        elif not line.strip() or _HEADING.match(line) or _POINT.match(line):
            blocks.append(line)
        else:
            _grow(blocks, line)
    if is_fenced:
        raise Undecided("a fence does not end")
    return blocks


def _grow(blocks: list[str], line: str) -> None:
    """Add the line to the block before it; indented text after a blank line belongs to the point above."""
    if blocks and blocks[-1].strip() and not _HEADING.match(blocks[-1]):
        blocks[-1] += line
    elif line[:2] == "  " and len(blocks) > 1 and not blocks[-1].strip() and _POINT.match(blocks[-2]):
        blank = blocks.pop()
        blocks[-1] += blank + line
    else:
        blocks.append(line)
