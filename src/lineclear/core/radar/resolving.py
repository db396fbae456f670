"""Does a name in one file mean a definition in another? Answered from imports, packages and receivers alone.

What these do not decide is only decided for a name that has no second definition in the repository; otherwise
the answer is no. A wrong "yes" costs an agent's attention.
"""

from __future__ import annotations

from posixpath import dirname
from typing import TYPE_CHECKING

from lineclear.core.radar.facts import INTERFACE, TYPE
from lineclear.core.radar.findings import LIKELY, SURE
from lineclear.core.radar.modules import BY_PACKAGE, Place, files_of, is_module_of

if TYPE_CHECKING:
    from typing import Protocol

    from lineclear.core.radar.facts import Definition, FileFacts, Import, Use

    class World(Protocol):
        """The files as they would be after the merge."""

        def facts(self, path: str, /) -> FileFacts | None:
            """Of one file; None if there is none."""

        def naming(self, word: str, /) -> dict[str, FileFacts]:
            """The files that contain the word."""


_SELVES = ("self", "this", "cls", "super", "super()", "Self", "static", "parent", "base", "@self")
# Names with a meaning of their own in standard libraries, or in most programs.
_COMMON = frozenset((
    "add", "all", "append", "apply", "build", "call", "check", "clear", "close", "copy", "count",
    "create", "data", "delete", "end", "error", "exists", "filter", "find", "first", "format", "get",
    "handle", "has", "id", "index", "init", "insert", "is_valid", "items", "join", "key", "keys",
    "last", "length", "list", "load", "log", "main", "map", "match", "merge", "name", "new", "next",
    "open", "parse", "pop", "post", "process", "push", "put", "read", "register", "remove", "render",
    "replace", "reset", "run", "save", "send", "set", "setup", "size", "sort", "split", "start",
    "state", "status", "stop", "strip", "submit", "test", "text", "toString", "to_s", "type", "update",
    "url", "value", "values", "write",
))  # fmt: skip


def means(use: Use, here: Place, wanted: Definition, there: Place, world: World) -> str:
    """How sure it is that a use in the file `here` means the definition `wanted` of the file `there`: SURE,
    LIKELY, or "" if it does not or that cannot be told."""
    if use.name != wanted.bare or here.family != there.family:
        return ""
    owner = wanted.name.rpartition(".")[0]
    if owner:
        return _means_member(use, here, owner, wanted, there, world)
    if use.receiver:
        return SURE if _is_module(use.receiver, here, there) else ""
    return sees(use.name, here, there, world)


def imports_name(row: Import, here: Place, name: str, there: Place) -> bool:
    """Does this import of the file `here` name this top-level definition of the file `there`?"""
    return here.family == there.family and row.name == name and is_module_of(row.module, here, there)


def _means_member(use: Use, here: Place, owner: str, wanted: Definition, there: Place, world: World) -> str:
    bare_owner = bare_type(owner)
    if use.receiver in _SELVES:
        inside = use.inside.rpartition(".")[0]
        if here.path == there.path and inside == owner:
            return SURE
        row = next((row for row in here.facts.definitions if row.name == inside), None)
        is_below = row is not None and bare_owner in map(bare_type, row.bases)
        return sees(bare_owner, here, there, world) if is_below else ""
    if use.receiver_type:
        is_typed = bare_type(use.receiver_type) == bare_owner
        return sees(bare_owner, here, there, world) if is_typed else ""
    if bare_type(use.receiver) == bare_owner:
        return sees(bare_owner, here, there, world)
    if not use.receiver or _is_alias(use.receiver, here):
        return ""
    if wanted.bare in _COMMON or len(wanted.bare) < 4:
        return ""
    return LIKELY if _is_only(wanted, there, world) else ""


def sees(name: str, here: Place, there: Place, world: World) -> str:
    """Does the bare name in the file `here` mean the top-level definition of that name in `there`?"""
    if here.path == there.path:
        return SURE
    if any(row.name == name for row in here.facts.definitions):
        return ""
    imports = here.facts.imports
    for row in imports:
        if row.alias == name or (row.name == name and not row.alias):
            return (
                SURE if row.name in (name, "", "default") and _brings(row, name, here, there, world) else ""
            )
    if any(row.name == "*" and is_module_of(row.module, here, there) for row in imports):
        return SURE
    if here.family == "go":
        is_seen = dirname(here.path) == dirname(there.path) and here.package == there.package
        return SURE if is_seen else ""
    if here.family in BY_PACKAGE:
        is_seen = here.package == there.package or any(
            row.name == "" and row.module == there.package for row in imports
        )
        is_around = here.family == "c_sharp" and here.package.startswith(there.package + ".")
        return SURE if is_seen or is_around else ""
    if here.family == "ruby":
        return LIKELY if _is_only_type(name, there, world) else ""
    return ""


def _brings(row: Import, name: str, here: Place, there: Place, world: World) -> bool:
    """Does the import bring the definition from `there`, itself or through one file that passes it on?"""
    if is_module_of(row.module, here, there):
        return True
    for path in files_of(row.module, here):
        facts = world.facts(path)
        if facts is None or path == there.path:
            continue
        middle = Place(path, facts)
        for inner in facts.imports:
            is_passed_on = inner.is_passed_on or middle.family == "python"
            brings = inner.name == "*" or inner.alias == name
            if is_passed_on and brings and is_module_of(inner.module, middle, there):
                return True
    return False


def _is_module(receiver: str, here: Place, there: Place) -> bool:
    """Is the receiver a module, package or namespace that holds the file `there`?"""
    for row in here.facts.imports:
        is_whole = row.name in ("", "*")
        if receiver not in ((row.alias, row.module) if is_whole else (row.alias,)):
            continue
        module = row.module if is_whole else _below(row.module, row.name, here.family)
        if is_module_of(module, here, there):
            return True
    return here.family == "rust" and is_module_of(receiver, here, there)


def _below(module: str, name: str, family: str) -> str:
    separator = {"rust": "::", "php": "\\"}.get(family, "" if module.endswith(".") else ".")
    return f"{module}{separator}{name}"


def _is_alias(receiver: str, here: Place) -> bool:
    first = receiver.partition(".")[0].partition("::")[0]
    return any(first in (row.alias, row.module) for row in here.facts.imports)


def _is_only(wanted: Definition, there: Place, world: World) -> bool:
    """Is this the only definition with its bare name?"""
    for path, facts in world.naming(wanted.bare).items():
        for row in facts.definitions:
            if row.bare == wanted.bare and (path, row.name) != (there.path, wanted.name):
                return False
    return True


def _is_only_type(name: str, there: Place, world: World) -> bool:
    for path, facts in world.naming(name).items():
        is_type = any(row.bare == name and row.kind in (TYPE, INTERFACE) for row in facts.definitions)
        if is_type and path != there.path:
            return False
    return True


def may_inherit(owner: str, name: str, here: Place, world: World) -> bool:
    """May the type get this member from a base? True also if a base is not in the repository."""
    row = next((row for row in here.facts.definitions if row.name == owner), None)
    for base in map(bare_type, row.bases if row is not None else ()):
        if base in ("object", "Protocol", "ABC", "Generic", "Enum"):
            continue
        rows = [
            (facts, other.name)
            for facts in world.naming(base).values()
            for other in facts.definitions
            if other.bare == base and other.kind in (TYPE, INTERFACE)
        ]
        if not rows or any(
            inner.name == f"{found}.{name}" for facts, found in rows for inner in facts.definitions
        ):
            return True
    return False


def bare_type(text: str) -> str:
    """The bare name of a type: without its package, pointer and arguments."""
    for opening in ("<", "[", "("):
        text = text.partition(opening)[0]
    text = text.strip().lstrip("&*?").removeprefix("mut ").removesuffix("?").strip()
    for separator in (".", "::", "\\"):
        text = text.rpartition(separator)[2]
    return text
