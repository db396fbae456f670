"""A small text file of this user alone, changed by one process at a time, whole or not at all."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from lineclear.host.files import write_atomically
from lineclear.host.locks import LockFile

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_RECORD_BYTES = 4 * 1024 * 1024


def read_record_file(path: str) -> str:
    """Its text; nothing for a file that is not there, or that somebody else could have written."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with open(fd, "rb") as file:
        found = os.fstat(fd)
        is_ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
        return file.read(MAX_RECORD_BYTES).decode("ascii", "replace") if is_ours else ""


def change_record_file(path: str, change: Callable[[str], str]) -> None:
    """Replace its text by what `change` makes of it, while no other process does the same."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with LockFile(f"{path}.lock"):
        text = change(read_record_file(path))
        write_atomically(path, text.encode("ascii", "replace"), mode=0o600)


class RecordFile:
    """Such a file at one path."""

    def __init__(self, path: str) -> None:
        self._path = path

    def read(self) -> str:
        return read_record_file(self._path)

    def change(self, change: Callable[[str], str]) -> None:
        change_record_file(self._path, change)
