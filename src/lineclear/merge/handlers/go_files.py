"""go.mod by module, where the higher version wins as in Go itself; go.sum by line."""

from __future__ import annotations

import re
from collections import Counter

from lineclear.merge.handlers import locks
from lineclear.merge.handlers.by_key import merge_by_key, never
from lineclear.merge.handlers.keyed import KeyedEntry, RivalChanges, Undecided
from lineclear.merge.lines import split_lines
from lineclear.merge.result import Labels, MergeResult

_BLOCK = re.compile(r"(require|replace|exclude|retract|tool)\s*\(\s*$")


def merge(path: str, base: str, left: str, right: str, labels: Labels) -> MergeResult | None:
    if path.endswith("go.sum"):
        try:
            if not _is_dropped_and_taken(base, left, right):
                # Two checksums for one module and version are never a choice.
                result = merge_by_key(_cut_sum, never, base, left, right, "go.sum lines")
                if result is not None:
                    return result
        except RivalChanges:
            pass  # the advice for a lock file is the same, whatever conflicts
        return locks.refuse(path, base, left, right, labels)
    result = merge_by_key(_cut_mod, _higher, base, left, right, "modules")
    if result is None or _is_twice(result.text, base, left, right):
        return None
    return result


def _is_dropped_and_taken(base: str, left: str, right: str) -> bool:
    """Did one side remove lines of a module while the other added some? Only `go mod tidy` knows which lines
    are needed."""
    old, ours, theirs = (set(text.split("\n")) for text in (base, left, right))
    dropped = [{line.split(" ")[0] for line in old - side} for side in (ours, theirs)]
    taken = [{line.split(" ")[0] for line in side - old} for side in (ours, theirs)]
    return bool(dropped[0] & taken[1] or dropped[1] & taken[0])


def _cut_sum(text: str) -> KeyedEntry:
    children = []
    for line in split_lines(text):
        words = line.split()
        if len(words) != 3:
            raise Undecided("not a line of go.sum")
        children.append(KeyedEntry(f"{words[0]} {words[1]}", "", line))
    return KeyedEntry("", "", "", children)


def _cut_mod(text: str) -> KeyedEntry:
    root = KeyedEntry("", "", "", [])
    assert root.children is not None
    block: KeyedEntry | None = None
    lead = ""
    for line in split_lines(text):
        plain = line.split("//")[0].strip()
        if block is not None and plain == ")":
            block.tail = lead + line
            block, lead = None, ""
        elif not plain:
            lead += line
        elif block is None and _BLOCK.match(plain):
            name = _BLOCK.match(plain)
            assert name is not None
            block = KeyedEntry(name[1], lead, line, [])
            root.children.append(block)
            lead = ""
        else:
            inside = block.children if block is not None else root.children
            (inside if inside is not None else []).append(KeyedEntry(_mod_key(plain, block), lead, line))
            lead = ""
    if block is not None:
        raise Undecided("a block does not end")
    root.tail = lead
    _name_blocks(root.children)
    return root


def _name_blocks(entries: list[KeyedEntry]) -> None:
    """Give each block a key: its kind, and how many blocks of that kind follow, since new ones come first."""
    seen: Counter[str] = Counter()
    for entry in reversed(entries):
        if entry.children is not None:
            is_indirect = all("// indirect" in child.text for child in entry.children)
            kind = f"{entry.key} ({'indirect' if is_indirect else 'direct'})"
            entry.key = f"{kind} {seen[kind]}" if seen[kind] else kind
            seen[kind] += 1


def _mod_key(plain: str, block: KeyedEntry | None) -> str:
    if "=>" in plain:
        return plain.partition("=>")[0].strip()
    words = plain.split()
    if block is not None:
        # Several versions of one module may be excluded or retracted; only one is required.
        return words[0] if block.key.startswith("require") else plain
    return words[0] if words[0] in ("go", "module", "toolchain") else " ".join(words[:2])


def _higher(where: tuple[str, ...], _base: str, left: str, right: str) -> str | None:
    """The higher of two versions of a required module, as Go would select it."""
    if "=>" in left or "=>" in right or where[:1] == ("module",):
        return None
    version = re.compile(r"\bv?(\d{1,18}(?:\.\d{1,18})*)(-[\w.-]+)?(\+\w+)?")
    ours, theirs = version.search(left, left.find(" ")), version.search(right, right.find(" "))
    if ours is None or theirs is None:
        return None
    if left.replace(ours[0], "", 1) != right.replace(theirs[0], "", 1):
        return None
    one, other = _rank(ours), _rank(theirs)
    return None if one == other else left if one > other else right


def _rank(found: re.Match[str]) -> tuple[list[int], int, str]:
    """The sort key of a version; a pseudo-version is sorted by its date, which comes first in it."""
    return [int(part) for part in found[1].split(".")], int(not found[2]), found[2] or ""


def _is_twice(merged: str, *inputs: str) -> bool:
    """Is some module required more often than in any input, because one side moved it to another block?"""
    found = _required(merged)
    before = [_required(text) for text in inputs]
    return any(count > max(side[module] for side in before) for module, count in found.items())


def _required(text: str) -> Counter[str]:
    return Counter(re.findall(r"^(?:require)?\s+([\w./~-]+\.[\w./~-]+) v\d", text, re.M))
