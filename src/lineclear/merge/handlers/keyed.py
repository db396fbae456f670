"""Three-way merge of a text that was cut into entries with keys: manifests, data files, lists, changelogs.

An entry is a leaf (`text`) or a container (`text` is its opening, `tail` its closing). Joined again, the
entries give exactly the text that they came from. If both sides want something different, the rule for the
kind of file (`choose`) decides; without a decision, `RivalChanges` is raised.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    # (path of keys, base, left, right) -> the merged text, or None
    Choose = Callable[[tuple[str, ...], str, str, str], str | None]
    Rank = tuple[tuple[int, ...], str]


_MOST_KEY = 60


class Undecided(Exception):
    """The text does not have the form that the handler can cut."""


class RivalChanges(Exception):
    """Both sides want something different. `reason` explains it to a person; `key` is the entry, "" for a
    whole list."""

    def __init__(self, reason: str, key: str = "") -> None:
        super().__init__(reason)
        self.reason, self.key = reason, key


@dataclass(slots=True, eq=False)
class KeyedEntry:
    """`lead` is the text before it (blanks, comments), `glue` the text between its children."""

    key: str
    lead: str
    text: str
    children: list[KeyedEntry] | None = None
    tail: str = ""
    glue: str = ""
    is_ordered: bool = False

    def own(self) -> str:
        """Its text without the lead."""
        if self.children is None:
            return self.text + self.tail
        return self.text + self.glue.join([child.write() for child in self.children]) + self.tail

    def write(self) -> str:
        return self.lead + self.own()

    def add(self, child: KeyedEntry) -> None:
        assert self.children is not None
        self.children.append(child)


def merge_entries(base: KeyedEntry, left: KeyedEntry, right: KeyedEntry, choose: Choose) -> KeyedEntry:
    return _Merger(choose).merge((), base, left, right)


class _Merger:
    def __init__(self, choose: Choose) -> None:
        self.choose = choose

    def merge(
        self, where: tuple[str, ...], base: KeyedEntry | None, left: KeyedEntry, right: KeyedEntry
    ) -> KeyedEntry:
        """The merged entry. `base` is None if both sides added the key."""
        lead = self._lead(where, base, left, right)
        if _is_same(left, right) or (base is not None and _is_same(right, base)):
            return _with_lead(left, lead)
        if base is not None and _is_same(left, base):
            return _with_lead(right, lead)
        if left.children is None or right.children is None or (base is not None and base.children is None):
            return self._leaf(where, base, left, right, lead)
        return self._container(where, base, left, right, lead)

    def _lead(
        self, where: tuple[str, ...], base: KeyedEntry | None, left: KeyedEntry, right: KeyedEntry
    ) -> str:
        if left.lead == right.lead:
            return left.lead
        old = base.lead if base is not None else None
        if right.lead == old:
            return left.lead
        if left.lead == old:
            return right.lead
        if not left.lead.strip() and not right.lead.strip():
            return left.lead  # blanks only
        raise _rivals("both sides changed the text above {}", where)

    def _leaf(
        self, where: tuple[str, ...], base: KeyedEntry | None, left: KeyedEntry, right: KeyedEntry, lead: str
    ) -> KeyedEntry:
        text = self.choose(where, base.own() if base is not None else "", left.own(), right.own())
        if text is None:
            raise _rivals("both sides changed {}" if base is not None else "both sides added {}", where)
        return KeyedEntry(left.key, lead, text)

    def _container(
        self, where: tuple[str, ...], base: KeyedEntry | None, left: KeyedEntry, right: KeyedEntry, lead: str
    ) -> KeyedEntry:
        opening = _one_of(where, base.text if base is not None else None, left.text, right.text)
        tail = _one_of(
            where, base.tail if base is not None else None, left.tail, right.tail, blanks_are_alike=True
        )
        olds = _by_key(base.children or []) if base is not None else {}
        lefts, rights = _by_key(left.children or []), _by_key(right.children or [])
        merged: dict[str, KeyedEntry] = {}
        for key in {**lefts, **rights}:
            child = self._child((*where, key), olds.get(key), lefts.get(key), rights.get(key))
            if child is not None:
                merged[key] = child
        _refuse_rival_edits(list(olds), list(lefts), list(rights))
        keys = merge_order(list(olds), list(lefts), list(rights), set(merged), is_ordered=left.is_ordered)
        children = [merged[key] for key in keys]
        for side in (left, right):
            _fit_leads(children, side.children or [], left.glue)
        if not left.glue:
            _drop_repeated_comments(children, lefts, rights)
        return KeyedEntry(left.key, lead, opening, children, tail, left.glue, left.is_ordered)

    def _child(
        self,
        where: tuple[str, ...],
        base: KeyedEntry | None,
        left: KeyedEntry | None,
        right: KeyedEntry | None,
    ) -> KeyedEntry | None:
        if left is not None and right is not None:
            return self.merge(where, base, left, right)
        there = left or right
        if base is None or there is None:
            return there
        if _is_same(there, base):
            return None  # removed by one side, untouched by the other
        raise _rivals("one side removed {}, the other changed it", where)


def _rivals(reason: str, where: tuple[str, ...]) -> RivalChanges:
    keys = [shown for key in where if (shown := _shown(key))]
    if not keys:
        return RivalChanges(reason.format("the file"))
    return RivalChanges(reason.format(f"`{' > '.join(keys)}`"), keys[-1])


def _shown(key: str) -> str:
    """The key for a person: on one line, without quotes and the brackets of a table, not too long."""
    plain = " ".join(key.replace('"', "").split()).strip("'`[]").replace("`", "'")
    return plain if len(plain) <= _MOST_KEY else plain[: _MOST_KEY - 3] + "..."


def _is_same(one: KeyedEntry, other: KeyedEntry) -> bool:
    """Are they equal, ignoring the lead? Versions of a text may share the same object."""
    return one is other or one.own() == other.own()


def _with_lead(entry: KeyedEntry, lead: str) -> KeyedEntry:
    return KeyedEntry(entry.key, lead, entry.text, entry.children, entry.tail, entry.glue, entry.is_ordered)


def _one_of(
    where: tuple[str, ...], base: str | None, left: str, right: str, *, blanks_are_alike: bool = False
) -> str:
    if left == right or right == base:
        return left
    if left == base:
        return right
    if blanks_are_alike and left.split() == right.split():
        return left
    raise _rivals("both sides changed {}", where)


def _by_key(entries: list[KeyedEntry]) -> dict[str, KeyedEntry]:
    found: dict[str, KeyedEntry] = {}
    for entry in entries:
        if entry.key in found:
            raise Undecided(f"{entry.key} is there twice")
        found[entry.key] = entry
    return found


def _drop_repeated_comments(
    children: list[KeyedEntry], lefts: dict[str, KeyedEntry], rights: dict[str, KeyedEntry]
) -> None:
    """If both sides added an entry under the same comment, keep the comment only above the first."""
    for before, child in pairwise(children):
        is_from_both = all((before.key in side) != (child.key in side) for side in (lefts, rights))
        if is_from_both and child.lead.strip() and child.lead == before.lead:
            child.lead = ""


def _fit_leads(children: list[KeyedEntry], side: list[KeyedEntry], glue: str) -> None:
    """The first entry often has different blanks before it: an entry that is no longer the first, or has
    become the first, gets the blanks of its new place."""
    if len(side) == 1 and not glue and side[0].children is None and not side[0].lead.strip():
        for before, child in pairwise(children):
            if child.key == side[0].key and before.children is None and child.lead == side[0].lead:
                child.lead = ""
    if len(side) < 2 or side[0].lead.strip() or side[1].lead.strip() or side[0].lead == side[1].lead:
        return
    for place, child in enumerate(children):
        if child.key == side[0].key and place > 0 and child.lead == side[0].lead:
            child.lead = side[1].lead
        elif place == 0 and child.key != side[0].key and child.lead == side[1].lead:
            child.lead = side[0].lead


def _refuse_rival_edits(base: list[str], left: list[str], right: list[str]) -> None:
    """If the key is the text, an edit looks like a removal and an addition: two edits must not become two
    entries, and an edit must not silently win over a removal."""
    ours, theirs = _replaced(base, left), _replaced(base, right)
    dropped = set(base) - set(left) - set(right)
    for key in base:
        if key in dropped and ours.get(key) != theirs.get(key):
            raise _rivals("both sides changed {}", (key,))


def _replaced(base: list[str], side: list[str]) -> dict[str, tuple[str, ...]]:
    """Removed key -> the keys that the side put in its place."""
    place = {key: number for number, key in enumerate(base)}
    found: dict[str, tuple[str, ...]] = {}
    run: list[str] = []
    last = -1
    for key in [*side, ""]:
        at = place.get(key, -1) if key else len(base)
        if at < 0:
            run.append(key)
            continue
        if run:
            found |= {base[number]: tuple(run) for number in range(last + 1, at)}
        last, run = at, []
    return found


# -- order -------------------------------------------------------------------------------------


def merge_order(
    base: list[str], left: list[str], right: list[str], kept: set[str], *, is_ordered: bool = False
) -> list[str]:
    """The kept keys in each side's order. Additions of both sides at one place are sorted if the list is
    sorted there, else left's come first."""
    shared = set(base) & set(left) & set(right)
    old, ours, theirs = ([key for key in side if key in shared] for side in (base, left, right))
    if ours != old and theirs != old and ours != theirs:
        raise RivalChanges("both sides changed the order")
    common = (set(left) & set(right)) - set(base)
    if [key for key in left if key in common] != [key for key in right if key in common]:
        raise RivalChanges("both sides added the same keys in different order")
    primary, secondary = (left, right) if theirs == old else (right, left)
    order = [key for key in primary if key in kept]
    known = set(base)
    added = set(primary) - set(secondary)
    for previous, run in _runs(order, secondary, kept):
        start = order.index(previous) + 1 if previous is not None else 0
        end = start
        while end < len(order) and order[end] in added and order[end] not in known:
            end += 1
        met = order[start:end]
        if met and is_ordered:
            raise RivalChanges("both sides added at one place of a list whose order counts")
        ours_first = [*met, *run] if primary is left else [*run, *met]
        order[start:end] = sorted_here(order[:start], met, run, order[end:]) or ours_first
    return order


def _runs(order: list[str], side: list[str], kept: set[str]) -> list[tuple[str | None, list[str]]]:
    """(key before the run that is already in the order, run of keys) of everything that the side adds."""
    there = set(order)
    runs: list[tuple[str | None, list[str]]] = []
    previous: str | None = None
    is_open = False
    for key in side:
        if key in there:
            previous, is_open = key, False
        elif key in kept:
            if not is_open:
                runs.append((previous, []))
                is_open = True
            runs[-1][1].append(key)
    return runs


def sorted_here(before: list[str], met: list[str], run: list[str], after: list[str]) -> list[str] | None:
    """Both runs as one sorted run, if each of them is sorted among its neighbours; else None."""
    if not met:
        return run
    before, after = before[-4:], after[:4]
    for rank, is_reversed, least in (
        (_plain, False, 4),
        (_folded, False, 4),
        (_numbers, False, 3),
        (_numbers, True, 3),
    ):
        if len(before) + len(after) < least:
            continue
        if all(
            _is_sorted([rank(key) for key in (*before, *part, *after)], is_reversed) for part in (met, run)
        ):
            return sorted([*met, *run], key=rank, reverse=is_reversed)
    return None


def _is_sorted(ranks: list[Rank], is_reversed: bool) -> bool:
    pairs = pairwise(reversed(ranks) if is_reversed else ranks)
    return all(first < second for first, second in pairs)


def _plain(key: str) -> Rank:
    return ((), key)


def _folded(key: str) -> Rank:
    return ((), key.casefold())


def _numbers(key: str) -> Rank:
    """Sort key: the first number in the key, for versions and issue numbers. Keys without one are not
    sorted."""
    found = re.search(r"\d{1,18}(?:\.\d{1,18})*", key)
    return (tuple(int(part) for part in found[0].split(".")) if found else (), "")
