"""The names that a side adds in a file and another file may define too: selectors, routes, change sets."""

from __future__ import annotations

import re

from lineclear.code.migrations import change_sets
from lineclear.code.parse import MAX_SIZE
from lineclear.code.routes import routes_of
from lineclear.code.selectors import selectors_of

STYLES = re.compile(r"(?!.*\.module\.).*\.(?:css|scss|less)")
CHANGES = re.compile(
    r"(?:.*/)?[^/]*(?:change|liquibase|migration)[^/]*(?:/.*)?\.(?:xml|ya?ml|json|sql)", re.I
)
ROUTED = re.compile(r".*\.(?:py|js|ts|mjs|rb|go|java|kt)")

# What the names are: (in which files, a word that every such file contains, how they are found).
_KINDS = {
    "selector": (STYLES, re.compile(r"[{]"), selectors_of),
    "route": (ROUTED, re.compile(r"(?i:route|get|post|put|patch|delete|path|mapping)\("), routes_of),
    "change set": (CHANGES, re.compile(r"change[sS]et"), change_sets),
}
KINDS = tuple(_KINDS)


def may_add_names(path: str, text: str) -> bool:
    """A quick look, so that most files need no more. Large files are not searched."""
    return len(text) <= MAX_SIZE and any(
        files.fullmatch(path) and hint.search(text) for files, hint, _ in _KINDS.values()
    )


def names_added(path: str, text: str, before: str) -> dict[str, dict[str, str]]:
    """Kind -> name -> body of the names that are in the text and were not before."""
    found = {}
    for kind, (files, _, list_names) in _KINDS.items():
        if files.fullmatch(path):
            known = list_names(before)
            found[kind] = {name: body for name, body in list_names(text).items() if name not in known}
    return found
