"""Durations as people write them ("90s", "1h30m", "1.5h"); how we show them is in instants.py.

On the hook's path: imports only refusals and instants. All arithmetic is in whole milliseconds.
"""

from __future__ import annotations

from lineclear.core.instants import show_duration
from lineclear.core.words.refusals import refuse

SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS = 1_000, 60_000, 3_600_000, 86_400_000
# Ten years: in nanoseconds, added to any of our clocks, it still fits in 64 bits.
LONGEST_MS = 3_650 * DAY_MS

# Long enough for every real duration; it bounds the numbers that we compute with.
_MAX_CHARS = 32
_UNITS_MS = {"d": DAY_MS, "h": HOUR_MS, "m": MINUTE_MS, "s": SECOND_MS, "ms": 1}
_DIGITS = frozenset("0123456789")
_FORM = "write it like 90s, 30m, 2h, 1d, 1h30m, 1.5h or 500ms"


def parse_duration(text: str, *, least_ms: int = 0, most_ms: int = LONGEST_MS) -> int:
    """The duration in milliseconds, rounded down. A bare number is seconds."""
    written = text.strip()
    if written.startswith("-"):
        raise refuse("input.bad", name="duration", given=text, why="it must not be negative")
    parts = _parts(written) if len(written) <= _MAX_CHARS else []
    total_ms = _sum_ms(parts)
    if total_ms is None:
        raise refuse("input.bad", name="duration", given=text, why=_FORM)
    if total_ms < least_ms:
        raise refuse(
            "input.bad", name="duration", given=text, why=f"the minimum is {show_duration(least_ms)}"
        )
    if total_ms > most_ms:
        raise refuse("input.bad", name="duration", given=text, why=f"the maximum is {show_duration(most_ms)}")
    return total_ms


def _parts(text: str) -> list[tuple[str, str]]:
    """Pairs of a number and its unit, as written and not checked yet."""
    parts: list[tuple[str, str]] = []
    number = unit = ""
    for ch in text:
        is_number = ch in _DIGITS or ch == "."
        if is_number and unit:
            parts.append((number, unit))
            number = unit = ""
        if is_number:
            number += ch
        else:
            unit += ch
    return [*parts, (number, unit)]


def _sum_ms(parts: list[tuple[str, str]]) -> int | None:
    """The sum, or None: units must go from large to small, each once, and only the last number may have a
    fraction."""
    if len(parts) == 1 and not parts[0][1]:
        parts = [(parts[0][0], "s")]
    total_ms, above_ms, has_fraction = 0, 2 * DAY_MS, False
    for number, unit in parts:
        unit_ms = _UNITS_MS.get(unit)
        if unit_ms is None or unit_ms >= above_ms or has_fraction:
            return None
        part_ms = _times(number, unit_ms)
        if part_ms is None:
            return None
        total_ms, above_ms, has_fraction = total_ms + part_ms, unit_ms, "." in number
    return total_ms if parts else None


def _times(number: str, unit_ms: int) -> int | None:
    whole, point, fraction = number.partition(".")
    is_number = _DIGITS.issuperset(whole + fraction) and whole and (fraction or not point)
    return int(whole + fraction) * unit_ms // 10 ** len(fraction) if is_number else None
