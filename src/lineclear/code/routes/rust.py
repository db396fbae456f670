"""axum, and Actix' routes that are not attributes. Another file may nest every router."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.routes.route import ANY, VERBS, Route, joined, owner_of
from lineclear.code.source_text import Scopes, string_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.code.source_text import SourceText

_CALL = re.compile(r"\.route\(\s*(?=\")")
_NEST = re.compile(r"(?:\.nest|::scope)\(\s*\"([^\"\n]*)\"")
_HANDLER = re.compile(rf"\b({VERBS}|any)\(\s*([\w:]*)")
_TO = re.compile(r"\.to\(\s*([\w:]+)")


def rust_routes(source: SourceText) -> Iterator[Route]:
    prefixes = Scopes()
    for found in source.find(_NEST):
        prefixes.add(found.end(), source.end_of_call(found.end()), found[1])
    for found in source.find(_CALL):
        arguments = source.arguments(found.end())
        path = string_in(arguments[0]) if len(arguments) == 2 else None
        if path is None:
            continue
        owner = owner_of(source, found.start(), "Router")
        to = _TO.search(arguments[1])
        for handler in _HANDLER.finditer(arguments[1]):
            method = ANY if handler[1] == "any" else handler[1].upper()
            target = handler[2] or (to[1] if to else arguments[1])
            full = joined(*prefixes.around(found.start()), path)
            yield Route(method, full, target, source.row(found.start()), owner, "|" in target)
