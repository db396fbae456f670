"""A store that was out of reach a moment ago is not tried at every edit: one file that all hooks share."""

from __future__ import annotations

import os
import time

FILE = "store-away"
# How long nobody tries; then one does, and the others go on for as long.
REMEMBERED_NS = 5_000_000_000


class Outage:
    """Kept by its mtime. Never a reason to fail: without the file the store is simply tried."""

    def __init__(self, state_directory: str) -> None:
        self._path = f"{state_directory}/{FILE}"

    def is_fresh(self) -> bool:
        """Was it out of reach just now? One caller gets False and tries for all others."""
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
