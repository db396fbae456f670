"""net/http, gin, echo, fiber, chi and gorilla."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.routes.route import ANY, Groups, Route, joined, owner_of
from lineclear.code.source_text import Scopes, string_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.code.source_text import SourceText

_VERBS = "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS"
_CALL = re.compile(
    rf"(?<![\w.])(\w+(?:\.\w+){{0,2}})\.({_VERBS}|{_VERBS.title()}|Any|All|HandleFunc|Handle)\("
)
_GROUP = re.compile(r"\b(\w+)\s*:?=\s*(\w+)\.(?:Group|PathPrefix)\(\s*\"([^\"\n]*)\"")
_BELOW = re.compile(r"\.Route\(\s*\"([^\"\n]*)\"\s*,\s*func\b")
_METHODS = re.compile(r"\s*\.Methods\(([^()]{0,200})\)")
_PATTERN = re.compile(rf"(?:({_VERBS})\s+)?(/.*)")
# What a program has one of, as it is made or passed.
_MADE = re.compile(r"\b(\w+)\s*:?=\s*(?:gin\.(?:Default|New)|echo\.New|fiber\.New|http\.NewServeMux)\(")
_PASSED = re.compile(r"\b(\w+)\s+\*(?:gin\.Engine|echo\.Echo|fiber\.App|http\.ServeMux)\b")
_ROUTER = re.compile(
    r"\b(\w+)(?:\s*:?=\s*(?:chi|mux)\.NewRouter\(|\s+\*?(?:chi\.(?:Router|Mux)|mux\.Router|fiber\.Router|gin\.\w+)\b)"
)


def go_routes(source: SourceText) -> Iterator[Route]:
    programs = _programs(source)
    groups = Groups(source, _GROUP)
    routers = {found[1] for found in source.find(_ROUTER)} | {name for _, name in programs} | groups.names
    below = Scopes()
    for found in source.find(_BELOW):
        block = source.block_from(found.end())
        if block is not None:
            below.add(*block, found[1])
    for found in source.find(_CALL):
        receiver, verb = found[1], found[2]
        if verb.istitle() and not verb.startswith("Handle") and receiver not in routers:
            continue  # a client's Get
        arguments = source.arguments(found.end())
        if len(arguments) > 2 and re.fullmatch(rf'"(?:{_VERBS})"', arguments[0]):
            verb, arguments = arguments[0].strip('"'), arguments[1:]
        pattern = _PATTERN.fullmatch(string_in(arguments[0]) or "") if len(arguments) > 1 else None
        if pattern is None:
            continue
        root, prefix = groups.root_of(receiver, found.start())
        is_own = {(source.function_at(found.start()), root), ("", root)} & programs
        owner = "" if is_own else owner_of(source, found.start(), root)
        path = joined(prefix, *below.around(found.start()), pattern[2])
        path += "/" if pattern[2].endswith("/") and path != "/" else ""
        handler = arguments[-1]
        is_inline = handler.startswith("func")
        for method in [pattern[1]] if pattern[1] else _methods(source, found.end(), verb):
            yield Route(method, path, handler, source.row(found.start()), owner, is_inline)


def _programs(source: SourceText) -> set[tuple[str, str]]:
    """(function, or "" for the whole file; variable)."""
    made = {(source.function_at(one.start()), one[1]) for one in source.find(_MADE)}
    for found in source.find(_PASSED):
        body = source.block_from(found.end())
        if body is not None:
            made.add((source.function_at(body[0]), found[1]))
    return {("", "http"), *made}


def _methods(source: SourceText, place: int, verb: str) -> list[str]:
    if verb.upper() in _VERBS.split("|"):
        return [verb.upper()]
    named = _METHODS.match(source.text, source.end_of_call(place))
    return sorted(re.findall(_VERBS, named[1].upper())) or [ANY] if named else [ANY]
