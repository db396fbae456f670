"""The names of events that a program declares. A listener declares none: many may listen to one event."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.source_text import SourceText, string_in
from lineclear.code.variables import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator

_HINT = re.compile(r"(?i)event")
_REGISTERED = re.compile(
    r"(?<![\w.])(?:(\w+)\.)?(?:register|create|define|declare)(?:_event|Event)(?:_?[tT]ype|_?[nN]ame)?"
    r"\s*(<[^<>()\n]{0,200}>)?\(\s*(?=[\"'`])"
)
_ASSIGNED = re.compile(r"(\w+)(?:\s*:[^=\n]{1,80})?\s*=\s*(?:await\s+)?$")
_CONSTANT = re.compile(
    r"(?<![\w.])(EVENT_[A-Z0-9_]+|[A-Z0-9_]+_EVENT|Event[A-Z]\w*)(?:\s*:[^=\n]{1,60}|\s+\w+)?\s*=\s*"
    r"[\"']([A-Za-z]\w*(?:[.:/-][\w.:/-]+|_\w+))[\"']"
)
_NAME = r"\w*(?:EVENTS|Events|EVENT_(?:NAME|TYPE|KIND)S?|Event(?:Name|Type|Kind)s?)\b"
_REGISTRY = re.compile(
    rf"(?<![\w.])(?:(?:class|enum|object|module)\s+{_NAME}[^\n{{=;]{{0,100}}(?:\{{|:[ \t]*\n)"
    rf"|(?=[A-Z]){_NAME}(?:\s*:[^=\n{{]{{1,80}})?\s*=\s*(?:[\w.]{{1,40}}\()?\{{)"
)
_ENTRY = re.compile(
    r"""(["']?)([\w.:/-]+)\1\s*(?::|=>|=|\()\s*(?:["']([A-Za-z][\w.:/-]*)["']|([A-Za-z_][\w.]*)\s*(?:[,}\n]|\Z))"""
)
MAX_ENTRIES = 2_000
MAX_BODY = 20_000  # characters of a registry


def events_of(path: str, text: str) -> list[tuple[str, str, int]]:
    """(name, what it is declared as, row)."""
    if not PROGRAMS.fullmatch(path) or not _HINT.search(text):
        return []
    source = SourceText(path, text)
    found = [*_registered(source), *_constants(source)]
    return [(name, meaning, source.row(place)) for name, meaning, place in found[:MAX_ENTRIES]]


def _registered(source: SourceText) -> Iterator[tuple[str, str, int]]:
    for found in source.find(_REGISTERED):
        arguments = source.arguments(found.end())
        name = string_in(arguments[0]) if arguments else None
        if name and found[1] != "document":
            line = source.text[source.text.rfind("\n", 0, found.start()) + 1 : found.start()][-200:]
            assigned = _ASSIGNED.search(line)
            parts = (assigned[1] if assigned else "", found[2] or "", ", ".join(arguments[1:]))
            yield name, " ".join(filter(None, parts)), found.start()


def _constants(source: SourceText) -> Iterator[tuple[str, str, int]]:
    for found in source.find(_CONSTANT):
        yield found[2], found[1], found.start()
    end = 0
    for found in source.find(_REGISTRY):
        if found.start() < end:
            continue  # inside another registry
        start, end = _body(source, found)
        for entry in _ENTRY.finditer(source.text, start, end):
            key, text, value = entry[2], entry[3], entry[4]
            if entry[1] and re.search(r"[.:/-]", key):
                yield key, text or value, entry.start()
            elif text:
                yield text, key, entry.start()


def _body(source: SourceText, found: re.Match[str]) -> tuple[int, int]:
    if found[0].endswith("{"):
        block = source.block_from(found.end() - 1)
        start, end = block or (found.end(), found.end())
        return start, min(end, start + MAX_BODY)
    # Python: the lines that stand further to the right.
    line = source.text.rfind("\n", 0, found.start()) + 1
    indent = re.match(r"[ \t]*", source.text[line : found.start()])
    depth = len(indent[0]) if indent else 0
    end = found.end()
    for row in source.text[end : end + MAX_BODY].split("\n"):
        if row.strip() and len(row) - len(row.lstrip()) <= depth:
            break
        end += len(row) + 1
    return found.end(), end
