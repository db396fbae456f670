"""Two version ranges for one package: the narrower one wins, if it is within the wider one.

Ranges that only overlap, and exact pins that differ, are not decided here.
"""

from __future__ import annotations

import re

from lineclear.core.version_ranges import EVERYTHING, Span, in_common, span_of
from lineclear.merge.handlers.keyed import RivalChanges, merge_order

_NUMBER = r"v?\d+(?:\.(?:\d+|\*|x))*(?:[-+.]?[A-Za-z][\w.+-]*)?"
_PART = re.compile(rf"(\^|~=|~>|~|>=|<=|==|!=|<|>|=)?\s*({_NUMBER})")
_RANGE = re.compile(rf"(?:(?:\^|~=|~>|~|>=|<=|==|<|>|=)?\s*{_NUMBER})(?:\s*,?\s*(?:>=|<=|<|>)\s*{_NUMBER})*")
_PLAIN = re.compile(r"v?\d{1,18}(\.\d{1,18})*")
_SIGNS = (">=", ">", "<", "<=", "^", "~", "~=", "~>")


def narrower(_where: tuple[str, ...], _base: str, left: str, right: str) -> str | None:
    """The side whose range is within the other's, if only that range differs."""
    ours, theirs = _RANGE.findall(left), _RANGE.findall(right)
    if not ours or len(ours) != len(theirs) or _RANGE.sub("\0", left) != _RANGE.sub("\0", right):
        return None
    answers = {_compare(one, other) for one, other in zip(ours, theirs, strict=True) if one != other}
    if answers == {"left"}:
        return left
    return right if answers == {"right"} else None


def constrained(_where: tuple[str, ...], _base: str, left: str, right: str) -> str | None:
    """The side with a version range, if the other names the same package without one."""
    for free, bound in ((left, right), (right, left)):
        name, text = free.strip().strip("\"'"), bound.strip().strip("\"'")
        is_name = re.fullmatch(r"[\w.-]+(\[[^\]]*\])?", name) is not None and text.startswith(name)
        if is_name and _RANGE.fullmatch(text[len(name) :].strip()):
            return bound
    return None


def extras(_where: tuple[str, ...], base: str, left: str, right: str) -> str | None:
    """The requirement with the extras of both sides merged as a set, if only its extras differ."""
    cuts = [
        re.fullmatch(r"(\s*[\"']?[\w.-]+\[)([\w.,\s-]+)(\].*)", text, re.S) for text in (base, left, right)
    ]
    if any(cut is None for cut in cuts) or len({(cut[1], cut[3]) for cut in cuts if cut}) != 1:
        return None
    old, ours, theirs = ([name.strip() for name in cut[2].split(",")] for cut in cuts if cut)
    kept = {name for name in {*ours, *theirs} if name not in old or (name in ours and name in theirs)}
    try:
        names = merge_order(old, ours, theirs, kept)
    except RivalChanges:
        return None
    glue = ", " if ", " in left else ","
    whole = cuts[1]
    return f"{whole[1]}{glue.join(names)}{whole[3]}" if whole and len(set(names)) == len(names) else None


def _compare(ours: str, theirs: str) -> str:
    one, other = _span(ours), _span(theirs)
    if one is None or other is None:
        return ""
    if one == other:  # `^1` and `^1.0`: the same answer, whichever side has which
        return "left" if (len(ours), ours) > (len(theirs), theirs) else "right"
    if other[0] <= one[0] and one[1] <= other[1]:
        return "left"
    return "right" if one[0] <= other[0] and other[1] <= one[1] else ""


def _span(text: str) -> Span | None:
    """What a range allows; None for a pin, for a version with a suffix, and for a range without versions."""
    spans = EVERYTHING
    for sign, version in _PART.findall(text):
        span = span_of(sign, version) if sign in _SIGNS and _PLAIN.fullmatch(version) else None
        if span is None:
            return None
        spans = in_common(spans, [span])
    return spans[0] if spans else None
