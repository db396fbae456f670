"""Edits JSON with comments and trailing commas as text: only inserts, and removes what was inserted.

Everything else stays byte for byte: comments, order, indentation, line ends. Raises `UnreadableJson` with the
reason if a text cannot be edited.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Insertion = tuple[int, str]

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null")
_INDENT = re.compile(r"\n([ \t]+)[^ \t\r\n]")
_MOST_DEPTH = 60


class UnreadableJson(Exception):
    """Why a text cannot be edited safely."""


class JsonNode:
    """A value in the text. `items`: (key, node) of each member of an object, ("", node) in an array."""

    def __init__(self, kind: str, start: int) -> None:
        self.kind, self.start, self.end = kind, start, start
        self.items: list[tuple[str, JsonNode]] = []
        self.keys_at: list[int] = []
        self.value: Any = None

    def member(self, key: str) -> JsonNode | None:
        return next((node for name, node in self.items if name == key), None)

    def plain(self) -> Any:
        if self.kind == "object":
            return {key: node.plain() for key, node in self.items}
        if self.kind == "array":
            return [node.plain() for _, node in self.items]
        return self.value


def parse(text: str) -> JsonNode:
    """Parse the text into nodes that know their places. An empty text is not JSON."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    node = _value(text, start, 0)
    if _skip(text, node.end) != len(text):
        raise UnreadableJson(f"there is text after its end ({_place(text, node.end)})")
    return node


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _place(text: str, at: int) -> str:
    line = text.count("\n", 0, at) + 1
    return f"line {line}, column {at - text.rfind(chr(10), 0, at)}"


def _value(text: str, at: int, depth: int) -> JsonNode:
    if depth > _MOST_DEPTH:
        raise UnreadableJson("it is nested too deeply")
    first = text[at : at + 1]
    if first in ("{", "["):
        return _container(text, at, depth, "object" if first == "{" else "array")
    found = (_STRING if first == '"' else _PLAIN).match(text, at)
    if found is None:
        raise UnreadableJson(f"it is not valid JSON at {_place(text, at)}")
    node = JsonNode("plain", at)
    node.end = found.end()
    node.value = _decoded(text, found.group(), at)
    return node


def _decoded(text: str, piece: str, at: int) -> Any:
    try:
        return json.loads(piece)
    except ValueError:
        raise UnreadableJson(f"it is not valid JSON at {_place(text, at)}") from None


def _container(text: str, at: int, depth: int, kind: str) -> JsonNode:
    node, close = JsonNode(kind, at), "}" if kind == "object" else "]"
    at = _skip(text, at + 1)
    while text[at : at + 1] != close:
        key = ""
        node.keys_at.append(at)
        if kind == "object":
            key, at = _key(text, at, node)
        child = _value(text, at, depth + 1)
        node.items.append((key, child))
        at = _skip(text, child.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != close:
            raise UnreadableJson(f"it is not valid JSON at {_place(text, at)}")
    node.end = at + 1
    return node


def _key(text: str, at: int, node: JsonNode) -> tuple[str, int]:
    found = _STRING.match(text, at)
    colon = _skip(text, found.end()) if found else at
    if found is None or text[colon : colon + 1] != ":":
        raise UnreadableJson(f"it is not valid JSON at {_place(text, at)}")
    key: str = _decoded(text, found.group(), at)
    if node.member(key) is not None:
        raise UnreadableJson(f'the key "{key[:40]}" is given twice')
    return key, _skip(text, colon + 1)


# -- inserting --------------------------------------------------------------------------------


class Style:
    """The style of a text: its line end, and one step of indentation."""

    def __init__(self, text: str) -> None:
        self.newline = "\r\n" if "\r\n" in text else "\n"
        found = _INDENT.search(text)
        self.step = found.group(1) if found else "  "

    def write(self, value: Any, indent: str) -> str:
        lines = json.dumps(value, ensure_ascii=False, indent=self.step).split("\n")
        return (self.newline + indent).join(lines)


def insert(text: str, path: Sequence[str], value: Any) -> list[Insertion]:
    """The insertions that append `value` to the array at `path`, and create missing containers."""
    node, missing = _reach(text, path[:-1])
    child = node.member(path[-1]) if not missing else None
    if child is None:
        return _append(text, node, Style(text), *_nested([*missing, path[-1]], [value]))
    if child.kind != "array":
        raise UnreadableJson(f'"{".".join(path)}" is not an array')
    return _append(text, child, Style(text), "", value)


def put(text: str, path: Sequence[str], value: Any) -> list[Insertion]:
    """The insertions that add `value` as the member at `path`, which must not exist yet."""
    node, missing = _reach(text, path[:-1])
    if not missing and node.member(path[-1]) is not None:
        raise UnreadableJson(f'"{".".join(path)}" already exists')
    return _append(text, node, Style(text), *_nested([*missing, path[-1]], value))


def _reach(text: str, path: Sequence[str]) -> tuple[JsonNode, list[str]]:
    """The deepest existing object on the path, and the names that are missing below it."""
    node = parse(text)
    if node.kind != "object":
        raise UnreadableJson("it is not an object")
    for place, key in enumerate(path):
        child = node.member(key)
        if child is None:
            return node, list(path[place:])
        if child.kind != "object":
            raise UnreadableJson(f'"{".".join(path[: place + 1])}" is not an object')
        node = child
    return node, []


def _nested(names: Sequence[str], value: Any) -> tuple[str, Any]:
    for name in reversed(names[1:]):
        value = {name: value}
    return names[0], value


def _append(text: str, node: JsonNode, style: Style, key: str, value: Any) -> list[Insertion]:
    """Append as the last item: on the same line if the container is on one line, else on lines of its own."""
    name = json.dumps(key, ensure_ascii=False) + ": " if key else ""
    inside = text[node.start + 1 : node.end - 1]
    outer = _indent_of(text, node.start)
    inner = outer + style.step
    written = style.newline + inner + name + style.write(value, inner)
    if not node.items:
        is_open = "\n" in inside
        return [(node.start + 1, written + ("" if is_open else style.newline + outer))]
    last = node.items[-1][1]
    if "\n" not in text[node.start : node.keys_at[0]]:
        return [(last.end, f", {name}{json.dumps(value, ensure_ascii=False)}")]
    inner = _indent_of(text, node.keys_at[-1])
    written = style.newline + inner + name + style.write(value, inner)
    after = _end_of_comment(text, last.end)
    return [(last.end, "," + written)] if after == last.end else [(last.end, ","), (after, written)]


def _indent_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _end_of_comment(text: str, at: int) -> int:
    """The end of a comment that follows on the same line, so that it stays with its item."""
    end = text.find("\n", at)
    rest = text[at : end if end >= 0 else len(text)].rstrip("\r")
    if rest.startswith(",") or not rest.lstrip(" \t").startswith("//"):
        return at
    return at + len(rest)


class JsonPatch:
    """A text that only grows, and the inserted pieces, by which `shrink` can restore it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces: list[Insertion] = []

    def grow(self, insertions: Sequence[Insertion]) -> None:
        for at, piece in sorted(insertions, reverse=True):
            self.text = self.text[:at] + piece + self.text[at:]
            self._note(at, piece)

    def _note(self, at: int, piece: str) -> None:
        for place, (start, known) in enumerate(self.pieces):
            if start < at < start + len(known):
                self.pieces[place] = (start, known[: at - start] + piece + known[at - start :])
                self.pieces = [(s + len(piece) if s > at else s, t) for s, t in self.pieces]
                return
        self.pieces = [(s + len(piece) if s >= at else s, t) for s, t in self.pieces]
        self.pieces.append((at, piece))


def shrink(text: str, pieces: Sequence[Insertion]) -> str | None:
    """The text without these pieces; None if one is not where it was inserted."""
    for at, piece in sorted(pieces, reverse=True):
        if text[at : at + len(piece)] != piece:
            return None
        text = text[:at] + text[at + len(piece) :]
    return text


# -- removing ---------------------------------------------------------------------------------


def strip(text: str, path: Sequence[str | int], is_ours: Callable[[Any], bool]) -> str:
    """The text without those items of the array at `path` that are ours."""
    while True:
        node = node_at(parse(text), path)
        if node is None or node.kind != "array":
            return text
        place = next((at for at, (_, item) in enumerate(node.items) if is_ours(item.plain())), -1)
        if place < 0:
            return text
        text = _without(text, node, place)


def drop(text: str, path: Sequence[str], is_ours: Callable[[Any], bool]) -> str:
    """The text without the member at `path`, if that is ours."""
    parent = node_at(parse(text), path[:-1])
    if parent is None or parent.kind != "object":
        return text
    for place, (name, node) in enumerate(parent.items):
        if name == path[-1] and is_ours(node.plain()):
            return _without(text, parent, place)
    return text


def is_empty(value: Any) -> bool:
    """For `drop`: is this an empty object or array?"""
    return value in ({}, [])


def node_at(node: JsonNode | None, path: Sequence[str | int]) -> JsonNode | None:
    for key in path:
        if node is None:
            return None
        if isinstance(key, int):
            node = node.items[key][1] if node.kind == "array" and key < len(node.items) else None
        else:
            node = node.member(key) if node.kind == "object" else None
    return node


def _without(text: str, node: JsonNode, place: int) -> str:
    """The reverse of `_append`: remove an item with the comma before it, the first with the one after."""
    start, end = node.keys_at[place], node.items[place][1].end
    if place > 0:
        comma = _skip(text, node.items[place - 1][1].end)
        gap = text[comma + 1 : start]
        kept = gap.rstrip(" \t\r\n")
        return text[:comma] + kept + text[end:]
    after = _skip_blank(text, end)
    if text[after : after + 1] == ",":
        return text[: node.start + 1] + text[after + 1 :]
    rest = text[end : node.end - 1]
    return text[: node.start + 1] + (rest if rest.strip() else "") + text[node.end - 1 :]


def _skip_blank(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\r", "\n") and at < len(text):
        at += 1
    return at
