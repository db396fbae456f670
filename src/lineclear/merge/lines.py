"""The line merge: splits three lists of lines into settled chunks and hunks that both sides changed.

It decides as git does: edits that overlap or touch are one conflict, equal edits are taken once. It also
writes the markers. It knows nothing about languages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.merge.diff import Edit, Steps, edits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.merge.result import Labels

MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_COMMIT_MARKER = re.compile(r"^(([<>|])\2{6,} )[0-9a-f]{40,64}(?![0-9a-f])[^\r\n]*", re.M)


@dataclass(slots=True, eq=False)
class Chunk:
    """One range of the three texts. `kind`: same, left or right (only that side changed it), both (changed
    alike), conflict."""

    kind: str
    b0: int
    b1: int
    l0: int
    l1: int
    r0: int
    r1: int

    def spans(self) -> tuple[tuple[int, int], ...]:
        """(first line, line after the last) in base, left and right."""
        return (self.b0, self.b1), (self.l0, self.l1), (self.r0, self.r1)

    def overlaps(self, other: Chunk) -> bool:
        """Is some line of some version in both?"""
        pairs = zip(self.spans(), other.spans(), strict=True)
        return any(start < last and first < end for (start, end), (first, last) in pairs)


def split_lines(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends a line, as in git (not as in str.splitlines)."""
    lines = text.split("\n")
    last = lines.pop()
    ended = [line + "\n" for line in lines]
    if last:
        ended.append(last)
    return ended


def three_way(base: Sequence[str], left: Sequence[str], right: Sequence[str], steps: Steps) -> list[Chunk]:
    """The chunks, in order; together they cover all three sequences."""
    by_left = edits(base, left, steps)
    by_right = edits(base, right, steps)
    chunks: list[Chunk] = []
    i = j = at_b = at_l = at_r = 0
    while i < len(by_left) or j < len(by_right):
        start, end, i2, j2 = _group(by_left, by_right, i, j)
        kept = start - at_b
        if kept:
            chunks.append(Chunk("same", at_b, start, at_l, at_l + kept, at_r, at_r + kept))
        l0, r0 = at_l + kept, at_r + kept
        l1 = l0 + (end - start) + _growth(by_left[i:i2])
        r1 = r0 + (end - start) + _growth(by_right[j:j2])
        kind = _kind(i != i2, j != j2, list(left[l0:l1]) == list(right[r0:r1]))
        chunks.append(Chunk(kind, start, end, l0, l1, r0, r1))
        at_b, at_l, at_r, i, j = end, l1, r1, i2, j2
    if at_b < len(base):
        chunks.append(Chunk("same", at_b, len(base), at_l, len(left), at_r, len(right)))
    return chunks


def _group(by_left: list[Edit], by_right: list[Edit], i: int, j: int) -> tuple[int, int, int, int]:
    """(start, end, next i, next j) of the next edit with all edits of either side that touch it."""
    first_left = j >= len(by_right) or (i < len(by_left) and by_left[i][0] <= by_right[j][0])
    start, end = (by_left[i] if first_left else by_right[j])[:2]
    grown = True
    while grown:
        grown = False
        while i < len(by_left) and by_left[i][0] <= end:
            end, i, grown = max(end, by_left[i][1]), i + 1, True
        while j < len(by_right) and by_right[j][0] <= end:
            end, j, grown = max(end, by_right[j][1]), j + 1, True
    return start, end, i, j


def _growth(found: list[Edit]) -> int:
    return sum((b1 - b0) - (a1 - a0) for a0, a1, b0, b1 in found)


def _kind(left_changed: bool, right_changed: bool, alike: bool) -> str:
    if not left_changed:
        return "right"
    if not right_changed:
        return "left"
    return "both" if alike else "conflict"


def cover(chunks: list[Chunk], wide: Chunk) -> list[Chunk]:
    """The same chunks with everything inside `wide` replaced by it; chunks of equal lines may be cut."""
    covered: list[Chunk] = []
    placed = False
    for chunk in chunks:
        if _is_before(chunk, wide):
            covered.append(chunk)
            continue
        if chunk.kind == "same" and chunk.b0 < wide.b0:
            covered.append(_first_lines(chunk, wide.b0 - chunk.b0))
        if not placed:
            covered.append(wide)
            placed = True
        if chunk.kind == "same" and chunk.b1 > wide.b1:
            covered.append(_last_lines(chunk, chunk.b1 - max(wide.b1, chunk.b0)))
        elif _is_behind(chunk, wide):
            covered.append(chunk)
    if not placed:
        covered.append(wide)
    return covered


def _first_lines(chunk: Chunk, count: int) -> Chunk:
    return Chunk("same", chunk.b0, chunk.b0 + count, chunk.l0, chunk.l0 + count, chunk.r0, chunk.r0 + count)


def _last_lines(chunk: Chunk, count: int) -> Chunk:
    return Chunk("same", chunk.b1 - count, chunk.b1, chunk.l1 - count, chunk.l1, chunk.r1 - count, chunk.r1)


def _is_before(chunk: Chunk, wide: Chunk) -> bool:
    return chunk.b1 <= wide.b0 and chunk.l1 <= wide.l0 and chunk.r1 <= wide.r0


def _is_behind(chunk: Chunk, wide: Chunk) -> bool:
    return chunk.b0 >= wide.b1 and chunk.l0 >= wide.l1 and chunk.r0 >= wide.r1


def trim_common(left: list[str], right: list[str]) -> tuple[int, int]:
    """How many lines at the start and at the end of a conflict are the same on both sides."""
    shorter = min(len(left), len(right))
    head = 0
    while head < shorter and left[head] == right[head]:
        head += 1
    tail = 0
    while tail < shorter - head and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    return head, tail


def write_conflict(left: list[str], right: list[str], labels: Labels, symbol: str) -> list[str]:
    """The lines of one conflict as git writes them; the symbol follows the name of the side."""
    beside = f" ({symbol})" if symbol else ""
    return [
        f"{MARKERS[0]} {labels.left}{beside}\n",
        *_ended(left),
        f"{MARKERS[1]}\n",
        *_ended(right),
        f"{MARKERS[2]} {labels.right}{beside}\n",
    ]


def name_markers(git_text: str, left: str, right: str, labels: Labels) -> str:
    """Git's own text with our names at its markers, where git wrote the ids of commits that nobody knows."""
    names = {"<": labels.left, "|": labels.base, ">": labels.right}
    known = {*marker_lines(left), *marker_lines(right)}

    def named(found: re.Match[str]) -> str:
        return found[0] if found[0] in known else found[1] + names[found[2]]

    return _COMMIT_MARKER.sub(named, git_text)


def _ended(lines: list[str]) -> list[str]:
    """The lines with a final newline: a marker must start a new line."""
    if lines and not lines[-1].endswith("\n"):
        return [*lines[:-1], lines[-1] + "\n"]
    return lines


def marker_lines(text: str) -> list[str]:
    """Lines that a merge would read as the start or the end of a conflict."""
    if MARKERS[0] not in text and MARKERS[2] not in text:
        return []
    return [line for line in text.split("\n") if line.startswith((MARKERS[0], MARKERS[2]))]


def has_no_new_markers(merged: str, base: str, left: str, right: str) -> bool:
    """Did git merge the file cleanly? Markers that one of the texts already had are not from this merge."""
    found = marker_lines(merged)
    if not found:
        return True
    known = {line for text in (base, left, right) for line in marker_lines(text)}
    return all(line in known for line in found)
