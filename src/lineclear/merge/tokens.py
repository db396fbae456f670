"""Merges a hunk by tokens: words, whole string literals, single signs, line breaks with their indent.

There must be something that both sides kept between their edits; otherwise there is no result.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from lineclear.merge.diff import Edit, Steps, edits

if TYPE_CHECKING:
    from collections.abc import Iterable

_CODE = re.compile(
    r"""\n[ \t]*|[ \t\r\f\v]+|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\w+|[^\w\s]|\s""",
)
_PROSE = re.compile(r"\n[ \t]*|[ \t\r\f\v]+|\w+|[^\w\s]|\s")


# Ends of expressions: two edits inside one expression may each be right, but make no sense together.
_ENDS = frozenset(",;{}")


def split_code(text: str) -> list[str]:
    return _CODE.findall(text)


def split_prose(text: str) -> list[str]:
    return _PROSE.findall(text)


def merge_tokens(base: str, left: str, right: str, steps: Steps, *, prose: bool = False) -> str | None:
    """One text with both sides' edits, or None if they are not clearly apart."""
    split = split_prose if prose else split_code
    b, lt, r = split(base), split(left), split(right)
    if not (_may_keep_enough(b, lt) and _may_keep_enough(b, r)):
        return None
    by_left, by_right = edits(b, lt, steps), edits(b, r, steps)
    if steps.left <= 0:
        return None
    if not (_keeps_enough(b, by_left) and _keeps_enough(b, by_right)):
        return None
    if not prose and (_is_unsure(b, by_left, r) or _is_unsure(b, by_right, lt)):
        return None
    return _weave(b, lt, r, by_left, by_right, prose)


def _may_keep_enough(b: list[str], side: list[str]) -> bool:
    """A quick test before the diff: if too many tokens are gone in any order, `_keeps_enough` is false."""
    gone = Counter(b) - Counter(side)
    words = sum(1 for token in b if not token.isspace())
    return sum(times for token, times in gone.items() if not token.isspace()) * 2 <= words


def _keeps_enough(b: list[str], found: list[Edit]) -> bool:
    """Does the side keep at least half of the hunk? If it rewrote more, its tokens align by accident."""
    words = sum(1 for token in b if not token.isspace())
    gone = sum(1 for a0, a1, _, _ in found for token in b[a0:a1] if not token.isspace())
    return gone * 2 <= words


def _is_unsure(b: list[str], found: list[Edit], other: list[str]) -> bool:
    """Did this side insert something between two words that the other side duplicated? It may belong to
    either copy."""
    before, after = _neighbours(b), _neighbours(other)
    copied = {pair for pair, times in after.items() if 0 < before[pair] < times and pair[0][0].isalnum()}
    return bool(copied) and any(
        (_first_sign(reversed(b[:a0])), _first_sign(b[a1:])) in copied
        for a0, a1, _, _ in found
        if not _first_sign(b[a0:a1])
    )


def _first_sign(tokens: Iterable[str]) -> str:
    return next((token for token in tokens if not token.isspace()), "")


def _neighbours(tokens: list[str]) -> Counter[tuple[str, str]]:
    return Counter(pairwise(token for token in tokens if not token.isspace()))


def _weave(
    b: list[str], lt: list[str], r: list[str], by_left: list[Edit], by_right: list[Edit], prose: bool
) -> str | None:
    out: list[str] = []
    i = j = at = 0
    while i < len(by_left) or j < len(by_right):
        el = by_left[i] if i < len(by_left) else None
        er = by_right[j] if j < len(by_right) else None
        if el and er and el[:2] == er[:2] and lt[el[2] : el[3]] == r[er[2] : er[3]]:
            out += b[at : el[0]] + lt[el[2] : el[3]]
            at, i, j = el[1], i + 1, j + 1
            continue
        if el and er and not (_apart(b, el, er, prose) or _apart(b, er, el, prose)):
            return None
        if er is None or (el is not None and el[0] < er[0]):
            assert el is not None
            out += b[at : el[0]] + lt[el[2] : el[3]]
            at, i = el[1], i + 1
        else:
            out += b[at : er[0]] + r[er[2] : er[3]]
            at, j = er[1], j + 1
    out += b[at:]
    return "".join(out)


def _apart(b: list[str], first: Edit, second: Edit, prose: bool) -> bool:
    """Is something visible kept between the two edits, and in code also the end of an expression or line?"""
    between = b[first[1] : second[0]]
    if not any(not token.isspace() for token in between):
        return False
    return prose or any(token in _ENDS or "\n" in token for token in between)
