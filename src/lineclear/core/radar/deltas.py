"""What one side changed: from the facts of its files before and after to definitions made, changed and gone,
and uses that are new.

A text that does not parse hides definitions, so it never counts as having removed one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from lineclear.core.radar.facts import FIELD, INTERFACE, MENTION, METHOD, TYPE, Use

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lineclear.core.radar.facts import Definition, FileFacts, Import, Key

_KEEPS_NAMES = ("python", "ruby", "php")  # every import at the top of a file can be imported from it again


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file before and after; None where there is none."""

    before: FileFacts | None
    after: FileFacts | None


@dataclass(frozen=True, slots=True)
class Reshaped:
    """A definition whose form changed or that is gone. Overloads have several forms. `moved_to` is the file
    that defines it now, `renamed_to` the name that took its place, "" if unknown. `is_gone`: nothing with its
    name is left in its file."""

    path: str
    old: tuple[Definition, ...]
    new: tuple[Definition, ...]
    moved_to: str = ""
    renamed_to: str = ""

    @property
    def is_gone(self) -> bool:
        return not self.new

    @property
    def name(self) -> str:
        return self.old[0].name

    @property
    def bare(self) -> str:
        return self.old[0].bare


@dataclass(frozen=True, slots=True)
class PlacedUse:
    """A use in a file. `is_new`: the side wrote it; otherwise it stood there, in a definition that the side
    changed."""

    path: str
    use: Use
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class PlacedImport:
    path: str
    imported: Import


@dataclass(frozen=True)
class Delta:
    """One side's work. `name` is the side's; `files` are those it changed."""

    name: str
    files: Mapping[str, ChangedFile] = field(default_factory=dict)

    @cached_property
    def reshaped(self) -> list[Reshaped]:
        """The definitions of the base that this side removed, moved or gave another form."""
        found = [row for path, file in self.files.items() for row in _reshaped(path, file)]
        if not any(row.is_gone for row in found):
            return found
        made = self._made_by_bare
        return [_followed(row, made) if row.is_gone else row for row in found]

    @cached_property
    def made(self) -> dict[tuple[str, str], tuple[Definition, ...]]:
        """(path, name) -> new definitions."""
        found = {}
        for path, file in self.files.items():
            before = _by_name(file.before)
            for name, rows in _by_name(file.after).items():
                if name not in before:
                    found[path, name] = rows
        return found

    @cached_property
    def _made_by_bare(self) -> dict[str, list[tuple[str, Definition]]]:
        found: dict[str, list[tuple[str, Definition]]] = {}
        for (path, _), rows in self.made.items():
            found.setdefault(rows[0].bare, []).append((path, rows[0]))
        return found

    @cached_property
    def edited(self) -> dict[tuple[str, str], tuple[tuple[Definition, ...], tuple[Definition, ...]]]:
        """(path, name) -> (before, after) of the innermost definitions whose text changed. A type counts only
        if none of its members explains the change."""
        found = {}
        for path, file in self.files.items():
            before, after = _by_name(file.before), _by_name(file.after)
            differing = {
                name
                for name in before.keys() | after.keys()
                if _texts(before.get(name, ())) != _texts(after.get(name, ()))
            }
            for name in differing & before.keys() & after.keys():
                has_member = any(other.startswith(name + ".") for other in differing)
                if not has_member:
                    found[path, name] = (before[name], after[name])
        return found

    @cached_property
    def used(self) -> dict[str, list[PlacedUse]]:
        """Bare name -> its uses that are new, and those that stood in a definition which this side edited."""
        found: dict[str, list[PlacedUse]] = {}
        for path, file in self.files.items():
            if file.after is None:
                continue
            old = Counter(map(_same_use, file.before.uses if file.before is not None else ()))
            inside_before = (
                {(_same_use(use), use.inside) for use in file.before.uses} if file.before else set()
            )
            # Those that stand where one stood before are the old ones.
            uses = sorted(file.after.uses, key=lambda use: (_same_use(use), use.inside) not in inside_before)
            for use in uses:
                is_new = old[_same_use(use)] <= 0
                old[_same_use(use)] -= 1
                if is_new or (path, use.inside) in self.edited:
                    found.setdefault(use.name, []).append(PlacedUse(path, use, is_new))
        return found

    @cached_property
    def imported(self) -> list[PlacedImport]:
        """The imports that are new."""
        found = []
        for path, file in self.files.items():
            before = {(row.module, row.name) for row in file.before.imports} if file.before else set()
            for row in file.after.imports if file.after is not None else ():
                if (row.module, row.name) not in before:
                    found.append(PlacedImport(path, row))
        return found

    @cached_property
    def keys(self) -> dict[tuple[str, str], tuple[str, Key]]:
        """(kind, name) -> (file, key) of what this side registers under a new name or with a new meaning."""
        before = {
            (key.kind, key.name, key.meaning)
            for file in self.files.values()
            for key in (file.before.keys if file.before is not None else ())
        }
        found: dict[tuple[str, str], tuple[str, Key]] = {}
        for path, file in self.files.items():
            for key in file.after.keys if file.after is not None else ():
                if (key.kind, key.name, key.meaning) not in before:
                    found.setdefault((key.kind, key.name), (path, key))
        return found

    @cached_property
    def gone_files(self) -> dict[str, str]:
        """Path -> where its definitions went ("" if nowhere), for files that this side removed."""
        gone = [path for path, file in self.files.items() if file.after is None and file.before is not None]
        if not gone:
            return {}
        new = [path for path, file in self.files.items() if file.before is None and file.after is not None]
        return {path: self._successor(path, new) for path in gone}

    def _successor(self, path: str, new: Iterable[str]) -> str:
        """The new file that defines most of what the removed one defined, at least half of it."""
        names = set(_by_name(self.files[path].before))
        shared = {other: len(names & set(_by_name(self.files[other].after))) for other in new}
        best = max(shared, key=lambda other: shared[other], default="")
        return best if best and names and shared[best] * 2 >= len(names) else ""

    def has(self, path: str) -> bool:
        return path in self.files


def _reshaped(path: str, file: ChangedFile) -> list[Reshaped]:
    if file.before is None or (file.after is not None and not file.after.is_read):
        return []
    after = _by_name(file.after)
    found = []
    for name, rows in _by_name(file.before).items():
        left = after.get(name, ())
        if not left and not _may_be_gone(name, file):
            continue
        if not left or [_form(row) for row in rows] != [_form(row) for row in left]:
            found.append(Reshaped(path, rows, left))
    return found


def _may_be_gone(name: str, file: ChangedFile) -> bool:
    """Is a definition that is not in the text any more really gone? Not if the text is broken, and not if the
    file still passes the name on."""
    after = file.after
    if after is None:
        return True
    if after.is_broken:
        return False
    for row in after.imports:
        is_passed_on = row.is_passed_on or after.language in _KEEPS_NAMES
        if is_passed_on and (row.name == "*" or row.alias == name):
            return False
    return True


def _followed(row: Reshaped, made: Mapping[str, list[tuple[str, Definition]]]) -> Reshaped:
    """Where a definition that is gone went: to another file, or to another name in the same scope."""
    old = row.old[0]
    elsewhere = [path for path, new in made.get(row.bare, ()) if path != row.path and _is_alike(new, old)]
    if elsewhere:
        return Reshaped(row.path, row.old, row.new, moved_to=elsewhere[0])
    scope = old.name.rpartition(".")[0]
    renamed = [
        new.name
        for rows in made.values()
        for path, new in rows
        if path == row.path and new.name.rpartition(".")[0] == scope and _is_alike(new, old)
    ]
    return Reshaped(row.path, row.old, row.new, renamed_to=renamed[0] if len(renamed) == 1 else "")


def _is_alike(new: Definition, old: Definition) -> bool:
    types = (TYPE, INTERFACE)
    is_kind = new.kind == old.kind or (new.kind in types and old.kind in types)
    return is_kind and (new.parameters is None) == (old.parameters is None)


def _by_name(facts: FileFacts | None) -> dict[str, tuple[Definition, ...]]:
    found: dict[str, tuple[Definition, ...]] = {}
    for row in facts.definitions if facts is not None else ():
        found[row.name] = (*found.get(row.name, ()), row)
    return found


def _texts(rows: Iterable[Definition]) -> list[str]:
    return sorted(row.text for row in rows)


def _form(row: Definition) -> tuple[object, ...]:
    """What others see of a definition. A type's members are definitions of their own."""
    is_async = row.head.startswith("async") or " async " in row.head
    return (row.kind, row.parameters, row.type, row.bases, row.is_open, row.is_optional, is_async)


def _same_use(use: Use) -> tuple[object, ...]:
    return (use.name, use.kind, use.receiver, use.receiver_type, use.places, use.names)


def members(facts: FileFacts | None, type_name: str, *kinds: str) -> dict[str, Definition]:
    """The members of a type, by their bare names."""
    rows = facts.definitions if facts is not None else ()
    prefix = type_name + "."
    wanted = kinds or (FIELD, METHOD)
    return {
        row.bare: row
        for row in rows
        if row.name.startswith(prefix) and "." not in row.name[len(prefix) :] and row.kind in wanted
    }


def import_as_use(placed: PlacedImport) -> Use:
    """An import names what it imports, as a use does."""
    return Use(placed.imported.name, MENTION)
