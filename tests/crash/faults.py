"""Where a process can die or be failed: every step it takes outside of its own memory, found by wrapping.

SQLite's file system calls are seen by a VFS of our own, the program's by wrapping the functions of `os` and
`fcntl`. A plan says at which step something happens: `before` it (die), `after` it (die), `torn` (write half
of it, die), `powerless` (die before it, and lose what was written and not synced), `failed` (this one fails),
`full` (from this one on every write fails, until the disk is cleared).
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
from collections.abc import Callable
from typing import Any, NoReturn

import apsw

BEFORE, AFTER, TORN, POWERLESS, FAILED, FULL = "before", "after", "torn", "powerless", "failed", "full"
BASE_VFS = "unix"
_os_open, _os_ftruncate = os.open, os.ftruncate  # before they are wrapped


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("survived a kill -9")


class Points:
    """All steps in the order they are taken; the plan's one is not like the others."""

    def __init__(self, at: int = 0, how: str = "") -> None:
        """Steps are counted from 1; with `at` 0 they are only counted."""
        self._at, self._how = at, how
        self.names: list[str] = []
        self.files: list[FaultyFile] = []

    def clear(self) -> None:
        """There is room on the disk again."""
        self._at = 0

    def step(
        self,
        name: str,
        perform: Callable[[], Any],
        *,
        tear: Callable[[], Any] | None = None,
        error: Callable[[str], Exception],
    ) -> Any:
        self.names.append(name)
        number = len(self.names)
        if self._how == FULL and self._at and number >= self._at and tear is not None:
            raise error(FULL)
        if number != self._at:
            return perform()
        if self._how == POWERLESS:
            for file in self.files:
                file.lose_unsynced()
        if self._how in (BEFORE, POWERLESS):
            die()
        if self._how == TORN and tear is not None:
            tear()
            die()
        if self._how == FAILED:
            raise error(FAILED)
        try:
            return perform()
        finally:
            if self._how == AFTER:
                die()


# -- SQLite -----------------------------------------------------------------------------------


def _sqlite_error(how: str) -> Exception:
    return apsw.FullError("no room") if how == FULL else apsw.IOError("the disk failed")


class FaultyFile(apsw.VFSFile):
    def __init__(self, points: Points, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._points, self._path = points, path or ""
        self._name = os.path.basename(path).replace("state.db", "db") if path else "temporary"
        super().__init__(BASE_VFS, name, flags)
        self._unsynced: list[tuple[int, bytes, int]] = []
        points.files.append(self)

    def lose_unsynced(self) -> None:
        """As if power had failed: the disk never got what was not synced, closed or not."""
        if not self._unsynced or not os.path.exists(self._path):
            return
        fd = _os_open(self._path, os.O_RDWR)
        for offset, before, size in reversed(self._unsynced):
            os.pwrite(fd, before, offset)
            _os_ftruncate(fd, size)

    def _remember(self, offset: int, length: int) -> None:
        size = super().xFileSize()
        before = super().xRead(min(length, size - offset), offset) if offset < size else b""
        self._unsynced.append((offset, before, size))

    def _step(self, verb: str, perform: Callable[[], Any], tear: Callable[[], Any] | None = None) -> Any:
        return self._points.step(f"{verb} {self._name}", perform, tear=tear, error=_sqlite_error)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        half = data[: len(data) // 2]
        real = super().xWrite
        self._remember(offset, len(data))
        self._step("write", lambda: real(data, offset), lambda: real(half, offset))

    def xSync(self, flags: int) -> None:  # noqa: N802
        real = super().xSync
        self._step("sync", lambda: real(flags))
        self._unsynced.clear()

    def xTruncate(self, size: int) -> None:  # noqa: N802
        real = super().xTruncate
        self._remember(size, super().xFileSize())
        self._step("truncate", lambda: real(size))

    def xLock(self, level: int) -> None:  # noqa: N802
        real = super().xLock
        self._step("lock", lambda: real(level))

    def xUnlock(self, level: int) -> None:  # noqa: N802
        # An unlock that fails is not something a disk does; a death at it is.
        real = super().xUnlock
        self._points.step(f"unlock {self._name}", lambda: real(level), error=_sqlite_error)


class FaultyVFS(apsw.VFS):
    """The default VFS of this process from now on."""

    def __init__(self, points: Points) -> None:
        self._points = points
        super().__init__("faulty", BASE_VFS, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        shown = os.path.basename(path).replace("state.db", "db") if path else "temporary"
        made: apsw.VFSFile = self._points.step(
            f"open {shown}", lambda: FaultyFile(self._points, name, flags), error=_sqlite_error
        )
        return made

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        real = super().xDelete
        shown = os.path.basename(filename).replace("state.db", "db")
        self._points.step(f"delete {shown}", lambda: real(filename, syncdir), error=_sqlite_error)


# -- the program's own calls --------------------------------------------------------------------

_OS_CALLS = (
    "fsync",
    "ftruncate",
    "replace",
    "rename",
    "link",
    "unlink",
    "mkdir",
    "fchmod",
    "chmod",
    "mkfifo",
)


def _os_error(how: str) -> Exception:
    number = errno.ENOSPC if how == FULL else errno.EIO
    return OSError(number, os.strerror(number))


def wrap_os(points: Points) -> None:
    """From now on this process's own system calls that change something are steps."""
    for name in _OS_CALLS:
        setattr(os, name, _wrapped(points, name, getattr(os, name)))
    os.write = _wrapped_write(points, os.write)
    os.open = _wrapped_open(points, os.open)
    fcntl.flock = _wrapped_flock(points, fcntl.flock)


def _wrapped(points: Points, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        return points.step(name, lambda: real(*arguments, **options), error=_os_error)

    return call


def _wrapped_flock(points: Points, real: Callable[[Any, int], None]) -> Callable[[Any, int], None]:
    def flock(fd: Any, how: int) -> None:
        name = "unlock file" if how & fcntl.LOCK_UN else "lock file"
        points.step(name, lambda: real(fd, how), error=_os_error)

    return flock


def _wrapped_write(points: Points, real: Callable[[int, Any], int]) -> Callable[[int, Any], int]:
    def write(fd: int, data: Any) -> int:
        half = bytes(data)[: len(data) // 2]
        written: int = points.step(
            "write file", lambda: real(fd, data), tear=lambda: real(fd, half), error=_os_error
        )
        return written

    return write


def _wrapped_open(points: Points, real: Callable[..., int]) -> Callable[..., int]:
    def open_(path: Any, flags: int, *mode: Any, **options: Any) -> int:
        if not flags & (os.O_CREAT | os.O_TRUNC):
            return real(path, flags, *mode, **options)
        fd: int = points.step("create file", lambda: real(path, flags, *mode, **options), error=_os_error)
        return fd

    return open_
