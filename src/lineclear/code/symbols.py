"""The definitions of a program: their names, kinds and parameters, and which of them enclose a place."""

from __future__ import annotations

from bisect import bisect_left
from itertools import takewhile
from typing import TYPE_CHECKING

from lineclear.code.nodes import flat_text, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from lineclear.code.languages.table import Language

FUNCTIONS = ("function", "method")
MAX_SYMBOLS = 5
MAX_NAME_CHARS = 60
_NOT_SHOWN = ("parameter", "argument", "attribute")


def label_of(language: Language, node: Node) -> str:
    """Kind and name of a definition (`function total`), with its parameters if they distinguish overloads; or
    kind and key of a keyed node. "" for any other node."""
    kind = node.type
    if kind in language.wrappers:
        inner = _wrapped(node)
        return label_of(language, inner) if inner is not None else ""
    if kind in language.groups:
        inner = node.named_children[-1] if node.named_child_count else None
        return label_of(language, inner) if inner is not None and inner.type in language.definitions else ""
    if kind in language.definitions:
        return _named_label(language, node)
    return _keyed_label(node, language.keyed[kind]) if kind in language.keyed else ""


def _named_label(language: Language, node: Node) -> str:
    if node.type in language.defined_by_body and node.child_by_field_name("body") is None:
        return ""
    name = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    if name is None:
        name = next((child for child in node.named_children if child.type.endswith("identifier")), None)
    elif name.type == "init_declarator":
        name = name.child_by_field_name("declarator")
    text = flat_text(name)[:120] if name is not None else ""
    if not text or text == "_":  # a blank name defines nothing
        return ""
    receiver = node.child_by_field_name("receiver")
    parameters = node.child_by_field_name("parameters") if language.overloads else None
    before = flat_text(receiver) if receiver else ""
    behind = flat_text(parameters)[:200] if parameters else ""
    return f"{language.definitions[node.type]} {before}{text}{behind}"


def _keyed_label(node: Node, kind: str) -> str:
    if kind == "impl":
        return " ".join(head_of(node).split())
    key = (
        node.child_by_field_name("key")
        or node.child_by_field_name("value")
        or node.child_by_field_name("pattern")
    )
    if key is None and node.named_child_count:
        key = node.named_children[0]
    return f"{kind} {flat_text(key)[:200]}" if key is not None else ""


def head_of(node: Node) -> str:
    """The text of a definition up to its body."""
    body = node.child_by_field_name("body")
    end = body.start_byte if body else node.end_byte
    return (node.text or b"")[: end - node.start_byte].decode("utf-8", "replace")


def signature_of(node: Node) -> tuple[str, str] | None:
    """(name, parameters without blanks) of a function; None if the grammar does not name them."""
    name, parameters = node.child_by_field_name("name"), node.child_by_field_name("parameters")
    if name is None or parameters is None:
        return None
    return flat_text(name), "".join(flat_text(parameters).split())


def name_of(language: Language, node: Node) -> str:
    """The name or key of a definition, for people; "" for any other node."""
    if node.type in language.wrappers:
        inner = _wrapped(node)
        return name_of(language, inner) if inner is not None else ""
    if node.type in language.groups and node.named_child_count:
        return name_of(language, node.named_children[-1])
    kind = language.definitions.get(node.type) or language.keyed.get(node.type)
    is_use = node.type in language.defined_by_body and node.child_by_field_name("body") is None
    if not kind or kind in _NOT_SHOWN or is_use:
        return ""
    field = language.name_fields.get(node.type, "name")
    name = node.child_by_field_name("type" if field == "*head" else field) or node.child_by_field_name("key")
    while name is not None and field == "declarator" and name.child_by_field_name(field) is not None:
        name = name.child_by_field_name(field)
    text = text_of(name) if name is not None else ""
    return "" if len(text) > MAX_NAME_CHARS or "\n" in text else text


def _wrapped(node: Node) -> Node | None:
    return node.child_by_field_name("definition") or node.child_by_field_name("declaration")


def _unwrapped(language: Language, node: Node) -> Node:
    inner = _wrapped(node) if node.type in language.wrappers else None
    return _unwrapped(language, inner) if inner is not None else node


def member_name(language: Language, node: Node) -> str:
    """What distinguishes a member of a body from its neighbours: name, key, receiver and parameters, or the
    title of a test; "" if it has none of these."""
    if node.type in language.wrappers:
        inner = _wrapped(node)
        return member_name(language, inner) if inner is not None else ""
    if node.type in ("expression_statement", "call"):
        return _titled(language, node)
    if node.type in ("string", "identifier", "shorthand_property_identifier", "shorthand_field_initializer"):
        return text_of(node)
    field = language.name_fields.get(node.type, "name")
    if field == "*head":
        return head_of(node)
    name = node.child_by_field_name(field) or _inner_name(node)
    if name is None:
        return ""
    receiver = node.child_by_field_name("receiver")
    parameters = node.child_by_field_name("parameters") if language.overload_bodies else None
    before = text_of(receiver) if receiver else ""
    return f"{before} {text_of(name)}{text_of(parameters) if parameters else ''}"


def _inner_name(node: Node) -> Node | None:
    """The name inside a declaration that wraps one named thing: Go's type, Java's field."""
    for child in node.named_children:
        name = child.child_by_field_name("name")
        if name is not None:
            return name
    return None


def _titled(language: Language, node: Node) -> str:
    """The title of a test, from a call of one of the language's test functions; "" for any other call."""
    call = node if node.type == "call" else node.named_children[0] if node.named_child_count == 1 else None
    if call is None or call.child_by_field_name("receiver") is not None:
        return ""
    function = call.child_by_field_name("function") or call.child_by_field_name("method")
    arguments = call.child_by_field_name("arguments")
    if function is None or arguments is None or not arguments.named_child_count:
        return ""
    title = arguments.named_children[0]
    is_test = text_of(function).partition(".")[0] in language.titled_calls and title.type.endswith("string")
    return text_of(title) if is_test else ""


def path_of(node: Node) -> str:
    """The types and names of all enclosing nodes: equal paths on both sides mean the same place."""
    parts = [node.type]
    above = node.parent
    while above is not None:
        name = above.child_by_field_name("name") or above.child_by_field_name("left")
        parts.append(f"{above.type} {text_of(name) if name is not None else ''}")
        above = above.parent
    return "/".join(parts)


# -- places ------------------------------------------------------------------------------------


def symbols_in(language: Language, root: Node, first_row: int, last_row: int) -> list[str]:
    """Dotted names of the definitions inside the rows (0-based, the last one excluded), else around them."""
    around: list[str] = []
    node, inner = root, _covering(root, first_row, last_row)
    while inner is not None:
        node, inner = inner, _covering(inner, first_row, last_row)
        name = name_of(language, node)
        if name and name not in around[-1:]:  # a wrapper has the name of what it wraps
            around.append(name)
    touched = (name_of(language, child) for child in _touching(node, first_row, last_row))
    inside = [name for name in touched if name]
    if around and not inside:
        return [".".join(around[-2:])]
    return [".".join([*around[-1:], name]) for name in inside[:MAX_SYMBOLS]]


def names_in(language: Language, root: Node, first_row: int, last_row: int) -> set[str]:
    """The names of the outermost definitions that begin in the rows. A decorator is not the beginning of its
    definition."""
    node, inner = root, _covering(root, first_row, last_row)
    while inner is not None and inner.start_point[0] < first_row:
        node, inner = inner, _covering(inner, first_row, last_row)
    defined = [_unwrapped(language, child) for child in _touching(node, first_row, last_row)]
    begun = (child for child in defined if first_row <= child.start_point[0] < last_row)
    return {name_of(language, child) for child in begun} - {""}


def is_in_text(language: Language, root: Node, row: int) -> bool:
    """Does the row begin inside a string, a template or a heredoc?"""
    node = root.descendant_for_point_range((row, 0), (row, 0))
    while node is not None:
        if node.start_point[0] < row and node.type in language.texts:
            return True
        node = node.parent
    return False


def _covering(node: Node, first_row: int, last_row: int) -> Node | None:
    """The child that encloses the rows (the last one excluded), if it spans more than one row."""
    child = next(_named_from(node, max(first_row, last_row - 1)), None)
    if child is None or child.start_point[0] > first_row:
        return None
    return child if child.end_point[0] > child.start_point[0] else None


def _touching(node: Node, first_row: int, last_row: int) -> list[Node]:
    return list(takewhile(lambda child: child.start_point[0] < last_row, _named_from(node, first_row)))


def _named_from(node: Node, row: int) -> Iterator[Node]:
    """The named children from the first that reaches the row on."""
    inner = node.children  # a node keeps this list; it makes a new one for `named_children` at every call
    for place in range(bisect_left(inner, row, key=_last_row), len(inner)):
        if inner[place].is_named:
            yield inner[place]


def _last_row(node: Node) -> int:
    return node.end_point[0]
