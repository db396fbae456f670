"""Which reader reads the routes of which file, and the name of a route among all files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.routes.annotated import annotated_routes
from lineclear.code.routes.c_sharp import c_sharp_routes
from lineclear.code.routes.go import go_routes
from lineclear.code.routes.kotlin import kotlin_routes
from lineclear.code.routes.php import php_routes
from lineclear.code.routes.python import python_routes
from lineclear.code.routes.ruby import ruby_routes
from lineclear.code.routes.rust import rust_routes
from lineclear.code.routes.script import script_routes
from lineclear.code.source_text import SourceText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lineclear.code.routes.route import Route

ROUTED = re.compile(r".*\.(?:py|[mc]?[jt]s|[jt]sx|rb|go|rs|java|kt|cs|php)")
_HINT = re.compile(r"(?i)route|url|get|post|put|patch|delete|path|mapping|handle|\bmap\w|any\b")
# Folders that hold programs of their own: a route of one is no route of another.
_PROGRAM = re.compile(
    r"(?:(.*)/)??(?:(?:services|apps|packages|projects|modules|examples|cmd)/[^/]+|(?=src/))"
)
_READERS: dict[str, tuple[Callable[[SourceText], Iterator[Route]], ...]] = {
    ".py": (python_routes,),
    ".rb": (ruby_routes,),
    ".java": (annotated_routes,),
    ".kt": (annotated_routes, kotlin_routes),
    ".cs": (annotated_routes, c_sharp_routes),
    ".php": (annotated_routes, php_routes),
    ".go": (go_routes,),
    ".rs": (annotated_routes, rust_routes),
}
_SCRIPT = (annotated_routes, script_routes)


def routes_in(path: str, text: str) -> list[Route]:
    if not ROUTED.fullmatch(path) or not _HINT.search(text):
        return []
    source = SourceText(path, text)
    readers = _READERS.get(path[path.rfind(".") :], _SCRIPT)
    return [route for read in readers for route in read(source)]


def route_names(path: str, text: str) -> dict[str, tuple[str, int]]:
    """Name -> (handler, row). A route that another file may put below a prefix has its file in its name."""
    found: dict[str, tuple[str, int]] = {}
    for route in routes_in(path, text):
        place = f" of {route.owner} in {path}" if route.owner else _of_program(path)
        handler = f"{route.handler} in {path}" if route.is_inline else route.handler
        found.setdefault(f"{route.method} {route.path}{place}", (handler, route.row))
    return found


def _of_program(path: str) -> str:
    found = _PROGRAM.match(path)
    folder = found[0].strip("/") if found else ""
    return f" of {folder}" if folder else ""
