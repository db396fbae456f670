"""Is a version within an npm range? Nothing is within a range that is not just numbers."""

from __future__ import annotations

import re

Point = tuple[int, int, int]
_VERSION = re.compile(r"v?(\d{1,18})\.(\d{1,18})\.(\d{1,18})")
_PART = re.compile(r"(\^|~|>=|<=|>|<|=)?\s*v?(\d{1,18}|[xX*])(?:\.(\d{1,18}|[xX*]))?(?:\.(\d{1,18}|[xX*]))?")


def is_within(version: object, wanted: object) -> bool:
    """Is it within the range? False if either has a suffix, or is an address or a tag."""
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if found is None or not isinstance(wanted, str):
        return False
    point = (int(found[1]), int(found[2]), int(found[3]))
    return any(_is_within_all(point, part.strip()) for part in wanted.split("||"))


def _is_within_all(point: Point, wanted: str) -> bool:
    hyphen = re.fullmatch(r"(\S+)\s+-\s+(\S+)", wanted)
    if hyphen:
        wanted = f">={hyphen[1]} <={hyphen[2]}"
    rest = _PART.sub("", wanted)
    if rest.strip(" ,") or (not wanted and rest):
        return False
    return all(_is_within_one(point, *found) for found in _PART.findall(wanted))


def _is_within_one(point: Point, sign: str, major: str, minor: str, patch: str) -> bool:
    numbers = [int(part) for part in (major, minor, patch) if part.isdigit()]
    if not numbers:
        return True
    filled = [*numbers, 0, 0]
    low = (filled[0], filled[1], filled[2])
    if sign in (">", "<="):
        above = _next(numbers, len(numbers) - 1)
        return point >= above if sign == ">" else point < above
    if sign in (">=", "<"):
        return point >= low if sign == ">=" else point < low
    place = len(numbers) - 1
    if sign == "^":
        place = next((n for n, part in enumerate(numbers) if part), place)
    elif sign == "~":
        place = min(place, 1)
    return low <= point < _next(numbers, place)


def _next(numbers: list[int], place: int) -> Point:
    """The first version after all those that begin with these numbers up to the place."""
    raised = [*numbers[:place], numbers[place] + 1, 0, 0, 0]
    return raised[0], raised[1], raised[2]
