"""Combines what both sides added at the same place, if order does not matter there and all names differ.

The additions must be whole members of one parent in each side's own tree; otherwise there is no result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.code.registrations import are_apart, element, registered
from lineclear.code.symbols import member_name, path_of
from lineclear.merge.handlers.keyed import sorted_here

if TYPE_CHECKING:
    from tree_sitter import Node

    from lineclear.code.languages.table import Language
    from lineclear.merge.engine import FileMerge
    from lineclear.merge.lines import Chunk

MAX_SLIDE_LINES = 12
NEIGHBOURS = 4
_SEPARATORS = (",", ";")
LEAST_HEAD = 3  # letters before an ending


@dataclass(frozen=True, slots=True)
class AddedMembers:
    """What one side added: the parent, the names, and the keys under which it registers something."""

    parent: str
    names: list[str]
    keys: list[str]


def unite_added(file: FileMerge, chunk: Chunk) -> str | None:
    """The text of both additions, left's first; None if the base of the hunk is not empty or they do not
    fit."""
    language = file.language
    if language is None or not language.members or chunk.b0 != chunk.b1:
        return None
    ours, theirs = file.left[chunk.l0 : chunk.l1], file.right[chunk.r0 : chunk.r1]
    for slide in range(MAX_SLIDE_LINES):
        if slide > chunk.b0 or not _can_slide(file, chunk, slide, ours, theirs):
            return None
        left = _added(file, language, 1, file.left, chunk.l0 - slide, chunk.l1 - slide)
        right = _added(file, language, 2, file.right, chunk.r0 - slide, chunk.r1 - slide)
        if left and right:
            if left.parent != right.parent or set(left.names) & set(right.names):
                return None
            if not are_apart(left.keys, right.keys) or _is_one_idea(ours, theirs, left.names, right.names):
                return None
            return _joined(file, chunk, slide)
    return None


def _is_one_idea(ours: list[str], theirs: list[str], left: list[str], right: list[str]) -> bool:
    """Did both sides add the same, except for the ending of a word in the name: `pad_rows`,
    `padding_rows`?"""
    if len(left) != 1 or len(right) != 1:
        return False
    named = [(left[0].strip(), "".join(ours)), (right[0].strip(), "".join(theirs))]
    (short, one), (long, other) = sorted(named, key=lambda pair: len(pair[0]))
    head = next(
        (place for place, pair in enumerate(zip(short, long, strict=False)) if len(set(pair)) > 1), len(short)
    )
    ending = long[head : head + len(long) - len(short)]
    if short[:head] + ending + short[head:] != long or not short[max(0, head - LEAST_HEAD) : head].isalpha():
        return False
    return head >= LEAST_HEAD and ending.islower() and ending.isalpha() and one == other.replace(long, short)


def _can_slide(file: FileMerge, chunk: Chunk, slide: int, ours: list[str], theirs: list[str]) -> bool:
    """Are the lines above equal to the last lines of both additions, so that both may be cut further up?"""
    above = file.base[chunk.b0 - slide : chunk.b0]
    before_left, before_right = (
        file.left[chunk.l0 - slide : chunk.l0],
        file.right[chunk.r0 - slide : chunk.r0],
    )
    if slide == 0:
        return True
    return above == before_left == before_right == ours[len(ours) - slide :] == theirs[len(theirs) - slide :]


def _joined(file: FileMerge, chunk: Chunk, slide: int) -> str:
    """Left's block, right's block, and the lines that slid, with blank lines between the blocks if they have
    some."""
    ours = file.left[chunk.l0 - slide : chunk.l1 - slide]
    theirs = file.right[chunk.r0 - slide : chunk.r1 - slide]
    tail = file.left[chunk.l1 - slide : chunk.l1]
    in_order = None if slide else _sorted_lines(file, chunk, ours, theirs)
    joined = in_order or [*ours, *_gap(ours, theirs, file, chunk), *_without_the_gap_of(ours, theirs), *tail]
    return "".join(joined[slide:]) if slide else "".join(joined)


def _without_the_gap_of(ours: list[str], theirs: list[str]) -> list[str]:
    """`theirs` without the blank lines at its start that `ours` already has at its end."""
    start = 0
    while start < min(len(ours), len(theirs)) and not (ours[-1 - start] + theirs[start]).strip():
        start += 1
    return theirs[start:]


def _sorted_lines(file: FileMerge, chunk: Chunk, ours: list[str], theirs: list[str]) -> list[str] | None:
    """Both additions sorted, if each member is one line and the list is sorted there; else None."""
    above = file.base[max(0, chunk.b0 - NEIGHBOURS) : chunk.b0]
    below = file.base[chunk.b0 : chunk.b0 + NEIGHBOURS]
    indent = ours[0][: len(ours[0]) - len(ours[0].lstrip())]
    around = [[line for line in part if _is_row(line, indent)] for part in (above, below)]
    if not all(_is_row(line, indent) for line in (*ours, *theirs)):
        return None
    return sorted_here(around[0], ours, theirs, around[1])


def _is_row(line: str, indent: str) -> bool:
    """Is it one member with its comma, with the same indentation as the others?"""
    return line.startswith(indent) and not line[len(indent) :][:1].isspace() and line.rstrip().endswith(",")


def _gap(ours: list[str], theirs: list[str], file: FileMerge, chunk: Chunk) -> list[str]:
    """The blank lines to put between the blocks: as many as above the first one, if it is long enough."""
    if len(ours) < 3 or not ours[-1].strip() or not theirs[0].strip():
        return []
    blanks = 0
    at = chunk.l0 - 1
    while at >= 0 and not file.left[at].strip():
        blanks, at = blanks + 1, at - 1
    return ["\n"] * blanks


def _added(
    file: FileMerge, language: Language, version: int, lines: list[str], first: int, last: int
) -> AddedMembers | None:
    root = file.root(version)
    if root is None or root.has_error:
        return None
    text = "".join(lines[first:last])
    if not text.strip():
        return None
    before = file.offset(version, first)
    head = len(text) - len(text.lstrip())
    start = before + len(text[:head].encode("utf-8", "surrogatepass"))
    end = before + len(text.rstrip().encode("utf-8", "surrogatepass"))
    parent = _parent_of(root, start, end, language)
    return None if parent is None else _named(parent, start, end, language)


def _parent_of(node: Node, start: int, end: int, language: Language) -> Node | None:
    """The node whose whole children make up the range, ignoring separators."""
    while True:
        touching = [c for c in node.children if c.start_byte < end and c.end_byte > start]
        outside = [c for c in touching if c.start_byte < start or c.end_byte > end]
        if not touching:
            return None
        if not outside:
            is_around = len(touching) == 1 and touching[0].type in language.members
            if is_around and node.type not in language.members:
                node = touching[0]
                continue
            return node
        if len(outside) > 1 or len(touching) > 1:
            return None
        node = outside[0]


def _named(parent: Node, start: int, end: int, language: Language) -> AddedMembers | None:
    allowed = language.members.get(parent.type)
    if allowed is None:
        return None
    names: list[str] = []
    keys: list[str] = []
    pending = False
    for child in parent.children:
        if child.end_byte <= start or child.start_byte >= end:
            continue
        if child.type in language.attached:
            pending = True
            continue
        if child.type in _SEPARATORS:
            continue
        name = member_name(language, child) if child.type in allowed else ""
        if not name:
            found = _registered(language, child, parent)
            if found is None:
                return None
            name, key = found
            keys.append(key)
        names.append(name)
        pending = False
    if pending or not names or len(set(names)) != len(names):
        return None
    return AddedMembers(path_of(parent), names, keys)


def _registered(language: Language, node: Node, parent: Node) -> tuple[str, str] | None:
    if node.type in language.members[parent.type]:
        return registered(language, node)
    return element(language, node, parent) if parent.type in language.registries else None
