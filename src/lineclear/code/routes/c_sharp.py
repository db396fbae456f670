"""Minimal APIs of ASP.NET; its controllers are read with the annotations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.routes.route import Groups, Route, joined, owner_of
from lineclear.code.source_text import string_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.code.source_text import SourceText

_CALL = re.compile(r"(?<![\w.])(\w+(?:\.\w+){0,2})\s*\.Map(Get|Post|Put|Patch|Delete)\(")
_GROUP = re.compile(r"\b(\w+)\s*=\s*(\w+)\s*\.MapGroup\(\s*\"([^\"\n]*)\"")


def c_sharp_routes(source: SourceText) -> Iterator[Route]:
    groups = Groups(source, _GROUP)
    for found in source.find(_CALL):
        arguments = source.arguments(found.end())
        path = string_in(arguments[0]) if len(arguments) > 1 else None
        if path is None:
            continue
        root, prefix = groups.root_of(found[1], found.start())
        owner = "" if root == "app" else owner_of(source, found.start(), root)
        row, handler = source.row(found.start()), arguments[-1]
        yield Route(found[2].upper(), joined(prefix, path), handler, row, owner, "=>" in handler)
