"""What a file registers under a name that another file may register too.

No reader needs a parser, so half-typed files are read as far as they go.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from lineclear.code.commands import commands_of
from lineclear.code.events import events_of
from lineclear.code.manifests import packages_of
from lineclear.code.migrations import CHANGES, change_sets, migration_marks
from lineclear.code.routes import route_names
from lineclear.code.selectors import style_rules
from lineclear.code.sql import tables_of
from lineclear.code.variables import variables_of
from lineclear.core.radar.facts import (
    COMMAND,
    DEPENDENCY,
    EVENT,
    MIGRATION,
    ROUTE,
    SELECTOR,
    TABLE,
    VARIABLE,
    Key,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SIZE = 1_000_000  # characters
_STYLE = re.compile(r".*\.(?:css|scss|less)")


def keys_of(path: str, text: str) -> tuple[Key, ...]:
    """Each name with each of its meanings once. A variable that has a default somewhere in the file is not
    listed without one."""
    if len(text) > MAX_SIZE:
        return ()
    found: dict[tuple[str, str, str], Key] = {}
    for key in _keys(path, text):
        found.setdefault((key.kind, key.name, key.meaning), key)
    with_default = {key.name for key in found.values() if key.kind == VARIABLE and key.meaning}
    return tuple(
        key for key in found.values() if key.kind != VARIABLE or key.meaning or key.name not in with_default
    )


def _keys(path: str, text: str) -> Iterator[Key]:
    for name, (handler, row) in route_names(path, text).items():
        yield Key(ROUTE, name, handler, row)
    for kind, read in ((COMMAND, commands_of), (EVENT, events_of), (VARIABLE, variables_of)):
        for name, meaning, row in read(path, text):
            yield Key(kind, name, meaning, row)
    for name, meaning in migration_marks(path, text):
        yield Key(MIGRATION, name, meaning)
    for package in packages_of(path, text):
        yield Key(DEPENDENCY, f"{package.ecosystem} {package.name}", package.versions, package.row)
    if _STYLE.fullmatch(path):
        # The names of a module's style sheet are its own.
        place = f" in {path}" if ".module." in path else ""
        for selector, body, row in style_rules(text):
            yield Key(SELECTOR, selector + place, _declarations(body), row)
    if path.endswith(".sql"):
        for name, columns, row in tables_of(text):
            yield Key(TABLE, name, columns, row)
    if CHANGES.fullmatch(path):
        for name, body in change_sets(text).items():
            yield Key(MIGRATION, f"{path} {name}", body)


def _declarations(body: str) -> str:
    """The body of a rule; in alphabetical order where the order does not matter."""
    if "{" in body:
        return body
    parts = [re.sub(r"\s*:\s*", ": ", part.strip(), count=1) for part in body.split(";") if part.strip()]
    names = [part.partition(":")[0] for part in parts]
    is_ordered = len(set(names)) < len(names) or any(
        other.startswith(f"{one}-") for one, other in pairwise(sorted(names))
    )
    return "; ".join(parts if is_ordered else sorted(parts))
