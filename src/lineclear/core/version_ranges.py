"""The versions that a range allows, as spans between two cuts: npm, Python, Cargo, Composer, Ruby, NuGet and
Maven.

A range that we cannot read is None. A span may be wider than the tool's own rule, never narrower, so two
ranges without a common span have no version in common.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Numbers without zeros at the end, and the stage: preview, release or later.
Stage = tuple[int, tuple[tuple[int, int, str], ...]]
Version = tuple[tuple[int, ...], Stage]
# A place between two versions: just before (0) or just after (1) one of them.
Cut = tuple[Version, int]
Span = tuple[Cut, Cut]

MAX_LENGTH = 500  # of the text of a range
_EARLIEST, _RELEASE = (-9, ()), (0, ())
_START: Cut = (((), _EARLIEST), 0)
_END: Cut = (((10**19,), _RELEASE), 0)
EVERYTHING = [(_START, _END)]
_NUMBERS = re.compile(r"v?(\d{1,18}(?:\.\d{1,18})*)(\.[xX*])*", re.I)
_STAGE = re.compile(r"[-_.]?(dev|alpha|a|beta|b|preview|pre|rc|c|post|rev|r)[-_.]?(\d{0,18})")
_STAGE_NAMES = {"a": "alpha", "b": "beta", "c": "rc", "pre": "rc", "preview": "rc"}
_TERM = re.compile(
    r"(\^|~=|~>|~|>=|<=|===|==|=|!=|<|>)?\s*"
    r"([xX*](?![\w.])|v?\d+(?:\.(?:\d+|[xX*](?!\w)))*(?:[-_.]?[A-Za-z][\w.-]*|-[\w.-]+)?(?:\+[\w.-]+)?)"
    r"(?:@\w+)?[\s,]*"
)
_HYPHEN = re.compile(r"\s*([\w.+-]+)\s+-\s+([\w.+-]+)\s*")
_BRACKETS = re.compile(r"\s*([\[(])\s*([^\[\](),]*?)\s*(?:(,)\s*([^\[\](),]*?)\s*)?([\])])\s*,?")


@dataclass(frozen=True, slots=True)
class Dialect:
    """`bare`: the sign that a version without one has. `is_prefix`: 1.2 stands for all versions that begin
    with it. `takes_previews`: <2 allows a preview of 2."""

    bare: str = "="
    tilde: str = "~"
    is_prefix: bool = False
    takes_previews: bool = False
    has_hyphens: bool = False
    has_brackets: bool = False


PLAIN = Dialect()
_DIALECTS = {
    "npm": Dialect(is_prefix=True, has_hyphens=True),
    "pypi": PLAIN,
    "cargo": Dialect(bare="^", is_prefix=True),
    "composer": Dialect(tilde="~>", has_hyphens=True),
    "gem": Dialect(takes_previews=True),
    "nuget": Dialect(bare=">=", takes_previews=True, has_brackets=True),
    "maven": Dialect(takes_previews=True, has_brackets=True),
}


def spans_of(ecosystem: str, text: str) -> list[Span] | None:
    """The spans that a range allows; None if it is an address, a tag, or in a form that we do not read."""
    dialect = _DIALECTS.get(ecosystem)
    if dialect is None or len(text) > MAX_LENGTH:
        return None
    if dialect.has_brackets and text.lstrip().startswith(("[", "(")):
        return _bracketed(text)
    found: list[Span] = []
    for part in re.split(r"\|\|?", text):
        spans = _all_terms(part, dialect)
        if spans is None:
            return None
        found += spans
    return found


def in_common(left: list[Span], right: list[Span]) -> list[Span]:
    pairs = ((max(ours[0], theirs[0]), min(ours[1], theirs[1])) for ours in left for theirs in right)
    return [(start, end) for start, end in pairs if start < end]


def has_version(spans: list[Span], version: str) -> bool:
    point = version_of(version)
    return point is not None and any(start <= (point, 0) < end for start, end in spans)


def span_of(sign: str, version: str, dialect: Dialect = PLAIN) -> Span | None:
    """What one sign and version allow, except for `!=`; None if the version cannot be read."""
    numbers = _NUMBERS.match(version)
    point = version_of(version)
    if numbers is None or point is None:
        return None
    written = [int(number) for number in numbers[1].split(".")]
    is_prefix = bool(numbers[2]) or (dialect.is_prefix and len(written) < 3)
    behind = _next(written, len(written) - 1) if is_prefix else (point, 1)
    before = (point, 0) if dialect.takes_previews or point[1] != _RELEASE else (_first(written), 0)
    if sign in ("^", "~", "~=", "~>"):
        return (point, 0), _next(written, _kept_place(dialect.tilde if sign == "~" else sign, written))
    if sign in (">=", ">"):
        return ((point, 0) if sign == ">=" else behind), _END
    if sign in ("<", "<="):
        return _START, (before if sign == "<" else behind)
    return ((_first(written), 0) if is_prefix else (point, 0)), behind


def version_of(text: str) -> Version | None:
    numbers = _NUMBERS.match(text)
    if numbers is None:
        return None
    rest = text[numbers.end() :].partition("+")[0].lower()
    stage = _stage(rest.removesuffix(".final").removesuffix(".release").removesuffix(".ga"))
    return (_short(int(number) for number in numbers[1].split(".")), stage) if stage is not None else None


def _stage(text: str) -> Stage | None:
    if not text:
        return _RELEASE
    known = _STAGE.fullmatch(text)
    if known:
        number = (0, int(known[2] or 0), "")
        if known[1] in ("post", "rev", "r"):
            return 1, (number,)
        if known[1] == "dev":
            return -2, (number,)
        return -1, ((1, 0, _STAGE_NAMES.get(known[1], known[1])), number)
    if not text.startswith("-"):
        return None
    parts = text[1:].split(".")
    if any(len(part) > 18 for part in parts):
        return None
    return -1, tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts)


def _short(numbers: Iterable[int]) -> tuple[int, ...]:
    kept = list(numbers)
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def _first(numbers: list[int]) -> Version:
    """The first preview of a version."""
    return _short(numbers), _EARLIEST


def _next(numbers: list[int], place: int) -> Cut:
    """Before the first version after all those that begin with the numbers up to the place."""
    return _first([*numbers[:place], numbers[place] + 1]), 0


def _kept_place(sign: str, numbers: list[int]) -> int:
    """The place of the number from which on versions are no longer allowed."""
    if sign == "^":
        return next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
    if sign == "~":
        return min(1, len(numbers) - 1)
    return max(0, len(numbers) - 2)


def _all_terms(text: str, dialect: Dialect) -> list[Span] | None:
    hyphen = _HYPHEN.fullmatch(text) if dialect.has_hyphens else None
    if hyphen:
        text = f">={hyphen[1]} <={hyphen[2]}"
    text = text.strip()
    at, spans = 0, EVERYTHING
    while at < len(text):
        term = _TERM.match(text, at)
        allowed = _term(term[1] or dialect.bare, term[2], dialect) if term else None
        if term is None or allowed is None:
            return None
        spans, at = in_common(spans, allowed), term.end()
    return spans


def _term(sign: str, version: str, dialect: Dialect) -> list[Span] | None:
    if version in ("*", "x", "X"):
        return EVERYTHING
    if sign == "^" and "*" in version:
        sign = "="  # Cargo: a bare 1.* is no caret
    span = span_of(sign, version, dialect)
    if span is None:
        return None
    return [(_START, span[0]), (span[1], _END)] if sign == "!=" else [span]


def _bracketed(text: str) -> list[Span] | None:
    """NuGet and Maven: [1,2) [1] (,2]; Maven may list several."""
    found, at = [], 0
    while at < len(text):
        part = _BRACKETS.match(text, at)
        if part is None:
            return None
        opening, low, comma, high, closing = part.groups()
        start, end = (version_of(low) if low else None), (version_of(high) if high else None)
        if (low and start is None) or (high and end is None):
            return None
        if not comma:
            if start is None:
                return None
            found.append(((start, 0), (start, 1)))
        else:
            first = _START if start is None else (start, 0 if opening == "[" else 1)
            found.append((first, _END if end is None else (end, 1 if closing == "]" else 0)))
        at = part.end()
    return found
