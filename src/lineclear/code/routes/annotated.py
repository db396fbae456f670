"""Routes that an annotation, a decorator or an attribute gives to a method: Spring, NestJS, ASP.NET, Symfony,
Actix and Rocket. That of a class is a prefix.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.routes.route import ANY, VERBS, Route, joined, methods_in
from lineclear.code.source_text import Scopes, flat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.code.source_text import SourceText

_MARKS = {
    ".java": re.compile(r"@(Get|Post|Put|Patch|Delete|Request)Mapping\b(\()?"),
    ".kt": re.compile(r"@(Get|Post|Put|Patch|Delete|Request)Mapping\b(\()?"),
    ".cs": re.compile(r"\[(?:Http)?(Get|Post|Put|Patch|Delete|Route)\b(\()?"),
    ".php": re.compile(r"#\[\\?(?:\w+\\)?(Route)(\()"),
    ".rs": re.compile(rf"#\[({VERBS})(\()"),
}
_NEST = re.compile(r"@(Get|Post|Put|Patch|Delete|All|Options|Head|Controller)(\()")
_FOR_ALL = ("Request", "Route", "All", "Controller")
_CLASS = re.compile(
    r"(?:(?:export|default|public|abstract|final|open|sealed|internal|static|partial|readonly)\s+)*+"
    r"(?:class|interface|record|object)\s+(\w+)"
)
_METHOD = re.compile(r"(\w+)\s*(?:<[^<>()]*>)?\s*\(")
_ANY_CLASS = re.compile(r"\b(?:class|interface|record|object)\s+(\w+)")
_NEXT_MARK = re.compile(r"\s*(?:@[\w.:]+(\()?|(#?\[))")
_NAMED = re.compile(r"(\w+)\s*[=:]\s*(?![=>])")
_NARROWED = ("params", "headers", "consumes", "produces")
MAX_MARKS = 20
MAX_HEAD = 400  # characters of a declaration


def annotated_routes(source: SourceText) -> Iterator[Route]:
    ending = source.path[source.path.rfind(".") :]
    pattern = _MARKS.get(ending, _NEST)
    is_script = pattern is _NEST
    if (is_script and "@Controller" not in source.text) or "@FeignClient" in source.text:
        return  # other decorators; a client's methods name the routes of another program
    classes, prefixes = Scopes(), Scopes()
    for found in source.find(_ANY_CLASS):
        block = source.block_from(found.end())
        if block is not None:
            classes.add(*block, found[1])
    routes = []
    for found in source.find(pattern):
        end = source.end_of_call(found.end()) if found[2] else found.end()
        if found[2] and end == found.end():
            continue  # being typed
        arguments = source.arguments(found.end()) if found[2] else []
        at = _behind_marks(source, end)
        head = source.text[at : at + MAX_HEAD]
        block = source.block_from(at) if _CLASS.match(head) else None
        if block is not None:
            prefixes.add(*block, (_paths(arguments) or [f"<{flat(', '.join(arguments))}>"])[0])
        elif found[1] != "Controller":
            routes.append((found, arguments, head))
    owner = "handlers" if ending == ".rs" else ""
    for found, arguments, head in routes:
        around = classes.around(found.start())
        method = _METHOD.search(head)
        handler = ".".join([*around[-1:], *([method[1]] if method else [])])
        prefix = [one.replace("[controller]", _controller(around)) for one in prefixes.around(found.start())]
        narrowed = "".join(f" {one}" for one in arguments if one.startswith(_NARROWED))
        verbs = [found[1].upper()]
        if found[1] in _FOR_ALL:
            verbs = methods_in(", ".join(arguments), ANY)
        for path in _paths(arguments):
            for verb in verbs:
                name = joined(*prefix, path) + narrowed
                yield Route(verb, name, handler, source.row(found.start()), owner, is_inline=True)


def _behind_marks(source: SourceText, at: int) -> int:
    """Behind the other annotations of the same declaration."""
    text = source.text
    if text[at : at + 1] == "]":
        at += 1
    for _ in range(MAX_MARKS):
        mark = _NEXT_MARK.match(text, at)
        if mark is None:
            break
        end = source.end_of_call(mark.end()) if mark[1] or mark[2] else mark.end()
        if end == mark.end() and (mark[1] or mark[2]):
            break
        at = end
    while text[at : at + 1].isspace():
        at += 1
    return at


def _paths(arguments: list[str]) -> list[str]:
    """The paths that an annotation names; [""] if it has none, [] if they are not plain strings."""
    for argument in arguments:
        named = _NAMED.match(argument)
        if named is None or named[1] in ("value", "path"):
            value = argument[named.end() :] if named else argument
            found = re.findall(r"""["'`]([^"'`\n]*)["'`]""", value)
            return found if value.startswith(('"', "'", "`", "{", "[")) and "${" not in value else []
    return [""]


def _controller(classes: list[str]) -> str:
    return classes[-1].removesuffix("Controller") if classes else ""
