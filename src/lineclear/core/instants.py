"""Points in time as the rules see them. Only the engines read a clock."""

from __future__ import annotations

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000


class Instant:
    """One moment: `tick_ns` orders leases, `boot` says which clock ticked, `wall_ns` is for display.

    Ticks of two boots cannot be compared; an epoch (see events.EpochBegan) ends every lease of the
    boot before it, so within the tables all ticks are of one boot.
    """

    __slots__ = ("boot", "tick_ns", "wall_ns")

    def __init__(self, tick_ns: int, boot: str, wall_ns: int) -> None:
        self.tick_ns = tick_ns
        self.boot = boot
        self.wall_ns = wall_ns

    def in_ms(self, duration_ms: int) -> int:
        """The tick this many milliseconds from now."""
        return self.tick_ns + duration_ms * NS_PER_MS

    def wall_of(self, tick_ns: int) -> int:
        """The wall time of a tick of the same boot, for showing it to somebody."""
        return self.wall_ns + (tick_ns - self.tick_ns)

    def ms_until(self, tick_ns: int) -> int:
        return max(0, (tick_ns - self.tick_ns) // NS_PER_MS)


def show_wall(wall_ns: int) -> str:
    """UTC in ISO 8601 to the second; written by hand to keep `datetime` off the hook's path."""
    seconds = wall_ns // NS_PER_S
    year, month, day = _civil_from_days(seconds // 86_400)
    rest = seconds % 86_400
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{year:04d}-{month:02d}-{day:02d}T{clock}Z"


def _civil_from_days(days: int) -> tuple[int, int, int]:
    """Day number since 1970-01-01 to a Gregorian date (years count from March inside)."""
    shifted = days + 719_468
    era, day_of_era = divmod(shifted, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    year = year_of_era + era * 400 + (1 if month <= 2 else 0)
    return year, month, day


def show_duration(duration_ms: int) -> str:
    """The duration in its two largest units, rounded down; a negative one is shown as 0 s."""
    if 0 < duration_ms < 1_000:
        return f"{duration_ms} ms"
    left_s = max(duration_ms, 0) // 1_000
    shown: list[str] = []
    for size_s, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        count, left_s = divmod(left_s, size_s)
        if shown:
            return f"{shown[0]} {count} {unit}" if count else shown[0]
        if count:
            shown.append(f"{count} {unit}")
    return shown[0] if shown else "0 s"
