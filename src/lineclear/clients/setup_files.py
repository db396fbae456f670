"""Reads and writes the clients' files and our records of them: the only place that writes them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.app.setup.plan import FileMove, SetupChange
from lineclear.app.setup.ports import FileChangedMeanwhile
from lineclear.host.files import leads_out, write_atomically
from lineclear.host.locks import LockFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PROGRAM_MODE = 0o755


class DiskSetupFiles:
    """`state` is our directory in the clone."""

    def __init__(self, state: str) -> None:
        self._state = state

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

    def leads_out(self, path: str, root: str) -> bool:
        return leads_out(path, root)

    def apply(self, changes: Sequence[SetupChange | FileMove]) -> None:
        moved_away = {change.path for change in changes if isinstance(change, FileMove)}
        for change in changes:
            if (
                isinstance(change, SetupChange)
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

    def _put(self, change: SetupChange, data: bytes) -> None:
        os.makedirs(os.path.dirname(change.path), exist_ok=True)
        # If it is a link to settings kept elsewhere, it stays one.
        write_atomically(os.path.realpath(change.path), data)
        if change.is_program:
            os.chmod(change.path, _PROGRAM_MODE)

    def write_record(self, path: str, data: bytes) -> None:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        write_atomically(path, data, mode=0o600)

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

    def alone(self) -> LockFile:
        os.makedirs(self._state, mode=0o700, exist_ok=True)
        return LockFile(f"{self._state}/setup.lock")
