"""Both sides added at one place: united when it is an order-free place and all names differ.

What was added must be whole members of one parent in each side's own tree; anything else has no answer.
"""

from __future__ import annotations

from lineclear.code.languages import table_of
from lineclear.code.routes import are_apart, element, registered
from lineclear.merge.handlers.keyed import sorted_here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

    from lineclear.code.languages.table import Table
    from lineclear.merge.engine import FileMerge
    from lineclear.merge.lines import Chunk

MAX_SLIDE_LINES = 12
NEIGHBOURS = 4
LEAST_HEAD = 3  # letters before an ending


class Added:
    """What one side added: under which parent, the names, and the keys that it registers something under."""

    __slots__ = ("parent", "names", "keys")

    def __init__(self, parent: str, names: list[str], keys: list[str]) -> None:
        self.parent = parent
        self.names = names
        self.keys = keys


def unite_added(file: FileMerge, chunk: Chunk) -> str | None:
    """The text of both additions, left's first, for a hunk whose base is empty."""
    table = table_of(file.language)
    if table is None or chunk.b0 != chunk.b1:
        return None
    ours, theirs = file.left[chunk.l0 : chunk.l1], file.right[chunk.r0 : chunk.r1]
    for slide in range(MAX_SLIDE_LINES):
        if slide > chunk.b0 or not _can_slide(file, chunk, slide, ours, theirs):
            return None
        left = _added(file, table, 1, file.left, chunk.l0 - slide, chunk.l1 - slide)
        right = _added(file, table, 2, file.right, chunk.r0 - slide, chunk.r1 - slide)
        if left and right:
            if left.parent != right.parent or set(left.names) & set(right.names):
                return None
            if not are_apart(left.keys, right.keys) or _is_one_idea(ours, theirs, left.names, right.names):
                return None
            return _joined(file, chunk, slide)
    return None


def _is_one_idea(ours: list[str], theirs: list[str], left: list[str], right: list[str]) -> bool:
    """Both sides added the same but for an ending of a word in the name: `pad_rows` and `padding_rows`."""
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
    """The lines above equal the last lines of both additions, so the cut may be made higher."""
    above = file.base[chunk.b0 - slide : chunk.b0]
    before_left, before_right = (
        file.left[chunk.l0 - slide : chunk.l0],
        file.right[chunk.r0 - slide : chunk.r0],
    )
    if slide == 0:
        return True
    return above == before_left == before_right == ours[len(ours) - slide :] == theirs[len(theirs) - slide :]


def _joined(file: FileMerge, chunk: Chunk, slide: int) -> str:
    """Left's block, right's block, and the lines that slid; a blank line between blocks that have one."""
    ours = file.left[chunk.l0 - slide : chunk.l1 - slide]
    theirs = file.right[chunk.r0 - slide : chunk.r1 - slide]
    tail = file.left[chunk.l1 - slide : chunk.l1]
    in_order = None if slide else _sorted_lines(file, chunk, ours, theirs)
    joined = in_order or [*ours, *_gap(ours, theirs, file, chunk), *_without_the_gap_of(ours, theirs), *tail]
    return "".join(joined[slide:]) if slide else "".join(joined)


def _without_the_gap_of(ours: list[str], theirs: list[str]) -> list[str]:
    """Blank lines that end the one block need not begin the other."""
    start = 0
    while start < min(len(ours), len(theirs)) and not (ours[-1 - start] + theirs[start]).strip():
        start += 1
    return theirs[start:]


def _sorted_lines(file: FileMerge, chunk: Chunk, ours: list[str], theirs: list[str]) -> list[str] | None:
    """Members of one line each in a list that is sorted there."""
    above = file.base[max(0, chunk.b0 - NEIGHBOURS) : chunk.b0]
    below = file.base[chunk.b0 : chunk.b0 + NEIGHBOURS]
    indent = ours[0][: len(ours[0]) - len(ours[0].lstrip())]
    around = [[line for line in part if _is_row(line, indent)] for part in (above, below)]
    if not all(_is_row(line, indent) for line in (*ours, *theirs)):
        return None
    return sorted_here(around[0], ours, theirs, around[1])


def _is_row(line: str, indent: str) -> bool:
    """One member with its comma, as deep as the others."""
    return line.startswith(indent) and not line[len(indent) :][:1].isspace() and line.rstrip().endswith(",")


def _gap(ours: list[str], theirs: list[str], file: FileMerge, chunk: Chunk) -> list[str]:
    """Blocks that end without a blank line but are longer than one line get the one they had above."""
    if len(ours) < 3 or not ours[-1].strip() or not theirs[0].strip():
        return []
    blanks = 0
    at = chunk.l0 - 1
    while at >= 0 and not file.left[at].strip():
        blanks, at = blanks + 1, at - 1
    return ["\n"] * blanks


def _added(
    file: FileMerge, table: Table, version: int, lines: list[str], first: int, last: int
) -> Added | None:
    root = file.trees.root(version)
    if root is None or root.has_error:
        return None
    text = "".join(lines[first:last])
    if not text.strip():
        return None
    before = file.offset(version, first)
    head = len(text) - len(text.lstrip())
    start = before + len(text[:head].encode("utf-8", "surrogatepass"))
    end = before + len(text.rstrip().encode("utf-8", "surrogatepass"))
    parent = _parent_of(root, start, end, table)
    return None if parent is None else _named(parent, start, end, table)


def _parent_of(node: Node, start: int, end: int, table: Table) -> Node | None:
    """The node of which the stretch is whole children (separators left aside)."""
    while True:
        touching = [c for c in node.children if c.start_byte < end and c.end_byte > start]
        outside = [c for c in touching if c.start_byte < start or c.end_byte > end]
        if not touching:
            return None
        if not outside:
            if len(touching) == 1 and node.type not in table.members and touching[0].type in table.members:
                node = touching[0]
                continue
            return node
        if len(outside) > 1 or len(touching) > 1:
            return None
        node = outside[0]


def _named(parent: Node, start: int, end: int, table: Table) -> Added | None:
    allowed = table.members.get(parent.type)
    if allowed is None:
        return None
    names: list[str] = []
    keys: list[str] = []
    pending = False
    for child in parent.children:
        if child.end_byte <= start or child.start_byte >= end:
            continue
        if child.type in table.attached:
            pending = True
            continue
        if child.type in table.separators:
            continue
        name = name_in(child, table) if child.type in allowed else ""
        if not name:
            found = registered(child) if child.type in allowed else _element(child, parent, table)
            if found is None:
                return None
            name, key = found
            keys.append(key)
        names.append(name)
        pending = False
    if pending or not names or len(set(names)) != len(names):
        return None
    return Added(path_of(parent), names, keys)


def _element(node: Node, parent: Node, table: Table) -> tuple[str, str] | None:
    return element(node, parent) if parent.type in table.lists else None


def name_in(node: Node, table: Table) -> str:
    if node.type in table.wrappers:
        inner = node.child_by_field_name("definition") or node.child_by_field_name("declaration")
        return name_in(inner, table) if inner is not None else ""
    if node.type in ("expression_statement", "call"):
        return _titled(node, table)
    if node.type in ("string", "identifier", "shorthand_property_identifier", "shorthand_field_initializer"):
        return _text(node)
    field = table.keyed.get(node.type, "name")
    if field == "*head":
        body = node.child_by_field_name("body")
        return _text(node)[: (body.start_byte if body else node.end_byte) - node.start_byte]
    name = node.child_by_field_name(field) or _inner_name(node)
    if name is None:
        return ""
    receiver = node.child_by_field_name("receiver")
    parameters = node.child_by_field_name("parameters") if table.overloads else None
    before = _text(receiver) if receiver else ""
    return f"{before} {_text(name)}{_text(parameters) if parameters else ''}"


def _inner_name(node: Node) -> Node | None:
    """Declarations that wrap one named thing: Go's type, Java's field."""
    for child in node.named_children:
        name = child.child_by_field_name("name")
        if name is not None:
            return name
    return None


def _titled(node: Node, table: Table) -> str:
    """The title under which a call registers something, for the functions of the table."""
    call = node if node.type == "call" else node.named_children[0] if node.named_child_count == 1 else None
    if call is None or call.child_by_field_name("receiver") is not None:
        return ""
    function = call.child_by_field_name("function") or call.child_by_field_name("method")
    arguments = call.child_by_field_name("arguments")
    if function is None or arguments is None or not arguments.named_child_count:
        return ""
    if _text(function).partition(".")[0] not in table.calls or not arguments.named_children[0].type.endswith(
        "string"
    ):
        return ""
    return _text(arguments.named_children[0])


def path_of(node: Node) -> str:
    """Names of everything around, so that equal parents on both sides are the same place."""
    parts = [node.type]
    above = node.parent
    while above is not None:
        name = above.child_by_field_name("name") or above.child_by_field_name("left")
        parts.append(f"{above.type} {_text(name) if name is not None else ''}")
        above = above.parent
    return "/".join(parts)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
