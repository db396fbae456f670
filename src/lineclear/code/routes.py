"""The routes that a text registers, read without a parser."""

from __future__ import annotations

import re

LOCAL_ROUTE = "route below"  # another file may add a prefix to it
_ROUTE = re.compile(
    r"""@(\w+(?:\.\w+)*\.(?:route|get|post|put|patch|delete))\(\s*["']([^"'\n]+)["']"""
    r"""|\b((?:app|router|server)\.(?:get|post|put|patch|delete))\(\s*["'`](/[^"'`\n]*)["'`]"""
    r"""|^\s*(?:re_)?path\(\s*r?["']([^"'\n]*)["']"""
    r"""|@(Get|Post|Put|Patch|Delete|Request)Mapping\(\s*["']([^"'\n]+)["']""",
    re.M,
)


def routes_of(text: str) -> dict[str, str]:
    """Method and path of each route that a text registers -> its line. Uses no parser, so that whole trees
    can be searched."""
    found: dict[str, str] = {}
    for match in _ROUTE.finditer(text):
        words = [group for group in match.groups() if group is not None]
        end = text.find("\n", match.end())
        line = text[match.start() : end if end >= 0 else len(text)]
        kind = "route of" if words[0].startswith("app.") else LOCAL_ROUTE
        found[" ".join([kind, *words])] = line.strip()
    return found
