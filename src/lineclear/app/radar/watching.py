"""When a process that stays runs a pass: as soon as there may be something new, and now and then anyway."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.radar.passing import PassReport

LOOK_EVERY_S = 0.25
# Work grows old, and agents come and go, without a snapshot.
PASS_EVERY_S = 120.0
# Passes take at most this share of the time, also while everybody is at work.
_SHARE = 0.5


class RadarWatch:
    """`stamp()` differs from the last one if there may be something new; `run_pass()` gives None if another
    process runs the radar."""

    def __init__(
        self,
        stamp: Callable[[], object],
        run_pass: Callable[[], PassReport | None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stamp, self._run_pass, self._monotonic = stamp, run_pass, monotonic
        self._seen: object = None
        self._passed_at_s = float("-inf")

    def step(self) -> tuple[PassReport | None, float]:
        """(the report if there was a pass, how long to rest before the next step)."""
        # Read before the pass: what is new afterwards counts the next time.
        stamp, began_s = self._stamp(), self._monotonic()
        if stamp == self._seen and began_s - self._passed_at_s < PASS_EVERY_S:
            return None, LOOK_EVERY_S
        report = self._run_pass()
        self._seen, self._passed_at_s = stamp, self._monotonic()
        took_s = self._passed_at_s - began_s
        return report, max(LOOK_EVERY_S, took_s * (1 - _SHARE) / _SHARE)
