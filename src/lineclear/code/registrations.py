"""Registrations: routes, commands, plugins, providers, each with a key.

They are separate calls, or elements of a list whose name says that it is a registry. The order of two of them
does not matter if nothing can match both keys.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.nodes import flat_text
from lineclear.code.references import read_call

if TYPE_CHECKING:
    from tree_sitter import Node

    from lineclear.code.languages.table import Language

# Functions that register something under a string or a name.
_REGISTER = re.compile(
    r"add_(?:command|parser|url_rule|route|api_route|typer)|register(?:_\w+|[A-Z]\w*)?|include_router"
    r"|Handle(?:Func)?|resources?|Map(?:Get|Post|Put|Patch|Delete)"
)
# These names are also used for much else: they count only with a path, and on a receiver named like a router.
_VERBS = re.compile(r"(?:get|post|put|patch|delete|options|head|all|route)", re.I)
_ROUTER = re.compile(
    r"(?:\w*[._>])?\$?(?:\w*app|\w*[rR]outers?|[rR]outes?|server|api|mux|bp|fastify|r|blueprint)"
)
_REGISTRY = re.compile(
    r"(?:\w*_)?(?:url_?patterns|routes|plugins|providers|controllers|declarations|imports|exports|commands"
    r"|handlers|modules|extensions|resolvers|entities|integrations|components|tools|registry)",
    re.I,
)
_KEYS = ("path", "name", "id", "key", "command", "route")
_WILD = re.compile(r"[:*<{(\[^$+?\\]")


def registered(language: Language, node: Node) -> tuple[str, str] | None:
    """(name, key) of a call that registers something, else None; two calls with different names may both
    exist."""
    call = node.named_children[0] if node.type == "expression_statement" and node.named_children else node
    receiver, method, arguments = read_call(language, call)
    first = arguments[0] if arguments else None
    if first is None or not method:
        return None
    key = _key(first)
    is_route = key.strip("\"'").startswith("/")
    if _REGISTER.fullmatch(method):
        is_known = bool(key) or first.type in language.values
    else:
        is_verb = _VERBS.fullmatch(method) and _ROUTER.fullmatch(receiver)
        is_known = bool(is_verb) and is_route and len(arguments) > 1
    if not is_known:
        return None
    shown = key or flat_text(first)
    return f"{receiver}.{method} {shown}", shown


def element(language: Language, node: Node, container: Node) -> tuple[str, str] | None:
    """(name, key) of an element of a list whose name says that it is a registry; else None."""
    if not _REGISTRY.fullmatch(_name_of(container)):
        return None
    if node.type in language.values:
        return flat_text(node), flat_text(node)
    if node.type in language.calls:
        receiver, method, arguments = read_call(language, node)
        key = (_key(arguments[0]) or flat_text(arguments[0])) if arguments else ""
        return f"{receiver}.{method} {key}", key or f"{receiver}.{method}"
    if node.type in language.objects:
        key = _key_in(node)
        return (key, key) if key else None
    return None


def are_apart(left: list[str], right: list[str]) -> bool:
    """Can nothing match a key of both sides, so that their order does not matter?"""
    return all(_is_apart(ours.strip("\"'`"), theirs.strip("\"'`")) for ours in left for theirs in right)


def _is_apart(left: str, right: str) -> bool:
    """Do two keys differ in a step without a wildcard? Otherwise one may match what is meant for the other,
    and the first one registered wins. A path may also match everything below it."""
    for ours, theirs in zip(_steps(left), _steps(right), strict=False):
        if ours != theirs and not _WILD.search(ours) and not _WILD.search(theirs):
            return True
    return False


def _steps(key: str) -> list[str]:
    path = key.strip("/")
    return path.split("/") if path else []


def _key(node: Node) -> str:
    is_plain = node.type.endswith(("string", "string_literal", "symbol")) and "interpolation" not in str(node)
    return flat_text(node).removeprefix(":") if is_plain else ""


def _key_in(node: Node) -> str:
    for pair in node.named_children:
        name, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if name is not None and value is not None and flat_text(name).strip("\"'") in _KEYS:
            return _key(value)
    return ""


def _name_of(container: Node) -> str:
    """The name that the list is assigned to."""
    above = container.parent
    for field in ("left", "name", "key"):
        name = above.child_by_field_name(field) if above is not None else None
        if name is not None:
            return flat_text(name).strip("\"'").partition(":")[0].rstrip()
    return ""
