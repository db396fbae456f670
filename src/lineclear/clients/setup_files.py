"""The files of the clients, and our records of them, on this disk: the only place that writes them."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lineclear.app.setup.plan import FileChange, FileMove
from lineclear.app.setup.ports import FileChangedMeanwhile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_PROGRAM_MODE = 0o755


class DiskSetupFiles:
    """`state`: our directory in the clone. `write` replaces a file as a whole."""

    def __init__(self, state: str, write: Callable[[str, bytes], None]) -> None:
        self._state, self._write = state, write

    def read(self, path: str) -> bytes | None:
        try:
            with open(path, "rb") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def names_in(self, directory: str) -> list[str]:
        try:
            return sorted(os.listdir(directory))
        except OSError:
            return []

    def missing_directories(self, paths: Iterable[str]) -> list[str]:
        missing: set[str] = set()
        for path in paths:
            directory = os.path.dirname(path)
            while directory and directory not in missing and not os.path.isdir(directory):
                missing.add(directory)
                directory = os.path.dirname(directory)
        return sorted(missing, key=len)

    def apply(self, changes: Sequence[FileChange | FileMove]) -> None:
        moved_away = {change.path for change in changes if isinstance(change, FileMove)}
        for change in changes:
            if (
                isinstance(change, FileChange)
                and change.path not in moved_away
                and self.read(change.path) != change.before
            ):
                raise FileChangedMeanwhile(change.path)
        for change in changes:
            if isinstance(change, FileMove):
                os.rename(change.path, change.to)
            elif change.after is None:
                os.unlink(change.path)
            else:
                self._put(change, change.after)

    def _put(self, change: FileChange, data: bytes) -> None:
        os.makedirs(os.path.dirname(change.path), exist_ok=True)
        # A link to settings that are kept elsewhere stays a link.
        self._write(os.path.realpath(change.path) if os.path.islink(change.path) else change.path, data)
        if change.is_program:
            os.chmod(change.path, _PROGRAM_MODE)

    def write_record(self, path: str, data: bytes) -> None:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        self._write(path, data)
        os.chmod(path, 0o600)

    def remove_record(self, path: str) -> None:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        self.remove_directories([os.path.dirname(path)])

    def remove_directories(self, paths: Iterable[str]) -> None:
        for path in sorted(paths, key=len, reverse=True):
            try:
                os.rmdir(path)
            except OSError:
                pass

    @contextmanager
    def alone(self) -> Iterator[None]:
        os.makedirs(self._state, mode=0o700, exist_ok=True)
        fd = os.open(f"{self._state}/setup.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)
