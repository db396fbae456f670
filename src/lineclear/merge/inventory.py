"""What a file defines: duplicate definitions, keys, case labels and selectors of one scope; its imports.

Part of the verifier. Reads one syntax tree; compares nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.code.imports import imported_names, name_bound_by
from lineclear.code.nodes import flattened
from lineclear.code.symbols import label_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.code.languages.table import Language
    from lineclear.merge.shared_nodes import Part, Shared

# Definitions inside these are private to them.
_CLOSED = ("function", "method", "constructor", "field", "variable", "constant", "case", "key", "property")
MAX_IMPORT_DEPTH = 3
MAX_KNOWN_DEPTH = 3
MIN_KNOWN_BYTES = 64


class Inventory:
    """`repeated` describes the duplicates; `scopes` are the scopes that have duplicates, and all scopes
    around them."""

    def __init__(self) -> None:
        self.repeated: set[str] = set()
        self.scopes: set[str] = set()
        self.imports: set[str] = set()
        self.bindings: set[str] = set()
        self._times: dict[str, int] = {}

    def repeat(self, label: str, scope: str, times: int) -> None:
        self.repeated.add(f"{label} in {scope or 'the file'}" + (f" ({times} times)" if times > 2 else ""))
        while scope and scope not in self.scopes:
            self.scopes.add(scope)
            scope = scope.rpartition("/")[0]

    def note_import(self, name: str) -> None:
        """Adds one entry to `repeated` for each repetition."""
        times = self._times[name] = self._times.get(name, 0) + 1
        if times > 1:
            self.repeated.add(f"import {name}" + " again" * (times - 2))
        self.imports.add(name)

    def note_binding(self, name: str) -> None:
        """Two imports that define the same name are legal in a few languages, but never intended."""
        bound = f"import under the name {name}"
        if name and bound in self.bindings:
            self.repeated.add(bound)
        self.bindings.add(bound)


def known_parts(roots: list[Part]) -> set[bytes]:
    """The texts of the larger nodes near the top: an equal node of the result need not be searched."""
    found: set[bytes] = set()
    level = roots
    for _ in range(MAX_KNOWN_DEPTH):
        inner = (child for part in level for child in part.inner() if _is_large(child))
        level = list(dict.fromkeys(inner))
        found.update(child.text for child in level)
    return found


def _is_large(part: Part) -> bool:
    return len(part.text) >= MIN_KNOWN_BYTES


def take_inventory(
    language: Language,
    root: Part,
    *,
    known: set[bytes] | None = None,
    shared: Shared | None = None,
    scopes: set[str] | None = None,
) -> Inventory:
    """The duplicates and imports of a tree. Skips parts that are `known` or `shared`, and all scopes other
    than `scopes`, if given."""
    taken = Inventory()
    todo: list[tuple[Part, str]] = [(root, "")]
    while todo:
        part, scope = todo.pop()
        if scopes is not None and scope and scope not in scopes:
            continue
        if not (known and _is_large(part) and part.text in known):
            todo += _look_at(language, part, scope, taken, shared.inside(part) if shared else set())
    for name in imports_of(language, root):
        taken.note_import(name)
        taken.note_binding(name_bound_by(language, name))
    return taken


def imports_of(language: Language, part: Part, depth: int = MAX_IMPORT_DEPTH) -> list[str]:
    """The imports near the top of the tree; for those inside functions, the count of words must do."""
    found: list[str] = []
    for child in part.inner():
        if child.kind in language.imports:
            if child.imports is None:
                child.imports = imported_names(language, child.node)
            found += child.imports
        if depth and child.kind in language.import_parents:
            found += imports_of(language, child, depth - 1)
    return found


def take_definitions(language: Language, roots: Sequence[Part], shared: Shared) -> list[dict[str, bytes]]:
    """For each version: scope and name of each definition outside functions -> its text. Leaves out
    duplicates, and definitions that all versions share unless another one may have the same name."""
    owned = [_defined_by(language, shared.apart(root)) for root in roots]
    met = _met_by([name for own, _ in owned for name in own])
    common, twice_in_common = _defined_by(
        language, [part for part in shared.inside(roots[0]) if _may_meet(language, part, met)]
    )
    found = []
    for own, twice in owned:
        both = common | own
        for name in twice | twice_in_common | (common.keys() & own.keys()):
            del both[name]
        found.append(both)
    return found


def _met_by(names: list[str]) -> set[str]:
    """The names with and without their parameters, and the scopes around them."""
    met: set[str] = set()
    for name in names:
        around = name
        while around and around not in met:
            met.add(around)
            around = around.rpartition("/")[0]
        met.add(name.partition("(")[0])
    return met


def _may_meet(language: Language, part: Part, met: set[str]) -> bool:
    label = _label_of(language, part) if part.kind not in language.opaque else ""
    return not label or f"/{label}" in met or f"/{label}".partition("(")[0] in met


def _defined_by(language: Language, parts: list[Part]) -> tuple[dict[str, bytes], set[str]]:
    """(name -> text of each definition, names that are defined more than once)."""
    found: dict[str, bytes] = {}
    twice: set[str] = set()
    todo: list[tuple[list[Part], str]] = [(parts, "")]
    while todo:
        inner, scope = todo.pop()
        for child in inner:
            kind = child.kind
            label = _label_of(language, child) if kind not in language.opaque else ""
            name = f"{scope}/{label}" if label else scope
            if label:
                if name in found:
                    twice.add(name)
                found[name] = child.text if kind != "table" else _table(child)
            if kind in language.bodies or (label and not label.startswith(_CLOSED)):
                todo.append((child.inner(), name))
    return found, twice


def _table(part: Part) -> bytes:
    """The rows of a table. Comments at its end belong to the next table."""
    rows = list(part.inner())
    while rows and rows[-1].kind == "comment":
        rows.pop()
    return b"\n".join(row.text for row in rows)


def _look_at(
    language: Language, part: Part, scope: str, taken: Inventory, shared: set[Part]
) -> list[tuple[Part, str]]:
    """Records duplicates directly inside a part; returns the inner parts to look at next."""
    counted: dict[str, int] = {}
    further = []
    is_list = part.kind in language.lists
    for child in part.inner():
        if is_list and len(child.text) > 3:
            _count(counted, f"element {flattened(child.text)[:200]}")
        label = _label_of(language, child)
        if label:
            _count(counted, label)
        if child.kind not in language.opaque and child not in shared and not child.is_leaf():
            further.append((child, f"{scope}/{label}" if label else scope))
    for label, times in counted.items():
        if times > 1:
            taken.repeat(label, scope, times)
    return further


def _label_of(language: Language, part: Part) -> str:
    if part.label is None:
        part.label = label_of(language, part.node)
    return part.label


def _count(counted: dict[str, int], label: str) -> None:
    counted[label] = counted.get(label, 0) + 1
