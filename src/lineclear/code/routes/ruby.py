"""Rails, in files of routes; Sinatra elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.routes.route import VERBS, Route, joined
from lineclear.code.source_text import flat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.code.source_text import SourceText

_RAILS_FILE = re.compile(r"(?:.*/)?config/routes(?:/.*)?\.rb|routes\.rb")
_RAILS = re.compile(
    rf"\s*({VERBS})\s*\(?\s*[\"']([^\"'\n]*)[\"']\s*(?:=>|,\s*(?::?to:?\s*=>|to:))\s*[\"']?([\w/#.:-]+)"
)
_SINATRA = re.compile(rf"^[ \t]*({VERBS})[ \t]*\(?[ \t]*[\"'](/[^\"'\n]*)[\"']\)?\s*(?:,[^\n]*)?\bdo\b", re.M)
_OPENS = re.compile(r"\s*(?:.*\bdo\b\s*(?:\|[^|]*\|)?\s*$|(?:if|unless|case|begin|def|class|module|while)\b)")
_SCOPE = re.compile(r"\s*(?:namespace|scope|resources?)\b\s*\(?\s*(?::(\w+)|[\"']([^\"']*)[\"'])?")
_PATH = re.compile(r"\bpath:\s*[\"']([^\"']*)")
MAX_LINE = 500


def ruby_routes(source: SourceText) -> Iterator[Route]:
    if _RAILS_FILE.fullmatch(source.path):
        yield from _rails(source)
        return
    for found in source.find(_SINATRA):
        end = source.text.find("\n", found.end())
        body = source.text[end : source.text.find("\nend", end) if end >= 0 else end]
        handler = flat(body)[:500]
        yield Route(found[1].upper(), found[2], handler, source.row(found.start(1)), "app", is_inline=True)


def _rails(source: SourceText) -> Iterator[Route]:
    """Follows the blocks line by line, since they add prefixes."""
    prefixes: list[str] = []
    for row, line in enumerate(source.text.split("\n")):
        if len(line) > MAX_LINE:
            continue
        if re.match(r"\s*end\b", line):
            if prefixes:
                prefixes.pop()
            continue
        found = _RAILS.match(line)
        if found:
            yield Route(found[1].upper(), joined(*prefixes, found[2]), found[3], row, "routes")
        if _OPENS.match(line):
            prefixes.append(_prefix(line))


def _prefix(line: str) -> str:
    """What a block adds to the paths inside."""
    if re.match(r"\s*member\b", line):
        return ":id"
    path, scope = _PATH.search(line), _SCOPE.match(line)
    if path:
        return path[1]
    return (scope[1] or scope[2] or "") if scope else ""
