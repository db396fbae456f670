"""The writer lock: one `flock` that every writer and checkpointer of a store holds.

SQLite's own busy handler is not a queue (with 32 writers some starve for seconds), and SQLite
before 3.51.3 can lose committed pages when one process checkpoints while others write. The lock is
fair, and under it neither can happen.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from _thread import allocate_lock

from lineclear.core.words.refusals import Refusal, refuse


class WriterLock:
    """Blocks until this process and thread are the only writer; a time limit where it can have one."""

    __slots__ = ("_fd", "_path", "_pid", "_threads", "limit_s")

    def __init__(self, path: str, limit_s: float = 30.0) -> None:
        self._path = path
        self._threads = allocate_lock()
        self._pid = 0
        self._fd = -1
        self.limit_s = limit_s

    def __enter__(self) -> WriterLock:
        if not self._threads.acquire(timeout=self.limit_s):
            raise refuse(
                "store.busy", path=self._path, holder="another thread of this process", limit_s=self.limit_s
            )
        try:
            self._lock()
        except BaseException:
            self._threads.release()
            raise
        return self

    def __exit__(self, *_exc: object) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        finally:
            self._threads.release()

    def close(self) -> None:
        if self._fd >= 0 and self._pid == os.getpid():
            os.close(self._fd)
        self._fd = -1

    def _lock(self) -> None:
        if self._pid != os.getpid():
            # A lock belongs to an open file description, which a fork shares with its parent.
            self._fd = _open(self._path)
            self._pid = os.getpid()
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise refuse("store.unreadable", path=self._path, reason=str(error.strerror)) from error
            self._wait_in_line()

    def _wait_in_line(self) -> None:
        """Block in the kernel's queue, which is fair; a timer ends the wait where we may set one."""
        import signal

        if 0 < signal.getitimer(signal.ITIMER_REAL)[0] < self.limit_s:
            # A caller with less time than we would take has set its own end.
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX)
            except BaseException:
                fcntl.flock(self._fd, fcntl.LOCK_UN)
                raise
            return
        try:
            before = signal.signal(signal.SIGALRM, self._give_up)
        except ValueError:  # not the main thread: signals are not ours to use
            self._wait_by_polling()
            return
        rest, interval = signal.setitimer(signal.ITIMER_REAL, self.limit_s)
        try:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX)
            finally:
                signal.setitimer(signal.ITIMER_REAL, rest, interval)
                signal.signal(signal.SIGALRM, before)
        except BaseException:
            # The timer may ring when the lock is ours already; given up, it must not stay locked.
            fcntl.flock(self._fd, fcntl.LOCK_UN)
            raise

    def _wait_by_polling(self) -> None:
        deadline = time.monotonic() + self.limit_s
        pause = 0.0002
        while time.monotonic() < deadline:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(pause)
                pause = min(pause * 1.5, 0.005)
            else:
                return
        self._give_up()

    def _give_up(self, *_signal: object) -> None:
        raise refuse("store.busy", path=self._path, holder=holder_of(self._path), limit_s=self.limit_s)


def _open(path: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        code = "store.unreadable"
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            code = "store.read_only"
        elif error.errno in (errno.ENOSPC, errno.EDQUOT):
            code = "store.full"
        raise refuse(code, path=path, reason=str(error.strerror)) from error


def stuck_holder(path: str, *, limit_s: float) -> str:
    """Who keeps the gate for so long; "" when it is free by then."""
    try:
        with WriterLock(path, limit_s=limit_s):
            return ""
    except Refusal:
        return holder_of(path)


def holder_of(path: str) -> str:
    """Which process holds the lock, where the system tells (Linux)."""
    try:
        inode = os.stat(path).st_ino
        with open("/proc/locks", encoding="ascii", errors="replace") as table:
            for line in table:
                fields = line.split()
                if "->" not in fields and fields[1] == "FLOCK" and fields[5].endswith(f":{inode}"):
                    return f"process {fields[4]}"
    except (OSError, IndexError):
        pass
    return "another process"
