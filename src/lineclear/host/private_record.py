"""Small text files that only this user may write, changed atomically by one process at a time."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from lineclear.host.files import write_atomically
from lineclear.host.locks import LockFile

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_RECORD_BYTES = 4 * 1024 * 1024


class RecordFile:
    def __init__(self, path: str) -> None:
        self._path = path

    def read(self) -> str:
        """The text; "" if the file does not exist, or if another user could have written it."""
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return ""
        with open(fd, "rb") as file:
            row = os.fstat(fd)
            is_ours = stat.S_ISREG(row.st_mode) and row.st_uid == os.geteuid() and not row.st_mode & 0o022
            return file.read(MAX_RECORD_BYTES).decode("ascii", "replace") if is_ours else ""

    def change(self, change: Callable[[str], str]) -> None:
        """Replace the text by `change(text)` under a lock."""
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        with LockFile(f"{self._path}.lock"):
            text = change(self.read())
            write_atomically(self._path, text.encode("ascii", "replace"), mode=0o600)
