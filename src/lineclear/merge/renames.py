"""Finds renamed entities: the old name is gone, and one new entity of the same kind has nearly the same
body."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineclear.merge.handlers.keyed import KeyedEntry

LEAST_ALIKE = 0.7
LEAST_WORDS = 12  # two getters are alike without a rename
_WORD = re.compile(r"\w+|[^\w\s]")


def match_renamed(base: KeyedEntry, side: KeyedEntry) -> None:
    """Give each renamed entity of the side the key that it has in the base."""
    old = {child.key: child for child in base.children or []}
    new = {child.key: child for child in side.children or []}
    gone = [child for key, child in old.items() if key not in new]
    come = [child for key, child in new.items() if key not in old]
    for child in gone:
        alike = [other for other in come if _is_same_kind(child, other) and _is_alike(child, other)]
        rivals = [other for other in gone if alike and _is_alike(other, alike[0])]
        if len(alike) == 1 and rivals == [child]:
            alike[0].key = child.key
            come.remove(alike[0])


def _is_same_kind(one: KeyedEntry, other: KeyedEntry) -> bool:
    return one.key.partition(" ")[0] == other.key.partition(" ")[0]


def _is_alike(one: KeyedEntry, other: KeyedEntry) -> bool:
    a, b = (Counter(_WORD.findall(entry.text)) for entry in (one, other))
    size = max(a.total(), b.total())
    return min(a.total(), b.total()) >= LEAST_WORDS and (a & b).total() >= LEAST_ALIKE * size
