"""Records when a worktree was last examined for a snapshot: the modification time of a mark file."""

from __future__ import annotations

import os
import time

from lineclear.host.locks import LockFile


def take_mark(path: str, older_than_ms: int) -> bool:
    """Set the mark's time to now if it is older than this. Only one of several processes gets True."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with LockFile(path) as mark:
            found = os.fstat(mark.fd)
            if found.st_size and time.time_ns() - found.st_mtime_ns < older_than_ms * 1_000_000:
                return False
            os.pwrite(mark.fd, b"1", 0)
            return True
    except OSError:
        return False
