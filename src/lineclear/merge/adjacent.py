"""Merges edits of the two sides that touch but do not overlap, line by line inside one hunk.

Git calls touching edits a conflict because it cannot see which line was edited and which is new. Here each
line of a replacement is paired with the line that it came from; if that is not clear, there is no result.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from lineclear.merge.diff import Edit, Steps, edits
from lineclear.merge.likeness import is_edit_of, is_like
from lineclear.merge.lines import Chunk, split_lines, three_way, trim_common

if TYPE_CHECKING:
    from collections.abc import Callable

_ASSIGNED = re.compile(r"(?!\s*<)\s*(?:[\w<>\[\],.:*&]+\s+)*([A-Za-z_]\w*)\s*(?::[^=]*)?:?=(?!=)")
MAX_LINES = 400
LEAST_CHANGED = 2
LEAST_COPIED = 12  # shorter lines (`}`, `return x`) occur twice without being a copy


def outside_common_ends(base: str, left: str, right: str) -> str | None:
    """The merged text if both sides wrote the same first or last lines, and only one side changed the
    rest."""
    b, lt, r = split_lines(base), split_lines(left), split_lines(right)
    head, tail = trim_common(lt, r)
    if not b or not (head or tail):
        return None
    ours, theirs = lt[head : len(lt) - tail], r[head : len(r) - tail]
    ending = lt[len(lt) - tail :]
    if ours == b:
        return "".join([*lt[:head], *theirs, *ending])
    return "".join([*lt[:head], *ours, *ending]) if theirs == b else None


def apart_from_blanks(
    base: str, left: str, right: str, steps: Steps, visible: Callable[[str], str]
) -> str | None:
    """The line merge with lines compared without their blanks; blanks that a side changed are kept."""
    b, lt, r = split_lines(base), split_lines(left), split_lines(right)
    if not b:
        return None
    shown = {line: visible(line) for line in {*b, *lt, *r}}
    chunks = three_way([shown[x] for x in b], [shown[x] for x in lt], [shown[x] for x in r], steps)
    if steps.left <= 0 or any(chunk.kind == "conflict" for chunk in chunks):
        return None
    return "".join(line for chunk in chunks for line in _lines_of(chunk, b, lt, r))


def _lines_of(chunk: Chunk, b: list[str], lt: list[str], r: list[str]) -> list[str]:
    if chunk.kind == "right":
        return r[chunk.r0 : chunk.r1]
    if chunk.kind != "same":
        return lt[chunk.l0 : chunk.l1]
    rows = zip(b[chunk.b0 : chunk.b1], lt[chunk.l0 : chunk.l1], r[chunk.r0 : chunk.r1], strict=True)
    return [theirs if ours == old else ours for old, ours, theirs in rows]


def touching(base: str, left: str, right: str, steps: Steps) -> str | None:
    """Both sides' edits, if each base line was changed by one side and all new lines come from one side."""
    b, lt, r = split_lines(base), split_lines(left), split_lines(right)
    if not b or max(len(b), len(lt), len(r)) > MAX_LINES:
        return None
    ours = [(edit, lt[edit[2] : edit[3]]) for edit in _fine(b, lt, steps)]
    theirs = [(edit, r[edit[2] : edit[3]]) for edit in _fine(b, r, steps)]
    if steps.left <= 0 or (_adds_lines(ours) and _adds_lines(theirs)):
        return None
    if _is_unsure(b, ours, theirs) or _is_unsure(b, theirs, ours):
        return None
    out: list[str] = []
    at = 0
    while ours or theirs:
        mine = not theirs or (bool(ours) and ours[0][0][:2] <= theirs[0][0][:2])
        (edit, new), others = (ours.pop(0), theirs) if mine else (theirs.pop(0), ours)
        if others and not _fits_before(b, (edit, new), others[0]):
            if (edit[:2], new) != (others[0][0][:2], others[0][1]):
                return None
            others.pop(0)
        out += [*b[at : edit[0]], *new]
        at = edit[1]
    return "".join([*out, *b[at:]])


def leaves_one_behind(base: str, left: str, right: str) -> bool:
    """Did one side change every line here, while the other added one more like them? It would lack the
    change."""
    b, lt, r = split_lines(base), split_lines(left), split_lines(right)
    return _is_left_behind(b, lt, r) or _is_left_behind(b, r, lt)


def copies_what_changed(base: str, left: str, right: str) -> bool:
    """Did one side copy a line that the other changed everywhere? The copy would lack the change."""
    b, lt, r = (Counter(line.strip() for line in split_lines(text)) for text in (base, left, right))
    for line in b:
        for copies, rest, text in ((lt[line], r[line], right), (r[line], lt[line], left)):
            if copies > b[line] and not rest and len(line) >= LEAST_COPIED and not _is_wrapped(line, text):
                return True
    return False


def _is_wrapped(line: str, text: str) -> bool:
    """Is the line still in the text, only broken differently?"""
    return "".join(line.split()) in "".join(text.split())


def _is_left_behind(b: list[str], changer: list[str], adder: list[str]) -> bool:
    if not LEAST_CHANGED <= len(b) == len(changer) <= MAX_LINES or not set(b) <= set(adder):
        return False
    if any(old.split() == new.split() or not is_like(old, new) for old, new in zip(b, changer, strict=True)):
        return False
    return any(line not in b and is_like(b[-1], line) for line in adder)


def _fits_before(b: list[str], first: tuple[Edit, list[str]], second: tuple[Edit, list[str]]) -> bool:
    """Does the first edit end before the second? If they touch, it must be clear which line is whose."""
    (a0, a1, _, _), new = first
    (c0, c1, _, _), other = second
    if a1 < c0:
        return True
    if a1 > c0 or (a0 == a1 and c0 == c1):
        return False
    if a0 == a1:
        return bool(other) and is_edit_of(b[c0], other[0])
    if c0 == c1:
        return bool(new) and is_edit_of(b[a1 - 1], new[-1]) and not _uses(other, new[-1])
    return True


def _is_unsure(b: list[str], side: list[tuple[Edit, list[str]]], other: list[tuple[Edit, list[str]]]) -> bool:
    """Could added lines be placed above or below equal ones, one of which the other side edited? Its edit
    might then belong to the old lines or to the new ones."""
    edited = {row for (c0, c1, _, _), _ in other for row in range(c0, c1) if b[row].strip()}
    for (a0, a1, _, _), new in side:
        if a0 != a1 or not edited:
            continue
        up = down = a0
        while up > 0 and b[up - 1] == new[-1 - (a0 - up) % len(new)]:
            up -= 1
        while down < len(b) and b[down] == new[(down - a0) % len(new)]:
            down += 1
        if not edited.isdisjoint(range(up, down)):
            return True
    return False


def _adds_lines(side: list[tuple[Edit, list[str]]]) -> bool:
    """Does some edit have more lines than it replaces? Then it is new work, not only an edit."""
    return any(sum(bool(line.strip()) for line in new) > edit[1] - edit[0] for edit, new in side)


def _uses(added: list[str], edited: str) -> bool:
    """Do the new lines use the name to which the edited line above them assigns a value?"""
    found = _ASSIGNED.match(edited)
    return found is not None and any(
        re.search(rf"(?<!\w){re.escape(found[1])}(?!\w)", line) for line in added
    )


def _fine(b: list[str], side: list[str], steps: Steps) -> list[Edit]:
    """The edits, with each replacement cut into edited lines and new lines where that is clear."""
    found: list[Edit] = []
    for a0, a1, s0, s1 in edits(b, side, steps):
        if a0 == a1 or s0 == s1:
            found.append((a0, a1, s0, s1))
        else:
            found += _cut(b, side, a0, a1, s0, s1)
    return found


def _cut(b: list[str], side: list[str], a0: int, a1: int, s0: int, s1: int) -> list[Edit]:
    """Pairs similar lines from the top and from the bottom; the rest stays one edit."""
    top: list[Edit] = []
    end: list[Edit] = []
    while a0 < a1 and s0 < s1 and is_edit_of(b[a0], side[s0]):
        top.append((a0, a0 + 1, s0, s0 + 1))
        a0, s0 = a0 + 1, s0 + 1
    while a0 < a1 and s0 < s1 and is_edit_of(b[a1 - 1], side[s1 - 1]):
        end.insert(0, (a1 - 1, a1, s1 - 1, s1))
        a1, s1 = a1 - 1, s1 - 1
    rest = [(a0, a1, s0, s1)] if a0 < a1 or s0 < s1 else []
    return [*top, *rest, *end]
