"""Markdown by sections: a heading with everything below it, up to the next heading of its level.

Sections that both sides add stay separate; the text of one section is merged as text. Changelogs have their
own handler, which also knows points.
"""

from __future__ import annotations

import re

from lineclear.merge.handlers.by_key import as_text, merge_by_key
from lineclear.merge.handlers.keyed import KeyedEntry, Undecided
from lineclear.merge.lines import split_lines
from lineclear.merge.result import Labels, MergeResult

_HEADING = re.compile(r"(#{1,6})\s+(.*\S)")
_VERSION = re.compile(r"\d+\.\d+")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")


def merge(path: str, base: str, left: str, right: str, _labels: Labels) -> MergeResult | None:
    return merge_by_key(cut, as_text(path), base, left, right, "sections")


def cut(text: str) -> KeyedEntry:
    root = KeyedEntry("", "", "", [])
    stack = [(0, root)]
    lead = ""
    for heading, body in _sections(text):
        found = _HEADING.match(heading)
        if found:
            level = len(found[1])
            while stack[-1][0] >= level:
                stack.pop()
            entry = KeyedEntry(f"# {found[2].rstrip(' #').casefold()}", lead, heading, [])
            stack[-1][1].add(entry)
            stack.append((level, entry))
        lead = body[len(body.rstrip()) + 1 :] if body.strip() else body
        if body.strip():
            stack[-1][1].add(KeyedEntry("text", "", body[: len(body) - len(lead)]))
    if len(stack) == 1:
        raise Undecided("no headings")
    root.tail = lead
    _mark_ordered(root)
    return root


def _mark_ordered(entry: KeyedEntry) -> None:
    """Sections that are named after versions have an order that a merge cannot know."""
    keys = [child.key for child in entry.children or []]
    entry.is_ordered = any(_VERSION.search(key) for key in keys if key.startswith("#"))
    for child in entry.children or []:
        _mark_ordered(child)


def _sections(text: str) -> list[tuple[str, str]]:
    """(heading, text below it); the first has no heading. Headings inside a code fence do not count."""
    found: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in split_lines(text):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        if not fence and _HEADING.match(line):
            found.append((line, []))
        else:
            found[-1][1].append(line)
    if fence:
        raise Undecided("a fence does not end")
    return [(heading, "".join(body)) for heading, body in found]
