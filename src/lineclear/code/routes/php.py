"""Laravel and Slim; Symfony's attributes are read with the annotations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.routes.route import ANY, VERBS, Route, joined
from lineclear.code.source_text import Scopes, string_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.code.source_text import SourceText

_STEPS = r"(?:\w+\([^()\n]{0,200}\)\s*->\s*){0,4}"
_CALL = re.compile(rf"(?:\b(Route)::{_STEPS}|\$(app|router|group)->)({VERBS}|any|match)\(")
_GROUP = re.compile(
    rf"\bRoute::{_STEPS}(?:prefix\(\s*[\"']([^\"'\n]*)[\"']\s*\)\s*->\s*{_STEPS}group\("
    r"|group\(\s*\[[^\[\]]{0,300}?['\"]prefix['\"]\s*=>\s*['\"]([^\"'\n]*)['\"])"
    r"|\$\w+->group\(\s*[\"']([^\"'\n]*)[\"']"
)


def php_routes(source: SourceText) -> Iterator[Route]:
    prefixes = Scopes()
    for found in source.find(_GROUP):
        block = source.block_from(found.end())
        if block is not None:
            prefixes.add(*block, found[1] or found[2] or found[3] or "")
    for found in source.find(_CALL):
        arguments = source.arguments(found.end())
        methods = [ANY if found[3] == "any" else found[3].upper()]
        if found[3] == "match":
            methods = [name.upper() for name in re.findall(VERBS, (arguments or [""])[0].lower())]
            arguments = arguments[1:]
        path = string_in(arguments[0]) if len(arguments) > 1 else None
        if path is None:
            continue
        handler, path = arguments[-1], joined(*prefixes.around(found.start()), path)
        is_inline = handler.startswith(("function", "fn", "static "))
        for method in methods:
            row = source.row(found.start())
            yield Route(method, path, handler, row, found[1] or f"${found[2]}", is_inline)
