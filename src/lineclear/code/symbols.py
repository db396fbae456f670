"""The names of what a hunk touches, for people: the definitions around it, or those inside it."""

from __future__ import annotations

from bisect import bisect_left
from itertools import takewhile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

MAX_SYMBOLS = 5
_TEXTS = ("string", "template", "heredoc", "block_scalar", "jsx_text", "raw_text")
_SUFFIXES = (
    "definition",
    "declaration",
    "_item",
    "method",
    "class",
    "module",
    "_spec",
    "_specifier",
    "rule_set",
    "pair",
)


def symbols_in(root: Node | None, first_row: int, last_row: int) -> list[str]:
    """Dotted names for the rows (0-based, the last one excluded)."""
    if root is None:
        return []
    around: list[str] = []
    node = root
    while True:
        inner = _covering(node, first_row, max(first_row, last_row - 1))
        if inner is None:
            break
        node = inner
        name = name_of(node)
        if name:
            around.append(name)
    inside = [name for child in _touching(node, first_row, last_row) for name in [name_of(child)] if name]
    if around and not inside:
        return [".".join(around[-2:])]
    return [".".join([*around[-1:], name]) for name in inside[:MAX_SYMBOLS]]


def is_in_text(root: Node | None, row: int) -> bool:
    """The row begins inside a string, a template or a heredoc."""
    node = root.descendant_for_point_range((row, 0), (row, 0)) if root is not None else None
    while node is not None:
        if node.start_point[0] < row and any(word in node.type for word in _TEXTS):
            return True
        node = node.parent
    return False


def name_of(node: Node) -> str:
    """The name a definition gives, or nothing for any other node."""
    if node.type in ("decorated_definition", "export_statement"):
        inner = node.child_by_field_name("definition") or node.child_by_field_name("declaration")
        return name_of(inner) if inner is not None else ""
    if not node.type.endswith(_SUFFIXES):
        return ""
    name = node.child_by_field_name("name") or node.child_by_field_name("key")
    text = (name.text or b"").decode("utf-8", "replace") if name is not None else ""
    return "" if len(text) > 60 or "\n" in text else text


def _covering(node: Node, first_row: int, last_row: int) -> Node | None:
    """The first inner node around both rows, if it has more than one."""
    inner = node.named_children
    place = bisect_left(inner, last_row, key=_last_row)
    child = inner[place] if place < len(inner) else None
    if child is None or child.start_point[0] > first_row:
        return None
    return child if child.end_point[0] > child.start_point[0] else None


def _touching(node: Node, first_row: int, last_row: int) -> list[Node]:
    inner = node.named_children
    place = bisect_left(inner, first_row, key=_last_row)
    return list(takewhile(lambda child: child.start_point[0] < last_row, inner[place:]))


def _last_row(node: Node) -> int:
    return node.end_point[0]
