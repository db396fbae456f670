"""Log files that only this user may read: numbered ones in a directory, bounded in size and number, and the
errors that our own processes note."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

MOST_BYTES = 2 * 1024 * 1024
MOST_FILES = 200
_ENDING = ".log"
_MOST_READ = 1 << 20


class BoundedLog:
    """A file with all of a short output, or the beginning and the end of a long one, with a line in between
    that says how much is missing. The end is written by `close`."""

    def __init__(self, path: str, fd: int, most_bytes: int) -> None:
        self.path, self._fd = path, fd
        self._head_bytes = self._tail_bytes = most_bytes // 2
        self._tail, self._left_out = bytearray(), 0

    def write(self, data: bytes) -> None:
        head = data[: self._head_bytes]
        self._put(head)
        self._head_bytes -= len(head)
        self._tail += data[len(head) :]
        # Cut rarely: moving the bytes for every line would cost more than the command.
        if len(self._tail) > 2 * self._tail_bytes:
            self._cut_tail()

    def _cut_tail(self) -> None:
        excess = max(0, len(self._tail) - self._tail_bytes)
        del self._tail[:excess]
        self._left_out += excess

    def close(self) -> None:
        """Calling it again has no effect."""
        if self._fd < 0:
            return
        self._cut_tail()
        if self._left_out:
            self._put(f"\n[... {self._left_out} bytes left out ...]\n".encode())
        self._put(bytes(self._tail))
        os.close(self._fd)
        self._fd = -1

    def _put(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError:
            pass  # a full disk must not end the command

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def new_log(directory: str, *, most_bytes: int = MOST_BYTES, most_files: int = MOST_FILES) -> BoundedLog:
    """Open the next log of the directory and remove the oldest ones above `most_files`."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    numbers = _numbers(directory)
    number = numbers[-1] if numbers else 0
    while True:
        number += 1
        path = f"{directory}/{number}{_ENDING}"
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            break
        except FileExistsError:
            continue
    for old in numbers[: max(0, len(numbers) + 1 - most_files)]:
        try:
            os.unlink(f"{directory}/{old}{_ENDING}")
        except FileNotFoundError:
            pass  # another process removed it
    return BoundedLog(path, fd, most_bytes)


def _numbers(directory: str) -> list[int]:
    stems = (name.removesuffix(_ENDING) for name in os.listdir(directory) if name.endswith(_ENDING))
    return sorted(int(stem) for stem in stems if stem.isascii() and stem.isdigit())


@dataclass(frozen=True, slots=True)
class ErrorLines:
    """A log to which our processes add errors, one line each."""

    path: str

    def is_empty(self) -> bool:
        try:
            return os.path.getsize(self.path) == 0
        except OSError:
            return True

    def read(self) -> list[str] | None:
        """The first lines; None if there is no such file."""
        try:
            with open(self.path, encoding="utf-8", errors="replace") as file:
                return file.read(_MOST_READ).splitlines()
        except FileNotFoundError:
            return None

    def forget(self) -> None:
        os.unlink(self.path)
