"""What differs between two trees, as `git diff-tree -r --no-renames` tells it, read from the trees.

Only directories that differ are read, all of one depth at once.
"""

from __future__ import annotations

import re
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lineclear.git.objects import Entry

    Read = Callable[[Iterable[str]], dict[str, bytes]]
    Row = tuple[bytes, bytes, bytes]  # mode, name, object id

# One side of most comparisons is what the side of the one before was.
_MOST_KEPT = 128
_TREE_MODE = b"40000"
_NO_ROWS: frozenset[Row] = frozenset()
_ROWS = {
    size: re.compile(rb"([0-7]+) ([^\0]+)\0(.{%d})" % size, re.DOTALL) for size in (20, 32)
}  # mode, name, object id


def diff_trees(read: Read, old: str, new: str) -> dict[str, tuple[Entry | None, Entry | None]]:
    """path -> ((mode, object id) or None, on each side) for every file, link and submodule that differs."""
    found: dict[str, tuple[Entry | None, Entry | None]] = {}
    pairs = [("", old, new)] if old != new else []
    while pairs:
        trees = read({oid for _, *pair in pairs for oid in pair if oid})
        below = []
        for place, *pair in pairs:
            left, right = (_rows(trees[oid], len(oid) // 2) if oid else _NO_ROWS for oid in pair)
            gone, come = _by_name(left - right), _by_name(right - left)
            for name in gone.keys() | come.keys():
                before, after = gone.get(name), come.get(name)
                path = place + name.decode("utf-8", "surrogateescape")
                if _tree(before) or _tree(after):
                    below.append((path + "/", _tree(before), _tree(after)))
                entries = _file(before), _file(after)
                if entries[0] != entries[1]:
                    found[path] = entries
        pairs = below
    return found


@lru_cache(_MOST_KEPT)
def _rows(tree: bytes, oid_bytes: int) -> frozenset[Row]:
    return frozenset(_ROWS[oid_bytes].findall(tree))


def _by_name(rows: frozenset[Row]) -> dict[bytes, Row]:
    return {row[1]: row for row in rows}


def _tree(row: Row | None) -> str:
    return row[2].hex() if row is not None and row[0] == _TREE_MODE else ""


def _file(row: Row | None) -> Entry | None:
    """Modes as git tells them: old repositories hold more than the two that a file has by now."""
    if row is None or row[0] == _TREE_MODE:
        return None
    mode = row[0].decode()
    if mode.startswith("100"):
        mode = "100755" if int(mode, 8) & 0o100 else "100644"
    return mode, row[2].hex()
