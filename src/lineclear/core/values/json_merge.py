"""Three-way merge of JSON values: objects key by key, arrays and everything else as a whole.

Pure. The result shares parts with the arguments, so none of them may be changed afterwards. `json_text`
bounds the depth of values where they come in (`MAX_DEPTH`), so plain recursion is safe here.
"""

from __future__ import annotations

from dataclasses import dataclass


class Absent:
    """Stands for "no value", since null is a value."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()


@dataclass(frozen=True, slots=True)
class JsonConflict:
    """Both sides changed one place differently. `pointer` is a JSON pointer (RFC 6901), "" for the whole."""

    pointer: str
    base: object
    mine: object
    theirs: object


@dataclass(frozen=True, slots=True)
class JsonMerge:
    """The merged value, with `theirs` (the shared side) wherever there is a conflict."""

    value: object
    conflicts: list[JsonConflict]


def merge_json(base: object, mine: object, theirs: object) -> JsonMerge:
    """Any side may be ABSENT: not yet there in `base`, deleted in `mine` or `theirs`."""
    conflicts: list[JsonConflict] = []
    return JsonMerge(_merged(base, mine, theirs, "", conflicts), conflicts)


def _merged(
    base: object, mine: object, theirs: object, pointer: str, conflicts: list[JsonConflict]
) -> object:
    # Objects are not compared as a whole first: comparing at every level would walk the deepest part once
    # for each level above it.
    if type(mine) is dict and type(theirs) is dict:
        if base is ABSENT:
            return _merged_object({}, mine, theirs, pointer, conflicts)
        if type(base) is dict:
            return _merged_object(base, mine, theirs, pointer, conflicts)
    if is_same(mine, theirs) or is_same(base, mine):
        return theirs
    if is_same(base, theirs):
        return mine
    conflicts.append(JsonConflict(pointer, base, mine, theirs))
    return theirs


def _merged_object(
    base: dict[str, object],
    mine: dict[str, object],
    theirs: dict[str, object],
    pointer: str,
    conflicts: list[JsonConflict],
) -> dict[str, object]:
    """Keys in the order of `theirs`, then the keys that `mine` adds."""
    merged: dict[str, object] = {}
    for key in [*theirs, *(key for key in mine if key not in theirs)]:
        was, own, shared = base.get(key, ABSENT), mine.get(key, ABSENT), theirs.get(key, ABSENT)
        value = _merged(was, own, shared, below(pointer, key), conflicts)
        if value is not ABSENT:
            merged[key] = value
    return merged


def below(pointer: str, key: str) -> str:
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


def is_same(a: object, b: object) -> bool:
    """Are these equal as JSON texts, except for the order of keys? true is not 1, and 1 is not 1.0."""
    if type(a) is not type(b):
        return False
    if type(a) is dict and type(b) is dict:
        return a.keys() == b.keys() and all(is_same(value, b[key]) for key, value in a.items())
    if type(a) is list and type(b) is list:
        return len(a) == len(b) and all(map(is_same, a, b))
    # By repr: -0.0 and 0.0 are different texts although they compare equal.
    return repr(a) == repr(b) if type(a) is float else a == b
