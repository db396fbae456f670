"""Express, Koa, Fastify, Hono and the like, in JavaScript and TypeScript."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.routes.route import ANY, VERBS, Route, methods_in, owner_of
from lineclear.code.source_text import string_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.code.source_text import SourceText

_CALL = re.compile(rf"(?<![\w.$])([\w$]+(?:\.[\w$]+){{0,2}})\s*\.\s*({VERBS}|all|route)\(\s*(?=[\"'`{{])")
_CHAINED = re.compile(rf"\s*\.\s*({VERBS}|all)\(")
_ROUTER = re.compile(r"(?:.*\.)?(?:app|server|fastify|\w*[rR]outer)")
_PROGRAM = re.compile(
    r"\b(\w+)(?:\s*:[^=\n]{1,100})?\s*=\s*(?:await\s+)?(?:express|[fF]astify|restify\.createServer)\("
)
_SUB_ROUTER = re.compile(r"\b(\w+)(?:\s*:[^=\n]{1,100})?\s*=\s*(?:new\s+)?(?:[\w.]*Router|Hono|Elysia)\b")
_INLINE = re.compile(r"=>|\bfunction\b")


def script_routes(source: SourceText) -> Iterator[Route]:
    programs = {found[1] for found in source.find(_PROGRAM)}
    routers = {found[1] for found in source.find(_SUB_ROUTER)}
    if "astify" not in source.text and "app" not in routers:
        programs.add("app")
    for found in source.find(_CALL):
        receiver = found[1]
        if not (_ROUTER.fullmatch(receiver) or receiver in programs | routers):
            continue
        owner = "" if receiver in programs else owner_of(source, found.start(), receiver)
        row, arguments = source.row(found.start()), source.arguments(found.end())
        if found[2] == "route":
            yield from _chain(source, found.end(), arguments, owner)
            continue
        path = string_in(arguments[0]) if len(arguments) > 1 else None
        if path is not None and path.startswith(("/", "*")):
            method = ANY if found[2] == "all" else found[2].upper()
            handler = arguments[-1]
            yield Route(method, path, handler, row, owner, is_inline=bool(_INLINE.search(handler)))


def _chain(source: SourceText, place: int, arguments: list[str], owner: str) -> Iterator[Route]:
    """`route("/x").get(a).post(b)` and Fastify's `route({method, url, handler})`."""
    row = source.row(place)
    if len(arguments) == 1 and arguments[0].startswith("{"):
        url = re.search(r"""\b(?:url|path):\s*["'`]([^"'`]+)["'`]""", arguments[0])
        named = re.search(r"\bhandler(?::\s*([\w.]+))?\s*[,}]", arguments[0])
        handler = (named[1] or "handler") if named else arguments[0]
        for method in methods_in(arguments[0], ANY) if url else []:
            yield Route(method, url[1] if url else "", handler, row, owner, is_inline=named is None)
        return
    path = string_in(arguments[0]) if len(arguments) == 1 else None
    at = source.end_of_call(place)
    while path is not None and (link := _CHAINED.match(source.text, at)):
        handler = (source.arguments(link.end()) or [""])[-1]
        method = ANY if link[1] == "all" else link[1].upper()
        yield Route(method, path, handler, row, owner, is_inline=bool(_INLINE.search(handler)))
        at = source.end_of_call(link.end())
