"""Merges a hunk by whole entities: functions, types, fields, statements of one parent, matched by kind and
name.

The hunk is widened until it cuts no entity of any version and contains both ends of every move. Then each
entity is merged separately: if one side changed it, that side's is taken; if one side removed it and the
other changed it, there is no result; if both changed it, the rules for text decide. New entities of both
sides at the same place are combined only if their order does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from lineclear.code.nodes import flat_text
from lineclear.code.symbols import member_name, path_of
from lineclear.merge.diff import Steps
from lineclear.merge.exact import one_holds_the_other
from lineclear.merge.handlers.keyed import KeyedEntry, RivalChanges, Undecided, merge_entries
from lineclear.merge.lines import Chunk
from lineclear.merge.renames import match_renamed

if TYPE_CHECKING:
    from tree_sitter import Node

    from lineclear.code.languages.table import Language
    from lineclear.merge.engine import FileMerge
    from lineclear.merge.handlers.keyed import Choose

MAX_UNITS = 2_000
MAX_MOVES = 5  # how often the place grows to follow moved entities


@dataclass(slots=True, eq=False)
class Entity:
    """One entity with its comments, as rows of its file (the last one excluded). `is_free`: its order among
    the others does not matter."""

    first: int
    last: int
    kind: str
    key: str
    is_free: bool


class Members:
    """The entities of one parent in one version, and the rows at which one of them would be cut."""

    def __init__(self, units: list[Entity]) -> None:
        self.units = units
        self.inner_rows = {row for unit in units for row in range(unit.first + 1, unit.last)}
        self.by_key = {unit.key: unit for unit in units}


def merge_entities(file: FileMerge, chunk: Chunk, steps: Steps) -> tuple[Chunk, str] | None:
    """The widened place and its text, or None."""
    language = file.language
    members = _members_around(file, chunk, language) if language and language.members else None
    if members is None:
        return None
    wide = _place_of(file.chunks, chunk, members)
    if wide is None:
        return None
    inside = _inside(members, wide)
    if _is_one_unit(inside) or not steps.spend(wide.b1 - wide.b0 + wide.l1 - wide.l0 + wide.r1 - wide.r0):
        return None
    text = _merge(file, inside, wide)
    return None if text is None else (wide, text)


def _inside(members: list[Members], wide: Chunk) -> list[list[Entity]]:
    return [
        [unit for unit in part.units if start <= unit.first and unit.last <= end]
        for part, (start, end) in zip(members, wide.spans(), strict=True)
    ]


# -- the entities of one version -----------------------------------------------------------------


def _members_around(file: FileMerge, chunk: Chunk, language: Language) -> list[Members] | None:
    """For each version, the members of the innermost parent around the hunk; None unless it is the same
    parent in all three."""
    found: list[Members] = []
    paths = set()
    for version, (first, last) in enumerate(chunk.spans()):
        root = file.root(version)
        if root is None or root.has_error:
            return None
        parent = _parent_around(root, first, last, language)
        members = None if parent is None else _members_of(file, version, parent, language)
        if parent is None or members is None:
            return None
        paths.add(path_of(parent))
        found.append(members)
    return found if len(paths) == 1 else None


def _members_of(file: FileMerge, version: int, parent: Node, language: Language) -> Members | None:
    """Cached in the file: several hunks of a file often have the same parent."""
    key = (version, parent.type, parent.start_byte)
    if key not in file.members:
        units = _units_of(parent, language)
        file.members[key] = None if units is None else Members(units)
    return file.members[key]


def _parent_around(root: Node, first: int, last: int, language: Language) -> Node | None:
    """The innermost node with members whose first and last row are outside the rows."""
    node = root.descendant_for_point_range((first, 0), (max(first, last - 1), 0))
    while node is not None:
        if node.type in language.members and (node == root or _is_around(node, first, last)):
            return node
        node = node.parent
    return None


def _is_around(node: Node, first: int, last: int) -> bool:
    """Does the node enclose the rows? A block without brackets begins with its first member, so the rows may
    include its first row."""
    start, end = _rows(node)
    if node.type in ("block", "body_statement"):
        return start <= first and last <= end and first < end
    return start < first + (first == last and start < first) and last < end


def _rows(node: Node) -> tuple[int, int]:
    """(first row, row after the last); a node may end with the line feed."""
    end = node.end_point[0] + (1 if node.end_point[1] or node.end_point[0] == node.start_point[0] else 0)
    return node.start_point[0], end


def _units_of(parent: Node, language: Language) -> list[Entity] | None:
    """The entities of a parent; None if two share a row or commas separate them: lines are not whole then."""
    units: list[Entity] = []
    waiting: Entity | None = None
    allowed = language.members[parent.type]
    if len(parent.children) > MAX_UNITS or any(child.type == "," for child in parent.children):
        return None
    for child in parent.named_children:
        first, last = _rows(child)
        before = units[-1].last if units else -1
        if child.type in language.attached:
            if units and first < before:
                continue  # after the member, on its last row
            if waiting is not None and first <= waiting.last:
                waiting.last = last
            else:
                units += [waiting] if waiting is not None else []
                waiting = Entity(first, last, child.type, f"= {flat_text(child)}", False)
            continue
        if waiting is not None and waiting.last < first:
            units.append(waiting)
            waiting = None
        if first < (units[-1].last if units else -1):
            return None
        units.append(_unit(child, first, last, waiting, allowed, language))
        waiting = None
    return [*units, waiting] if waiting is not None else units


def _unit(
    node: Node, first: int, last: int, waiting: Entity | None, allowed: tuple[str, ...], language: Language
) -> Entity:
    start = waiting.first if waiting is not None else first
    name = member_name(language, node) if node.type in allowed else ""
    if name:
        return Entity(start, last, node.type, f"{node.type} {name}", True)
    declared = _declared(node)
    return Entity(
        start, last, node.type, f"{node.type} {declared}" if declared else f"= {flat_text(node)}", False
    )


def _declared(node: Node) -> str:
    """The one name to which a statement assigns a value; its order among the others still matters."""
    if node.type == "expression_statement" and node.named_child_count == 1:
        inner = node.named_children[0]
        target = inner.child_by_field_name("left") if inner.type.startswith("assignment") else None
        return flat_text(target) if target is not None else ""
    names = [child.child_by_field_name("name") for child in node.named_children]
    plain = [name for name in names if name is not None]
    return flat_text(plain[0]) if len(plain) == 1 and node.type.endswith("declaration") else ""


# -- the place ---------------------------------------------------------------------------------


def _place_of(chunks: list[Chunk], chunk: Chunk, members: list[Members]) -> Chunk | None:
    """The hunk widened until it cuts no entity and contains both ends of every move."""
    cut = [part.inner_rows for part in members]
    lows, highs = [chunk.b0, chunk.l0, chunk.r0], [chunk.b1, chunk.l1, chunk.r1]
    for _ in range(MAX_MOVES):
        wide = _widen(chunks, chunk, cut, lows, highs)
        if wide is None:
            return None
        held = {unit.key for part in _inside(members, wide) for unit in part}
        grown = False
        for version, (start, end) in enumerate(wide.spans()):
            lows[version], highs[version] = start, end
            for unit in filter(None, map(members[version].by_key.get, held)):
                grown = grown or unit.first < start or unit.last > end
                lows[version] = min(lows[version], unit.first)
                highs[version] = max(highs[version], unit.last)
        if not grown:
            return wide
    return None


def _widen(
    chunks: list[Chunk], chunk: Chunk, cut: list[set[int]], lows: list[int], highs: list[int]
) -> Chunk | None:
    """Grow the hunk row by row through equal lines, and over neighbouring hunks if necessary."""
    up = down = chunks.index(chunk)
    start, end = (chunk.b0, chunk.l0, chunk.r0), (chunk.b1, chunk.l1, chunk.r1)
    in_base, in_left, in_right = cut
    while (
        start[0] in in_base
        or start[1] in in_left
        or start[2] in in_right
        or start[0] > lows[0]
        or start[1] > lows[1]
        or start[2] > lows[2]
    ):
        if chunks[up].kind == "same" and start[0] > chunks[up].b0:
            start = (start[0] - 1, start[1] - 1, start[2] - 1)
        elif up == 0:
            return None
        else:
            up -= 1
            if chunks[up].kind != "same":
                start = (chunks[up].b0, chunks[up].l0, chunks[up].r0)
    while (
        end[0] in in_base
        or end[1] in in_left
        or end[2] in in_right
        or end[0] < highs[0]
        or end[1] < highs[1]
        or end[2] < highs[2]
    ):
        if chunks[down].kind == "same" and end[0] < chunks[down].b1:
            end = (end[0] + 1, end[1] + 1, end[2] + 1)
        elif down + 1 == len(chunks):
            return None
        else:
            down += 1
            if chunks[down].kind != "same":
                end = (chunks[down].b1, chunks[down].l1, chunks[down].r1)
    return Chunk("conflict", start[0], end[0], start[1], end[1], start[2], end[2])


def _is_one_unit(inside: list[list[Entity]]) -> bool:
    """Does each version have at most one entity here? The rules for text have already tried that."""
    return all(len(part) <= 1 for part in inside)


# -- the merge ---------------------------------------------------------------------------------


def _merge(file: FileMerge, inside: list[list[Entity]], wide: Chunk) -> str | None:
    sides = (file.base, file.left, file.right)
    entries = []
    for lines, units, (start, end) in zip(sides, inside, wide.spans(), strict=True):
        entry = _entry(lines, units, start, end)
        if entry is None:
            return None
        entries.append(entry)
    base, left, right = entries
    frees = {unit.key for part in inside for unit in part if unit.is_free}
    try:
        for side in (left, right):
            match_renamed(base, side)
        _refuse_ordered(base, left, right, frees)
        _refuse_beside_dropped(base, left, right)
        _refuse_beside_edited(base, left, right, frees)
        _refuse_beside_moved(base, left, right, frees)
        merged = merge_entries(base, left, right, _choose(file))
    except (RivalChanges, Undecided):
        return None
    return merged.write()


def _entry(lines: list[str], units: list[Entity], start: int, end: int) -> KeyedEntry | None:
    """The rows as entries; None if a row that is not blank belongs to no entity."""
    root = KeyedEntry("", "", "", [])
    assert root.children is not None
    at = start
    for unit in units:
        lead = "".join(lines[at : unit.first])
        if lead.strip():
            return None
        root.children.append(KeyedEntry(unit.key, lead, "".join(lines[unit.first : unit.last])))
        at = unit.last
    root.tail = "".join(lines[at:end])
    return None if root.tail.strip() else root


def _choose(file: FileMerge) -> Choose:
    def choose(_where: tuple[str, ...], base: str, left: str, right: str) -> str | None:
        if not base:
            return one_holds_the_other(base, left, right, Steps(20_000))
        return file.merge_text(file.path, base, left, right)

    return choose


def _refuse_ordered(base: KeyedEntry, left: KeyedEntry, right: KeyedEntry, frees: set[str]) -> None:
    """Both sides may add at the same place only if the order of everything added does not matter."""
    known = {child.key for child in base.children or []}
    ours, theirs = _added_after(left, known), _added_after(right, known)
    for place in set(ours) & set(theirs):
        both = [*ours[place], *theirs[place]]
        if ours[place] != theirs[place] and not all(key in frees for key in both):
            raise RivalChanges("both sides added where the order counts")


def _refuse_beside_dropped(base: KeyedEntry, left: KeyedEntry, right: KeyedEntry) -> None:
    """One side added next to something that the other removed: the addition may belong to it."""
    old = {child.key for child in base.children or []}
    for side, other in ((left, right), (right, left)):
        there = {child.key for child in other.children or []}
        keys = [child.key for child in side.children or []]
        for before, key in pairwise(["", *keys, ""]):
            is_new = key not in old if key else False
            was_new = before not in old if before else False
            if (is_new and before in old and before not in there) or (
                was_new and key in old and key not in there
            ):
                raise RivalChanges(f"added beside {before if is_new else key}, which the other side dropped")


def _refuse_beside_edited(base: KeyedEntry, left: KeyedEntry, right: KeyedEntry, frees: set[str]) -> None:
    """A new statement after one that the other side edited may use the edited value."""
    old = {child.key: child.text for child in base.children or []}
    for side, other in ((left, right), (right, left)):
        edited = {child.key for child in other.children or [] if old.get(child.key, child.text) != child.text}
        for before, keys in _added_after(side, set(old)).items():
            if before in edited and not all(key in frees for key in keys):
                raise RivalChanges(f"a statement behind {before}, which the other side edited")


def _refuse_beside_moved(base: KeyedEntry, left: KeyedEntry, right: KeyedEntry, frees: set[str]) -> None:
    """A new statement between two that the other side moved apart may belong to either."""
    old, ours, theirs = ([child.key for child in side.children or []] for side in (base, left, right))
    stayed = set(old) & set(ours) & set(theirs)
    for side, other in ((ours, theirs), (theirs, ours)):
        beside = set(pairwise(["", *(key for key in other if key in stayed), ""]))
        before = ""
        fresh: list[str] = []
        for key in [*side, ""]:
            if key and key not in stayed:
                fresh += [key] if key not in old else []
                continue
            if any(new not in frees for new in fresh) and (before, key) not in beside:
                raise RivalChanges(f"a statement behind {before}, which the other side moved")
            before, fresh = key, []


def _added_after(side: KeyedEntry, known: set[str]) -> dict[str, list[str]]:
    """Known key ("" for the start) -> the new keys that follow it."""
    found: dict[str, list[str]] = {}
    before = ""
    for child in side.children or []:
        if child.key in known:
            before = child.key
        else:
            found.setdefault(before, []).append(child.key)
    return found
