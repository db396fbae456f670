"""What a file uses: calls, literals, members, types and plain names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.nodes import flat_text, flattened, text_of
from lineclear.core.radar.facts import CALL, MENTION, TYPE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from lineclear.code.facts.walk import Step, Walk

MAX_RECEIVER = 120
_DOTS = re.compile(r"\s*(?:\?\.|!\.|\?->|->|&\.|\.)\s*")
_ARGUMENTS = re.compile(r"(?s)(?:::)?<.*>|\[.*\]")
_PATH_ENDS = re.compile(r"(?:\.|::|\\)(?=[^.:\\]+$)")


def receiver_text(node: Node) -> str:
    """What stands before a member's name: `self`, `shop.cart`. All ways to reach a member become a dot; paths
    of modules keep `::` and `\\`."""
    raw = node.text or b""
    if raw.isalnum():
        return raw.decode("ascii")
    text = _DOTS.sub(".", flattened(raw[: 4 * MAX_RECEIVER])).strip("$@\\")
    return text.replace(".$", ".").replace("super()", "super").removesuffix("!")[:MAX_RECEIVER]


def path_text(node: Node) -> str:
    """The path of a type, without its arguments: `shop.Cart`."""
    text = _ARGUMENTS.sub("", flat_text(node))
    return _DOTS.sub(".", text).strip("*&?\\ ")


def split_path(path: str) -> tuple[str, str]:
    """(receiver, name) of a path."""
    found = _PATH_ENDS.search(path)
    return (path[: found.start()], path[found.end() :]) if found else ("", path)


def base_of(node: Node) -> tuple[Node, str] | None:
    """The base and its path; None for an expression."""
    path = path_text(node)
    return (node, path) if path and "(" not in path else None


def skip_name(walk: Walk, node: Node) -> None:
    """Nothing in this name is another use; its type arguments are."""
    todo = [node]
    while todo:
        part = todo.pop()
        walk.skip(part)
        todo += [inner for inner in part.children if "argument" not in inner.type]


# -- handlers ----------------------------------------------------------------------------------


def mention(walk: Walk, node: Node) -> Iterable[Step]:
    if not walk.is_skipped(node):
        walk.use(text_of(node), MENTION, node)
    return ()


def type_name(walk: Walk, node: Node) -> Iterable[Step]:
    if not walk.is_skipped(node):
        walk.use(text_of(node), TYPE_NAME, node)
    return ()


def type_path(walk: Walk, node: Node) -> Iterable[Step]:
    """A type with the module it is from: one use."""
    if walk.is_skipped(node):
        return node.children
    receiver, name = split_path(path_text(node))
    walk.use(name, TYPE_NAME, node, receiver)
    skip_name(walk, node)
    return node.children


def access(walk: Walk, node: Node) -> Iterable[Step]:
    object_field, name_field = walk.nodes.accesses[node.type]
    target, name = node.child_by_field_name(object_field), node.child_by_field_name(name_field)
    if target is None or name is None or walk.is_skipped(node):
        return node.children
    walk.use(bare_name(name), MENTION, name, receiver_text(target))
    walk.skip(name)
    return (target, *name.children)


def bare_name(node: Node) -> str:
    """The name in a token, which may have type arguments."""
    return _ARGUMENTS.sub("", text_of(node)).lstrip("$@")


def call(walk: Walk, node: Node) -> Iterable[Step]:
    name_field, receiver_field, arguments_field = walk.nodes.calls[node.type]
    target = node.child_by_field_name(name_field)
    arguments = node.child_by_field_name(arguments_field)
    if target is None:
        return node.children
    if receiver_field:
        receiver = node.child_by_field_name(receiver_field)
        if target.child_count == 0 or target.type not in walk.nodes.accesses:
            note_call(walk, target, receiver, arguments)
        return node.children
    return called(walk, node, target, arguments)


def called(walk: Walk, node: Node, target: Node, arguments: Node | None) -> Iterable[Step]:
    """A call whose target is a name, a member, or any other expression."""
    nodes = walk.nodes
    if target.type in nodes.names or target.type in nodes.type_names:
        note_call(walk, target, None, arguments)
    elif target.type in nodes.accesses:
        object_field, name_field = nodes.accesses[target.type]
        receiver, name = target.child_by_field_name(object_field), target.child_by_field_name(name_field)
        if receiver is not None and name is not None:
            note_call(walk, name, receiver, arguments)
            walk.skip(target)
            others = [child for child in node.children if child != target]
            return (receiver, *name.children, *others)
    elif target.type in nodes.type_paths:
        path, name_text = split_path(path_text(target))
        places, names = count_arguments(walk, arguments)
        walk.use(name_text, CALL, target, path, places=places, names=names)
        skip_name(walk, target)
    return node.children


def note_call(walk: Walk, name: Node, receiver: Node | None, arguments: Node | None) -> None:
    places, names = count_arguments(walk, arguments)
    before = receiver_text(receiver) if receiver is not None else ""
    walk.skip(name)
    walk.use(bare_name(name), CALL, name, before, places=places, names=names)


def count_arguments(walk: Walk, arguments: Node | None) -> tuple[int, tuple[str, ...]]:
    """(how many without a name, the names): see `Use`."""
    if arguments is None:
        return 0, ()
    nodes = walk.nodes
    if not arguments.type.endswith(("arguments", "argument_list")):
        return (1 if "generator" in arguments.type else -1), ()
    places, has_spread, names = 0, False, []
    for argument in arguments.named_children:
        kind = argument.type
        if kind == "argument" or kind == "value_argument":
            inner = argument.named_children[-1] if argument.named_child_count else argument
            kind = inner.type
        if kind in nodes.spreads:
            has_spread = True
        elif kind in nodes.named_spreads:
            names.append("*")
        elif "comment" not in kind and kind != "ERROR":
            name = nodes.argument_name(argument) if nodes.argument_name else ""
            if name:
                names.append(name)
            else:
                places += 1
    return (-1 if has_spread else places), tuple(names)


def types_inside(walk: Walk, node: Node) -> Iterable[Step]:
    """Every name in this node is a type."""
    nodes = walk.nodes
    todo = [node]
    while todo:
        part = todo.pop()
        if part.type in nodes.names or part.type in nodes.type_names:
            type_name(walk, part)
        elif part.type in nodes.accesses or part.type in nodes.type_paths:
            receiver, name = split_path(path_text(part))
            walk.use(name, TYPE_NAME, part, receiver)
            todo += [inner for inner in part.named_children if "argument" in inner.type]
        elif part.type == "string":
            quoted = flat_text(part).strip("\"'")
            if quoted.replace(".", "").isidentifier():
                receiver, name = split_path(quoted)
                walk.use(name, TYPE_NAME, part, receiver)
        else:
            todo += reversed(part.named_children)
    return ()
