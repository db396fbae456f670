"""Lock files: one process of this host at a time. The kernel frees the lock when the process ends, however it
ends.

Two kinds of lock need more and have their own module: bonds (host/bonds.py), and SQLite's writer lock
(store/sqlite/writer_lock.py), which has to be fair.
"""

from __future__ import annotations

import fcntl
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.0002, 0.02


class LockFile:
    """An exclusive lock on a file. `take` can wait for a limited time; `with` takes the lock, however long
    that takes, unless it was taken before, and frees it at the end.

    A child that inherits `fd` keeps the lock until it ends, even if we end before.
    """

    __slots__ = ("_path", "fd")

    def __init__(self, path: str) -> None:
        self._path, self.fd = path, -1

    def take(self, wait_s: float | None = None) -> bool:
        """Wait at most `wait_s` for the lock (0: not at all, None: for ever); True if we got it."""
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if not lock(fd, wait_s):
                return False
            self.fd, fd = fd, -1
        finally:
            if fd >= 0:
                os.close(fd)
        return True

    def free(self) -> None:
        """Has no effect if we do not hold the lock."""
        if self.fd >= 0:
            fd, self.fd = self.fd, -1
            os.close(fd)

    def __enter__(self) -> Self:
        if self.fd < 0:
            self.take()
        return self

    def __exit__(self, *_: object) -> None:
        self.free()


def is_locked(path: str) -> bool:
    """Does a process hold the lock of this file? False if there is no such file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not share(fd)
    finally:
        os.close(fd)


def lock(fd: int, wait_s: float | None) -> bool:
    """Lock an open file exclusively, waiting at most `wait_s` (None: for ever); True if we got it."""
    if wait_s is None:
        fcntl.flock(fd, fcntl.LOCK_EX)
        return True
    until, pause_s = time.monotonic() + wait_s, _FIRST_PAUSE_S
    while not _try(fd, fcntl.LOCK_EX):
        left_s = until - time.monotonic()
        if left_s <= 0:
            return False
        time.sleep(min(pause_s, left_s))
        pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)
    return True


def share(fd: int) -> bool:
    """Take a shared lock if nobody holds the exclusive one. Shared locks coexist, so two processes that
    only ask never mistake each other for the holder."""
    return _try(fd, fcntl.LOCK_SH)


def _try(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
