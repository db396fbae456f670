"""Changelogs in Markdown and reStructuredText: sections by heading, with points below it. What a side adds
under a heading stays there.

Points that both sides add come in the order left, right, or sorted if the list is sorted by number.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from lineclear.merge.handlers.by_key import as_text, merge_by_key
from lineclear.merge.handlers.keyed import KeyedEntry, Undecided
from lineclear.merge.lines import split_lines
from lineclear.merge.result import Labels, MergeResult

_HEADING = re.compile(r"(#{1,6})\s+(.*\S)")
_LINE = re.compile(r"([=\-~^\"'`*+#_.:])\1{2,}[ \t]*\n?")  # below a title, or above and below it
_LONGEST_HEADING = 1_000
_POINT = re.compile(r"( {0,3})[-*+]\s+\S")
_DIRECTIVE = re.compile(r"\.\. ")
_FENCE = re.compile(r"\s*(```|~~~)")


def merge(path: str, base: str, left: str, right: str, _labels: Labels) -> MergeResult | None:
    result = merge_by_key(cut, as_text(path), base, left, right, "points under headings")
    if result is not None:
        result.text = _as_spaced_before(result.text, [base, left, right])
    return result


def _as_spaced_before(merged: str, texts: list[str]) -> str:
    """Points or sections that met in this merge stand as far apart as those that stood together before: each
    of them may have been the first of its list, with other space above."""
    known: dict[tuple[str, str], str] = {}
    usual: dict[str, Counter[str]] = {}
    for text in reversed(texts):
        for kind, first, second in _neighbours(cut(text)):
            known[first.text, second.text] = second.lead
            usual.setdefault(kind, Counter())[second.lead] += 1
    root = cut(merged)
    for kind, first, second in _neighbours(root):
        common = usual[kind].most_common(1)[0][0] if kind in usual else "" if kind == "point" else second.lead
        second.lead = known.get((first.text, second.text), common)
    return root.write()


def _neighbours(entry: KeyedEntry) -> list[tuple[str, KeyedEntry, KeyedEntry]]:
    """Points, or sections of one level, that follow each other, with their kind."""
    children = entry.children or []
    kinds = [_kind(child.text) for child in children]
    rows = zip(pairwise(kinds), pairwise(children), strict=True)
    found = [(kind, *pair) for (kind, other), pair in rows if kind and kind == other]
    for child in children:
        found += _neighbours(child)
    return found


def _kind(block: str) -> str:
    found = _heading(block)
    return found[0] if found else "point" if _POINT.match(block) else ""


def cut(text: str) -> KeyedEntry:
    root = KeyedEntry("", "", "", [])
    stack = [(0, root)]
    lead = ""
    counts: Counter[int] = Counter()
    levels: dict[str, int] = {}
    for block in _blocks(text):
        found = _heading(block)
        if not block.strip():
            lead += block
            continue
        if found:
            kind, title = found
            level = len(kind) if block.startswith("#") else levels.setdefault(kind, len(levels) + 1)
            while stack[-1][0] >= level:
                stack.pop()
            entry = KeyedEntry(f"# {title.casefold()}", lead, block, [])
            stack[-1][1].add(entry)
            stack.append((level, entry))
        else:
            parent = stack[-1][1]
            parent.add(KeyedEntry(_key(block, counts, id(parent)), lead, block))
        lead = ""
    if len(stack) == 1:
        raise Undecided("no headings")
    root.tail = lead
    return root


def _heading(block: str) -> tuple[str, str] | None:
    """(how it is marked, its title)."""
    found = _HEADING.match(block)
    if found:
        return found[1], found[2]
    rows = split_lines(block) if len(block) < _LONGEST_HEADING else []
    if len(rows) == 2 and _is_title(rows[0]) and _LINE.fullmatch(rows[1]):
        return rows[1][0], rows[0].strip()
    if len(rows) == 3 and _LINE.fullmatch(rows[0]) and rows[0].strip() == rows[2].strip() and rows[1].strip():
        return f"{rows[0][0]} above", rows[1].strip()
    return None


def _is_title(line: str) -> bool:
    return line[:1].strip() != "" and not _POINT.match(line) and not _LINE.fullmatch(line)


def _key(block: str, counts: Counter[int], parent: int) -> str:
    """The text of a point or directive; for other paragraphs their number, so that edits of the same one are
    compared."""
    if _POINT.match(block) or _DIRECTIVE.match(block):
        return " ".join(block.split())
    counts[parent] += 1
    return f"text {counts[parent]}"


def _blocks(text: str) -> list[str]:
    """Headings, points with the text indented below them, blank lines, and whole paragraphs."""
    blocks: list[str] = []
    is_fenced = False
    lines = split_lines(text)
    at = 0
    while at < len(lines):
        line = lines[at]
        is_free = not blocks or not blocks[-1].strip() or _heading(blocks[-1]) is not None
        size = next(
            (
                size
                for size in (2, 3)
                if is_free and not is_fenced and _heading("".join(lines[at : at + size]))
            ),
            1,
        )
        if _FENCE.match(line) and size == 1:
            is_fenced = not is_fenced
            _grow(blocks, line)
        elif is_fenced:
            blocks[-1] += line
        elif size > 1 and not _HEADING.match(line):
            blocks.append("".join(lines[at : at + size]))
            at += size - 1
        elif not line.strip() or _HEADING.match(line) or _POINT.match(line) or _DIRECTIVE.match(line):
            blocks.append(line)
        else:
            _grow(blocks, line)
        at += 1
    if is_fenced:
        raise Undecided("a fence does not end")
    return blocks


def _grow(blocks: list[str], line: str) -> None:
    """Add the line to the block before it; indented text after a blank line belongs to the point above."""
    if blocks and blocks[-1].strip() and not _heading(blocks[-1]):
        blocks[-1] += line
    elif line[:2] == "  " and len(blocks) > 1 and not blocks[-1].strip() and _holds_text(blocks[-2]):
        blank = blocks.pop()
        blocks[-1] += blank + line
    else:
        blocks.append(line)


def _holds_text(block: str) -> bool:
    return bool(_POINT.match(block) or _DIRECTIVE.match(block))
