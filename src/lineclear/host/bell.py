"""Wake-ups between processes without a server or inotify: every waiter owns a named pipe.

A ring is only a hint. A waiter first listens, then reads the store, then waits, and reads again after every
wait, rung or not. So a lost ring costs time, never correctness.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import time

_DEAF_WAIT_S = 0.25
_STALE_AFTER_S = (
    1.0  # a waiter opens its pipe just after making it: a new pipe without a reader may be in use
)


class PipeListener:
    """One waiter's own pipe; if none can be made, `wait` sleeps for a short time instead."""

    __slots__ = ("_dummy_fd", "_fd", "_path", "_poll")

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = self._dummy_fd = -1
        try:
            self._open()
        except OSError:
            self.close()

    def _open(self) -> None:
        os.mkfifo(self._path, 0o600)
        self._fd = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        # Without a writer of our own, poll would report the end of the pipe for ever.
        self._dummy_fd = os.open(self._path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._poll = select.poll()
        self._poll.register(self._fd, select.POLLIN)

    def wait(self, timeout_s: float) -> bool:
        """True if rung since the last wait. May return early without a ring: then wait again."""
        if self._fd < 0:
            time.sleep(max(0.0, min(timeout_s, _DEAF_WAIT_S)))
            return False
        if not self._poll.poll(max(0.0, timeout_s) * 1000):
            return False
        try:
            os.read(self._fd, 65536)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        """Remove the pipe. Calling it again has no effect."""
        try:
            os.unlink(self._path)
        except OSError:
            pass
        for fd in (self._fd, self._dummy_fd):
            if fd >= 0:
                os.close(fd)
        self._fd = self._dummy_fd = -1

    def __enter__(self) -> PipeListener:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


class PipeBell:
    """Wakes all waiters of one directory."""

    __slots__ = ("_directory",)

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def make_directory(self) -> None:
        os.makedirs(self._directory, mode=0o700, exist_ok=True)

    def listen(self) -> PipeListener:
        try:
            self.make_directory()
        except OSError:
            pass  # the listener then sleeps instead
        return PipeListener(f"{self._directory}/{os.getpid()}.{os.urandom(8).hex()}")

    def ring(self) -> None:
        """Wake every listener. Never fails, never blocks."""
        try:
            names = os.listdir(self._directory)
        except OSError:
            return
        for name in names:
            _ring_one(f"{self._directory}/{name}")


def _ring_one(path: str) -> None:
    try:
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            _remove_if_stale(path)
        return
    try:
        if stat.S_ISFIFO(os.fstat(fd).st_mode):
            os.write(fd, b"!")
    except OSError:
        pass  # a full pipe was rung already, or the reader has left
    finally:
        os.close(fd)


def _remove_if_stale(path: str) -> None:
    try:
        if time.time() - os.stat(path).st_mtime > _STALE_AFTER_S:
            os.unlink(path)
    except OSError:
        pass
