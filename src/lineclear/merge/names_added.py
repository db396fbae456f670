"""The names that a side adds in a file and another file may define too: selectors, routes, change sets."""

from __future__ import annotations

import re

from lineclear.code.migrations import CHANGES, change_sets
from lineclear.code.routes import ROUTED, route_names
from lineclear.code.selectors import STYLES, selectors_of
from lineclear.merge.bounds import MAX_SIZE

_VERBS = "get|post|put|patch|delete"


def _selectors(_path: str, text: str) -> dict[str, str]:
    return selectors_of(text)


def _routes(path: str, text: str) -> dict[str, str]:
    return {name: handler for name, (handler, _) in route_names(path, text).items()}


def _change_sets(_path: str, text: str) -> dict[str, str]:
    return change_sets(text)


# What the names are: (in which files, a word that every such file contains, how they are found).
_KINDS = {
    "selector": (STYLES, re.compile(r"[{]"), _selectors),
    "route": (
        ROUTED,
        re.compile(
            rf"(?i:route|{_VERBS}|path|mapping|handle\w*|any|all)[(\[{{]|(?i:{_VERBS})\s*[\"']|Mapping\b|\[Http"
        ),
        _routes,
    ),
    "change set": (CHANGES, re.compile(r"change[sS]et"), _change_sets),
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
            known = list_names(path, before)
            found[kind] = {name: body for name, body in list_names(path, text).items() if name not in known}
    return found
