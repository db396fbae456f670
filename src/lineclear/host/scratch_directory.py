"""A private temporary directory for a program that may write there: filled, compared, removed.

A lock is held while it is in use, so we can tell which directories a killed process left behind.
"""

from __future__ import annotations

import os
import stat
import tempfile
import time
from typing import TYPE_CHECKING

from lineclear.host.files import remove_tree
from lineclear.host.locks import LockFile, is_locked

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

_LOCK, _TREE, _TMP = "lock", "tree", "tmp"
# A directory without a lock file is just being made, or was never finished.
_UNFINISHED_S = 3_600.0
_NO_NAMES = ("", ".", "..")


class BadPath(ValueError):
    """A path that leads outside the directory, or into `.git`."""


class Scratch:
    """`path` is the directory to fill, `tmp` one beside it. A context: both are removed at its end."""

    def __init__(self, prefix: str) -> None:
        while True:
            self._top = os.path.realpath(tempfile.mkdtemp(prefix=prefix))
            self._lock = LockFile(f"{self._top}/{_LOCK}")
            try:
                is_taken = self._lock.take(0)
            except FileNotFoundError:
                continue
            # A process that removes abandoned directories may have removed this one meanwhile.
            if is_taken and os.path.isdir(self._top):
                break
            self._lock.free()
        self.path, self.tmp = f"{self._top}/{_TREE}", f"{self._top}/{_TMP}"
        os.mkdir(self.path)
        os.mkdir(self.tmp)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        remove_tree(self._top)
        self._lock.free()

    def fill(self, files: Mapping[str, bytes]) -> None:
        """Write the files; raise BadPath if one would lie outside."""
        for path, content in files.items():
            parts = path.split("/")
            if any(part in _NO_NAMES or "\0" in part or part.lower() == ".git" for part in parts):
                raise BadPath(path)
            whole = f"{self.path}/{path}"
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            with open(whole, "xb") as file:
                file.write(content)

    def differences(self, files: Mapping[str, bytes]) -> list[str]:
        """The paths that are changed, missing or new since `fill(files)`."""
        found = set(files)
        for directory, names, plain in os.walk(self.path):
            links = [name for name in names if os.path.islink(f"{directory}/{name}")]
            for name in (*plain, *links):
                path = os.path.relpath(f"{directory}/{name}", self.path)
                if path in files and self.read(path, len(files[path])) == files[path]:
                    found.discard(path)
                else:
                    found.add(path)
        return sorted(found)

    def read(self, path: str, most_bytes: int) -> bytes | None:
        """The content; None if it is not a plain file, or has more than `most_bytes`."""
        try:
            fd = os.open(f"{self.path}/{path}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        with open(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return None
            content = file.read(most_bytes + 1)
        return content if len(content) <= most_bytes else None


def abandoned(prefix: str) -> list[str]:
    """The scratch directories with this prefix whose process is gone."""
    top = os.path.realpath(tempfile.gettempdir())
    found = [f"{top}/{name}" for name in os.listdir(top) if name.startswith(prefix)]
    return [path for path in found if _is_abandoned(path)]


def _is_abandoned(top: str) -> bool:
    try:
        row = os.lstat(top)
    except OSError:
        return False
    if row.st_uid != os.getuid() or not stat.S_ISDIR(row.st_mode):
        return False
    if not os.path.exists(f"{top}/{_LOCK}"):
        return time.time() - row.st_mtime > _UNFINISHED_S
    return not is_locked(f"{top}/{_LOCK}")


def tree_in(top: str) -> str:
    """The `path` that the scratch directory had."""
    return f"{top}/{_TREE}"
