"""Doubts about a merged text. Shares no rule and no tokeniser with the mergers; only loads the same grammars.

Every check is differential: it compares the result with its three sources and names what is in the result
and in neither side, or in a side and not in the result. No doubt found does not mean that the merge is
right; a doubt found always means that nobody should call it clean.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from lineclear.merge.grammars import language_of, parse
from lineclear.merge.inventory import Inventory, take_inventory

_WORD = re.compile(r"\w+|[^\w\s]")
_VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.\d+)+(?:[-.+]?[A-Za-z]+[-.]?\d*)*(?![\w.])")
_MARKER = re.compile(r"^(?:<{7}|>{7}|\|{7})", re.M)
# Their number follows from the items between them; the parser judges whether they stand right.
_PUNCTUATION = frozenset(",;(){}[]\"'`")


def find_doubt(path: str, base: str, left: str, right: str, merged: str) -> str:
    """The first doubt, in words, or an empty string."""
    return (
        _form_doubt(base, left, right, merged)
        or _word_doubt(path, base, left, right, merged)
        or _seam_doubt(base, left, right, merged)
        or _structure_doubt(path, base, left, right, merged)
    )


# -- form --------------------------------------------------------------------------------------


def _form_doubt(base: str, left: str, right: str, merged: str) -> str:
    for name, trait in (("byte order mark", _has_bom), ("line ends", _has_crlf), ("final newline", _is_ended)):
        b, lt, r = trait(base), trait(left), trait(right)
        wanted = {lt, r} if lt == r or not base else {lt if r == b else r}
        if trait(merged) not in wanted:
            return f"the {name} of the sides was not kept"
    if len(_MARKER.findall(merged)) > max(len(_MARKER.findall(left)), len(_MARKER.findall(right))):
        return "the result holds conflict markers"
    return ""


def _has_bom(text: str) -> bool:
    return text.startswith("\ufeff")


def _has_crlf(text: str) -> bool:
    return "\r\n" in text


def _is_ended(text: str) -> bool:
    return text.endswith("\n") or not text


# -- words -------------------------------------------------------------------------------------


def _words(text: str) -> list[str]:
    return _WORD.findall(_VERSION.sub(" 0v ", text))


def _word_doubt(path: str, base: str, left: str, right: str, merged: str) -> str:
    """Every word is there as often as both sides' changes say; versions may be chosen, never invented."""
    counts = [Counter(_words(text)) for text in (base, left, right, merged)]
    shared = _shared_changes(base, left, right)
    is_code = bool(language_of(path))
    for word in set().union(*counts):
        if word in _PUNCTUATION:
            continue
        b, lt, r, m = (count[word] for count in counts)
        low, high = _bounds(b, lt - b, r - b, shared.get(word, 0))
        if not low <= m <= high:
            return f"`{word}` is there {m} times, {low if m < low else high} were due"
        if is_code and word[0].isalpha() and _gone_but_used(b, lt, r):
            return f"one side removed `{word}` everywhere, the other uses it more"
    known = set(_VERSION.findall(left)) | set(_VERSION.findall(right))
    invented = [version for version in _VERSION.findall(merged) if version not in known]
    return f"version {invented[0]} is in neither side" if invented else ""


def _shared_changes(base: str, left: str, right: str) -> dict[str, int]:
    """Per word, how much both sides changed it by the very same lines."""
    b, lt, r = (Counter(text.split("\n")) for text in (base, left, right))
    shared: Counter[str] = Counter()
    for line, times in ((lt - b) & (r - b)).items():
        for word in _words(line):
            shared[word] += times
    for line, times in ((b - lt) & (b - r)).items():
        for word in _words(line):
            shared[word] -= times
    return shared


def _bounds(base: int, by_left: int, by_right: int, shared: int) -> tuple[int, int]:
    """How often a word may be there: the same change made by both may be one change or two."""
    once, twice = base + by_left + by_right - shared, base + by_left + by_right
    low, high = min(once, twice), max(once, twice)
    if by_left > 0 and by_right > 0:
        low = min(low, base + max(by_left, by_right))
    if by_left < 0 and by_right < 0:
        high = max(high, base + min(by_left, by_right))
    return max(0, low), max(0, high)


def _gone_but_used(base: int, left: int, right: int) -> bool:
    return base > 0 and ((left == 0 and right > base) or (right == 0 and left > base))


# -- seams -------------------------------------------------------------------------------------


def _seam_doubt(base: str, left: str, right: str, merged: str) -> str:
    """Neighbouring words that one side put together stay together, except where the other side edited."""
    b, lt, r, m = (set(pairwise(_words(text))) for text in (base, left, right, merged))
    for side in (lt, r):
        fresh = m - side
        cut_behind = {first for first, _ in fresh}
        cut_before = {second for _, second in fresh}
        for first, second in side - b - m:
            if first not in cut_behind and second not in cut_before:
                return f"`{first} {second}` was added by one side and is not there"
    return ""


# -- structure ---------------------------------------------------------------------------------


def _structure_doubt(path: str, base: str, left: str, right: str, merged: str) -> str:
    language = language_of(path)
    if not language:
        return ""
    taken = [_inventory(language, text) for text in (base, left, right, merged)]
    b, lt, r, m = taken
    if b is None or lt is None or r is None or m is None:
        return ""
    if m.has_error and not (lt.has_error or r.has_error or b.has_error):
        return "the result does not parse, all sources do"
    twice = m.repeated - lt.repeated - r.repeated - b.repeated
    if twice:
        return f"{min(twice)} is there twice"
    due = (lt.imports | r.imports) - (b.imports - lt.imports) - (b.imports - r.imports)
    if m.imports != due:
        return f"import {min(m.imports ^ due)} is lost or left over"
    for side, text in ((lt, left), (r, right)):
        used = _still_used(b.imports - side.imports - m.imports, text, merged)
        if used:
            return f"one side removed the import of `{used}`, the result uses it more than that side"
    return ""


def _still_used(gone: set[str], side: str, merged: str) -> str:
    """A name whose import one side removed, but which the other side's work still needs."""
    for name in sorted(gone):
        word = re.findall(r"\w+", name)[-1]
        pattern = rf"\b{word}\b"
        if len(re.findall(pattern, merged)) > len(re.findall(pattern, side)):
            return word
    return ""


def _inventory(language: str, text: str) -> Inventory | None:
    tree = parse(language, text)
    return None if tree is None else take_inventory(language, tree)
