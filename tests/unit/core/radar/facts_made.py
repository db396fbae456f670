"""Facts for tests, in few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.radar.deltas import ChangedFile, Delta
from lineclear.core.radar.facts import (
    CALL,
    FUNCTION,
    PLAIN,
    Definition,
    FileFacts,
    Import,
    Parameter,
    Use,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


def parameters(words: str) -> tuple[Parameter, ...]:
    """`a b? c:int`: `b` has a default, `c` a type."""
    found = []
    for word in words.split():
        name, _, kind = word.partition(":")
        found.append(Parameter(name.rstrip("?"), PLAIN, not name.endswith("?"), kind))
    return tuple(found)


def function(
    name: str, takes: str = "", *, kind: str = FUNCTION, returns: str = "", text: str = ""
) -> Definition:
    head = f"def {name.rpartition('.')[2]}({takes})"
    return Definition(name, kind, 1, parameters(takes), returns, (), text or head, head)


def call(name: str, places: int = 0, *names: str, receiver: str = "", of: str = "", inside: str = "") -> Use:
    return Use(name, CALL, receiver, of, places, names, inside)


def brings(module: str, name: str, alias: str = "", *, is_passed_on: bool = False) -> Import:
    return Import(module, name, alias or name, is_passed_on)


def python(
    *definitions: Definition,
    uses: tuple[Use, ...] = (),
    imports: tuple[Import, ...] = (),
    is_broken: bool = False,
) -> FileFacts:
    return FileFacts("python", "", True, is_broken, definitions, uses, imports)


def side(name: str, ending: str = ".py", **files: tuple[FileFacts | None, FileFacts | None]) -> Delta:
    """`shop__cart=(before, after)` is the file `shop/cart.py`."""
    changed = {path.replace("__", "/") + ending: ChangedFile(*pair) for path, pair in files.items()}
    return Delta(name, changed)


class KnownWorld:
    """A world of a few files."""

    def __init__(self, files: Mapping[str, FileFacts] | None = None) -> None:
        self._files = dict(files or {})

    def facts(self, path: str) -> FileFacts | None:
        return self._files.get(path)

    def naming(self, word: str) -> dict[str, FileFacts]:
        return {
            path: facts
            for path, facts in self._files.items()
            if any(row.bare == word for row in facts.definitions)
        }
