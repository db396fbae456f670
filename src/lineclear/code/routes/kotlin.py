"""Ktor; Spring's annotations are read elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.routes.route import VERBS, Route, joined, owner_of
from lineclear.code.source_text import Scopes, flat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.code.source_text import SourceText

_KTOR = re.compile(r"\bktor\b|\brouting\s*\{|\bRoute\.")
_CALL = re.compile(rf"(?<![\w.])({VERBS})(?:\(\s*\"([^\"\n]*)\"\s*\))?\s*\{{")
_BELOW = re.compile(r"(?<![\w.])route\(\s*\"([^\"\n]*)\"[^()\n]{0,200}\)\s*(?=\{)")
_ROUTING = re.compile(r"(?<![\w.])routing\s*(?=\{)")


def kotlin_routes(source: SourceText) -> Iterator[Route]:
    if not _KTOR.search(source.text):
        return
    below, programs = Scopes(), Scopes()
    for scopes, pattern in ((below, _BELOW), (programs, _ROUTING)):
        for found in source.find(pattern):
            block = source.block_from(found.end())
            if block is not None:
                scopes.add(*block, found[1] if pattern is _BELOW else "routing")
    for found in source.find(_CALL):
        block = source.block_from(found.end() - 1)
        prefixes = below.around(found.start())
        is_own = bool(programs.around(found.start()))
        if block is None or (found[2] is None and not prefixes):
            continue
        owner = "" if is_own else owner_of(source, found.start(), "Route")
        body = flat(source.text[block[0] + 1 : block[1]])[:500]
        path = joined(*prefixes, found[2] or "")
        yield Route(found[1].upper(), path, body, source.row(found.start()), owner, is_inline=True)
