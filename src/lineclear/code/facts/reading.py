"""The facts of a file from its text.

Any text gives facts or `NOT_READ`: half-typed programs are the usual case.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from lineclear.code.facts import uses
from lineclear.code.facts.definitions import define, finished
from lineclear.code.facts.keys import keys_of
from lineclear.code.facts.receivers import with_types
from lineclear.code.facts.scopes import Scope, type_of_parameter
from lineclear.code.facts.walk import Walk
from lineclear.code.generated import is_copied, says_it_is_generated, what_regenerates
from lineclear.code.languages import language_of
from lineclear.code.nodes import flat_text, text_of
from lineclear.code.parse import MAX_SIZE, parse
from lineclear.core.radar.facts import NOT_READ, FileFacts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from lineclear.code.facts.walk import Handler, Step
    from lineclear.code.languages.table import Language

MAX_LINE_CHARS = 20_000
MAX_MEAN_LINE_CHARS = 500  # of a file that people write; a minified one has more
MIN_MINIFIED_CHARS = 5_000


def read_facts(path: str, text: str) -> FileFacts:
    if is_left_out(path, text):
        return NOT_READ
    keys = keys_of(path, text)
    language = language_of(path)
    if language is None or language.facts is None:
        name = language.name if language is not None else ""
        is_read = bool(keys) or (language is not None and language.is_data)
        return FileFacts(language=name, is_read=is_read, keys=keys)
    tree = parse(language, text)
    if tree is None:
        return replace(NOT_READ, language=language.name, keys=keys)
    walk = Walk(language, language.facts, path)
    walk.run(tree.root_node, _handlers(language))
    return FileFacts(
        language.name,
        walk.package,
        True,
        tree.root_node.has_error,
        finished(walk, text.encode("utf-8", "surrogatepass")),
        with_types(walk),
        tuple(replace(one, is_passed_on=True) if one.alias in walk.exported else one for one in walk.imports),
        keys,
    )


def is_left_out(path: str, text: str) -> bool:
    """Do we not read this file: too large, minified, generated, or another project's?"""
    if len(text) > MAX_SIZE or "\0" in text or is_copied(path):
        return True
    if what_regenerates(path) or says_it_is_generated(text):
        return True
    lines = text.split("\n")
    is_minified = len(text) > MIN_MINIFIED_CHARS and len(text) / len(lines) > MAX_MEAN_LINE_CHARS
    return is_minified or (len(text) > MAX_LINE_CHARS and max(map(len, lines)) > MAX_LINE_CHARS)


# -- handlers that need no module of their own --------------------------------------------------


@lru_cache
def _handlers(language: Language) -> dict[str, Handler]:
    nodes = language.facts
    if nodes is None:
        return {}
    by_meaning: list[tuple[Iterable[str], Handler]] = [
        ([kind for kind in language.opaque if "comment" in kind], _leave_out),
        (nodes.names, uses.mention),
        (nodes.type_names, uses.type_name),
        (nodes.type_paths, uses.type_path),
        (nodes.types, uses.types_inside),
        (nodes.accesses, uses.access),
        (nodes.calls, uses.call),
        (nodes.scopes, _scope),
        (nodes.blocks, _block),
        (nodes.binds, _bind),
        (nodes.type_parameters, _type_parameter),
        (nodes.spaces, _space),
        (nodes.defines, define),
        (language.imports, _import),
        ([nodes.package] if nodes.package else [], _package),
    ]
    found = {kind: handler for kinds, handler in by_meaning for kind in kinds}
    return found | dict(nodes.special)


def _leave_out(walk: Walk, node: Node) -> Iterable[Step]:
    walk.cuts.append((node.start_byte, node.end_byte))
    return ()


def _scope(walk: Walk, node: Node) -> Iterable[Step]:
    """A function without a name, or anything else that binds names of its own."""
    close = walk.open_block()
    parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    if parameters is not None and parameters.type in walk.nodes.bound:
        walk.bind(parameters)
    elif parameters is not None:
        for parameter, pattern in walk.nodes.parameters(parameters):
            walk.bind(pattern, type_of_parameter(parameter))
    return [*node.children, close]


def _block(walk: Walk, node: Node) -> Iterable[Step]:
    if walk.scope.is_local:
        return node.children
    return [*node.children, walk.open_block()]


def _bind(walk: Walk, node: Node) -> Iterable[Step]:
    for pattern in node.children_by_field_name(walk.nodes.binds[node.type]):
        walk.bind(pattern)
    return node.children


def _type_parameter(walk: Walk, node: Node) -> Iterable[Step]:
    name = node.child_by_field_name("name") or (node.named_children[0] if node.named_child_count else None)
    if name is not None:
        walk.skip(name)
        walk.scope.bind(text_of(name))
    return node.children


def _space(walk: Walk, node: Node) -> Iterable[Step]:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None or walk.scope.is_local:
        return node.children
    dotted = ".".join(part for part in (walk.scope.owner, text_of(name)) if part)
    close = walk.open(Scope(name=dotted, owner=dotted))
    return [*body.children, close]


def _import(walk: Walk, node: Node) -> Iterable[Step]:
    if walk.nodes.read_imports is None:
        return ()
    walk.imports += walk.nodes.read_imports(node)
    return ()


def _package(walk: Walk, node: Node) -> Iterable[Step]:
    walk.package = flat_text(node).removeprefix("package").strip(" ;")
    return ()
