"""The writer lock: one `flock` that every writer and checkpointer of a store holds.

SQLite's own busy handler is not a queue (with 32 writers some starve for seconds), and SQLite before 3.51.3
can lose committed pages if one process checkpoints while others write. This fair lock prevents both.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from _thread import allocate_lock

from lineclear.core.words.refusals import Refusal, refuse


class WriterLock:
    """Blocks until this thread is the only writer. Gives up after `limit_s`, unless the caller has set an
    earlier alarm itself."""

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
            # After a fork: the lock belongs to the open file description, which we share with the parent.
            self._fd = _open(self._path)
            self._pid = os.getpid()
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise refuse("store.unreadable", path=self._path, reason=str(error.strerror)) from error
            self._wait_in_line()

    def _wait_in_line(self) -> None:
        """Block in the kernel's queue, which is fair; a timer ends the wait if we may set one."""
        import signal

        if 0 < signal.getitimer(signal.ITIMER_REAL)[0] < self.limit_s:
            # The caller's own alarm comes first.
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX)
            except BaseException:
                fcntl.flock(self._fd, fcntl.LOCK_UN)
                raise
            return
        try:
            before = signal.signal(signal.SIGALRM, self._give_up)
        except ValueError:  # not the main thread, so we cannot use signals
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
            # The timer may fire when we already have the lock.
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
    """The process that still holds the lock after `limit_s`; "" if it is free by then. Refuses if the lock
    cannot be opened at all."""
    try:
        with WriterLock(path, limit_s=limit_s):
            return ""
    except Refusal as refusal:
        if refusal.code != "store.busy":
            raise
        return holder_of(path)


def holder_of(path: str) -> str:
    """The process that holds the lock, as far as the system says (Linux)."""
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
