"""Parses a text with the help of a similar text's tree, so that the parser reads only the rows that differ.

The versions of one file differ in few rows. The result is the same as parsing the whole text: rows are equal
only if their bytes are, and a text with a syntax error is parsed from its beginning, since the shape of an
error depends on how the parser got there.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

    # Rows that differ: old[a0:a1] became new[b0:b1].
    Change = tuple[int, int, int, int]

MIN_BYTES = 2_000  # a smaller text is parsed as quickly as it is compared
BLOCK = 32
NEAR = 4
WINDOW = 100  # rows in which two texts must meet again, or all the rest differs
MAX_CHANGES = 200


def parse_beside(parser: Parser, text: bytes, beside: tuple[bytes, Tree] | None) -> Tree:
    """The tree of `text`. `beside` is another text and its tree without an error, ideally a version of it."""
    if beside is not None and len(text) >= MIN_BYTES:
        rows = beside[0].split(b"\n"), text.split(b"\n")
        changes = changed_rows(*rows)
        if changes is not None:
            tree = parser.parse(text, _edited(beside[1], *rows, changes))
            if not tree.root_node.has_error:
                return tree
    return parser.parse(text)


def changed_rows(old: list[bytes], new: list[bytes]) -> list[Change] | None:
    """The rows that differ, in order, with equal rows between them; None if more than half differ."""
    found: list[Change] = []
    i = j = 0
    n, m = _without_equal_end(old, new)
    while i < n and j < m:
        if old[i] == new[j]:
            # Compare many rows at once: nearly all of them are equal.
            step = (
                BLOCK if i + BLOCK <= n and j + BLOCK <= m and old[i : i + BLOCK] == new[j : j + BLOCK] else 1
            )
            i, j = i + step, j + step
            continue
        a1, b1 = _next_meeting(old, new, i, j, n, m)
        found.append((i, a1, j, b1))
        i, j = a1, b1
        if len(found) > MAX_CHANGES:
            return None
    if i < n or j < m:
        found.append((i, n, j, m))
    if found and found[-1][1] == len(old):
        # No line feed follows the last row: if that row changes, so does the end of the row above it.
        a0, a1, b0, b1 = found[-1]
        found[-1] = (a0 - 1, a1, b0 - 1, b1) if a0 and b0 else found[-1]
    changed = sum(a1 - a0 + b1 - b0 for a0, a1, b0, b1 in found)
    return found if changed * 2 <= len(old) + len(new) else None


def _without_equal_end(old: list[bytes], new: list[bytes]) -> tuple[int, int]:
    n, m = len(old), len(new)
    while n and m and old[n - 1] == new[m - 1]:
        n, m = n - 1, m - 1
    return n, m


def _next_meeting(old: list[bytes], new: list[bytes], i: int, j: int, n: int, m: int) -> tuple[int, int]:
    """The nearest place where two consecutive rows are equal again; else both ends."""
    for apart in range(1, min(NEAR, n - i - 2, m - j - 2) + 1):
        for b in range(j, j + apart + 1):
            a = i + apart - (b - j)
            if old[a] == new[b] and old[a + 1] == new[b + 1]:
                return a, b
    ahead: dict[tuple[bytes, ...], int] = {}
    for a in range(i, min(n - 1, i + WINDOW)):
        ahead.setdefault((old[a], old[a + 1]), a)
    best = (n, m)
    for b in range(j, min(m - 1, j + WINDOW)):
        met = ahead.get((new[b], new[b + 1]))
        if met is not None and met + b < sum(best):
            best = (met, b)
        if b - j > best[0] - i + best[1] - j:
            break
    return best


def _edited(tree: Tree, old: list[bytes], new: list[bytes], changes: list[Change]) -> Tree:
    """A copy of the tree that knows where its text changed. The last change is applied first, so that the
    positions of earlier ones stay valid."""
    edited = tree.copy()
    ends = [0, *accumulate(map(len, old))]  # without line feeds
    for a0, a1, b0, b1 in reversed(changes):
        size = sum(map(len, new[b0:b1])) + b1 - b0
        edited.edit(
            start_byte=ends[a0] + a0,
            old_end_byte=ends[a1] + a1 - (a1 == len(old)),
            new_end_byte=ends[a0] + a0 + size - (b1 == len(new)),
            start_point=(a0, 0),
            old_end_point=(a1, 0),
            new_end_point=(a0 + b1 - b0, 0),
        )
    return edited
