"""Flask, FastAPI, aiohttp and Django."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.routes.route import ANY, VERBS, Route, methods_in
from lineclear.code.source_text import string_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.code.source_text import SourceText

_DECORATED = re.compile(rf"@((?:\w+\.)*\w+)\.(route|api_route|websocket|{VERBS})\(")
_ADDED = re.compile(rf"(?<![\w.])((?:\w+\.)*\w+)\.add_(url_rule|route|api_route|{VERBS})\(")
_DJANGO = re.compile(r"(?:^[ \t]*|[\[,(]\s*)((?:re_)?path|url)\(\s*(?=r?[\"'])", re.M)
_FUNCTION = re.compile(r"\bdef\s+(\w+)")
_PROGRAM = re.compile(r"(?:\w+\.)*app(?:\.router)?")
_CREATED = re.compile(
    r"^(\w+)(?:\s*:[^=\n]+)?\s*=\s*(?:[\w.]+\.)?(?:Flask|FastAPI|Application|Starlette|Quart)\(", re.M
)
MAX_DECORATORS = 1_500  # characters between a decorator and its function


def python_routes(source: SourceText) -> Iterator[Route]:
    programs = {found[1] for found in source.find(_CREATED)}

    def owner(receiver: str) -> str:
        return "" if receiver in programs or _PROGRAM.fullmatch(receiver) else receiver

    for found in source.find(_DECORATED):
        arguments = source.arguments(found.end())
        path = _path(arguments)
        if path is None or (path and not path.startswith("/")):
            continue  # `@mock.patch("shop.cart")`
        function = _FUNCTION.search(source.text, found.end(), found.end() + MAX_DECORATORS)
        usual = "GET" if found[2] == "route" else ANY if found[2] == "api_route" else found[2].upper()
        for method in methods_in(", ".join(arguments), usual):
            name = function[1] if function else ""
            yield Route(method, path, name, source.row(found.start()), owner(found[1]), is_inline=True)
    for found in source.find(_ADDED):
        arguments = source.arguments(found.end())
        path = _path(arguments)
        if path is None or not path.startswith("/") or len(arguments) < 2:
            continue
        usual = {"url_rule": "GET", "route": ANY, "api_route": "GET"}.get(found[2], found[2].upper())
        for method in methods_in(", ".join(arguments), usual):
            handler = _handler(arguments)
            yield Route(method, path, handler, source.row(found.start()), owner(found[1]))
    yield from _django(source)


def _django(source: SourceText) -> Iterator[Route]:
    for found in source.find(_DJANGO):
        arguments = source.arguments(found.end())
        path = _path(arguments)
        if path is not None and len(arguments) > 1 and not arguments[1].startswith("include("):
            yield Route(ANY, path, arguments[1], source.row(found.start(1)), found[1])


def _path(arguments: list[str]) -> str | None:
    return string_in(re.sub(r"^(?:path|rule)\s*=\s*", "", arguments[0])) if arguments else None


def _handler(arguments: list[str]) -> str:
    named = [one.partition("=")[2].strip() for one in arguments if re.match(r"view_func\s*=", one)]
    return named[0] if named else next((one for one in reversed(arguments) if "=" not in one), arguments[-1])
