"""Remembers that the store is out of reach: since when, and for a few seconds not to try it at every edit.

All processes of a clone share one file. It holds the time of the first failure; its modification time is that
of the last one.
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

    def note(self) -> int:
        """The store was out of reach just now. Returns the wall-clock time in ns since when it is."""
        now_ns = time.time_ns()
        try:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                first = os.read(fd, 32)
                if not first:
                    os.write(fd, b"%d" % now_ns)
            finally:
                os.close(fd)
            os.utime(self._path)
            return min(int(first or now_ns), now_ns)
        except (OSError, ValueError):
            return now_ns

    def clear(self) -> None:
        """The store has answered."""
        try:
            os.unlink(self._path)
        except OSError:
            pass
