"""Merges package-lock.json by path in node_modules, if every package finds its dependencies where npm would
look.

Only lockfileVersion 3, which lacks the old tree. Each entry comes from one side, every dependency is met by a
version within its range, and every package is needed. Otherwise there is no result.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lineclear.merge.handlers.by_key import merge_by_key, never
from lineclear.merge.handlers.json_files import Scanner
from lineclear.merge.handlers.npm_ranges import is_within
from lineclear.merge.result import MergeResult

if TYPE_CHECKING:
    from typing import Any

    Packages = dict[str, dict[str, Any]]

MODULES = "node_modules/"


def merge_npm_lock(base: str, left: str, right: str) -> MergeResult | None:
    result = merge_by_key(
        lambda text: Scanner(text).cut(), never, base, left, right, "packages of the lock file"
    )
    if result is None:
        return None
    ours, theirs, merged = (_packages(text) for text in (left, right, result.text))
    if ours is None or theirs is None or merged is None:
        return None
    is_one_sides = all(
        entry in (ours.get(place), theirs.get(place)) for place, entry in merged.items() if MODULES in place
    )
    return result if is_one_sides and _is_sound(merged) else None


def _packages(text: str) -> Packages | None:
    try:
        data = json.loads(text)
    except ValueError:
        return None
    if not isinstance(data, dict) or data.get("lockfileVersion") != 3 or "dependencies" in data:
        return None
    return packages_of(data)


def packages_of(data: dict[str, Any]) -> Packages | None:
    """Path -> package; None if the lock file has only the old tree."""
    packages = data.get("packages")
    if not isinstance(packages, dict) or not all(isinstance(entry, dict) for entry in packages.values()):
        return None
    return packages


def _is_sound(packages: Packages) -> bool:
    todo = [place for place, entry in packages.items() if MODULES not in place or entry.get("link")]
    seen = set(todo)
    while todo:
        place = todo.pop()
        for name, wanted, is_due in _needs(place, packages[place]):
            found = nearest(packages, place, name)
            if found is None:
                if is_due:
                    return False
                continue
            is_met = packages[found].get("link") or is_within(packages[found].get("version"), wanted)
            if is_due and not is_met:
                return False
            if found not in seen:
                seen.add(found)
                todo.append(found)
    return len(seen) == len(packages)


def _needs(place: str, entry: dict[str, Any]) -> list[tuple[str, Any, bool]]:
    """(name, range, is it required); development dependencies count only for the project's own packages."""
    kinds = [("dependencies", True), ("optionalDependencies", False), ("peerDependencies", False)]
    if MODULES not in place:
        kinds.append(("devDependencies", True))
    return [
        (name, wanted, is_due)
        for kind, is_due in kinds
        for name, wanted in (entry.get(kind) or {}).items()
        if isinstance(entry.get(kind), dict)
    ]


def nearest(packages: Packages, place: str, name: str) -> str | None:
    """The path of the package in the nearest node_modules upwards; None if there is none."""
    while True:
        candidate = f"{place}/{MODULES}{name}" if place else MODULES + name
        if candidate in packages:
            return candidate
        if not place:
            return None
        place = place.rpartition(f"/{MODULES}")[0] if f"/{MODULES}" in place else ""
