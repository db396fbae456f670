"""Reads sizes as people write them ("10MiB", "500MB", "4096") and writes them back exactly.

Imports nothing but refusals. All arithmetic is in whole bytes.
"""

from __future__ import annotations

from lineclear.core.words.refusals import refuse

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
LARGEST_BYTES = 1 << 60

_MAX_CHARS = 32
_DIGITS = frozenset("0123456789")
_UNITS = {
    "": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": KIB, "mib": MIB, "gib": GIB, "tib": TIB,
}  # fmt: skip
_WRITTEN = {
    "TiB": TIB, "TB": 10**12, "GiB": GIB, "GB": 10**9, "MiB": MIB, "MB": 10**6, "KiB": KIB, "kB": 10**3,
    "": 1,
}  # fmt: skip
_FORM = "write it like 10MiB, 500MB, 1.5GiB or 4096"


def parse_size(text: str, *, least_bytes: int = 0, most_bytes: int = LARGEST_BYTES) -> int:
    """The size in bytes, rounded down. A bare number is bytes."""
    size_bytes = _read(text.strip().lower())
    if size_bytes is None:
        raise refuse("input.bad", name="size", given=text, why=_FORM)
    if size_bytes < least_bytes:
        raise refuse("input.bad", name="size", given=text, why=f"the minimum is {write_size(least_bytes)}")
    if size_bytes > most_bytes:
        raise refuse("input.bad", name="size", given=text, why=f"the maximum is {write_size(most_bytes)}")
    return size_bytes


def _read(written: str) -> int | None:
    if len(written) > _MAX_CHARS:
        return None
    number = written.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = _UNITS.get(written[len(number) :])
    whole, point, fraction = number.rstrip().partition(".")
    is_number = whole and (fraction or not point) and _DIGITS.issuperset(whole + fraction)
    return int(whole + fraction) * unit // 10 ** len(fraction) if is_number and unit else None


def write_size(size_bytes: int) -> str:
    """The shortest exact form: a whole number of one unit. `parse_size` reads it back as the same size."""
    exact = [
        f"{size_bytes // factor}{unit}"
        for unit, factor in _WRITTEN.items()
        if size_bytes and size_bytes % factor == 0
    ]
    return min(exact, key=len, default="0")
