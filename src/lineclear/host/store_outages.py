"""Remembers for a few seconds that the store was out of reach, so that not every edit tries it again.

All hooks share one file, whose modification time is that of the last failure.
"""

from __future__ import annotations

import os
import time

FILE = "store-away"
# After this long, one process tries again while the others wait as long once more.
REMEMBERED_NS = 5_000_000_000


class Outage:
    """Never fails: if the file cannot be read or written, the store is simply tried."""

    def __init__(self, state_directory: str) -> None:
        self._path = f"{state_directory}/{FILE}"

    def is_fresh(self) -> bool:
        """Was the store out of reach just now? After a while, one caller gets False and tries for all."""
        try:
            age_ns = time.time_ns() - os.stat(self._path).st_mtime_ns
            if 0 <= age_ns < REMEMBERED_NS:
                return True
            os.utime(self._path)
        except OSError:
            pass
        return False

    def note(self) -> None:
        try:
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
            os.utime(self._path)
        except OSError:
            pass

    def clear(self) -> None:
        try:
            os.unlink(self._path)
        except OSError:
            pass
