"""What was last published in each worktree, and the lock that lets one process publish at a time.

Kept in `.git/lineclear/mirror/`. If it is lost, the next pass writes it again.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from lineclear.host.files import write_atomically
from lineclear.host.locks import LockFile
from lineclear.mirror.files import read_small, remove

if TYPE_CHECKING:
    from typing import Any

DIRECTORY, FAILURE = "mirror", "failure"
_MOST_BYTES = 4 * 1024 * 1024
PAGES_KEPT = 200
_ENDINGS = ("md", "json", "theirs")


@dataclass(frozen=True, slots=True)
class Base:
    """The page as it was written into one worktree, its number, and the name of the file there."""

    text: bytes
    page: int
    where: str


class MirrorState:
    """A context manager; `is_mine` says whether we got the lock in time."""

    def __init__(self, state_directory: str, wait_s: float) -> None:
        self.directory = os.path.join(state_directory, DIRECTORY)
        self._wait_s = wait_s
        self._lock = LockFile(os.path.join(self.directory, "lock"))
        self.is_mine = False

    def __enter__(self) -> MirrorState:
        for name in ("trees", "pages"):
            os.makedirs(os.path.join(self.directory, name), mode=0o700, exist_ok=True)
        self.is_mine = self._lock.take(self._wait_s)
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.free()

    # -- the shared page, and the position of what was published --------------------------------

    def page(self) -> bytes | None:
        return read_small(self._path("page.md"), _MOST_BYTES)

    def published(self) -> dict[str, Any]:
        """`head`, `at` (wall time), `locks` (files we wrote), `troubles`; empty before the first pass."""
        return _object(read_small(self._path("published.json"), _MOST_BYTES))

    def old_page(self, number: int) -> bytes | None:
        """An earlier page, for edits by somebody who has not seen the later ones; kept for a while."""
        return read_small(self._path(f"pages/{number}.md"), _MOST_BYTES)

    def save_page(self, number: int, text: bytes) -> None:
        self._write(f"pages/{number}.md", text)
        self._write("page.md", text)
        remove(self._path(f"pages/{number - PAGES_KEPT}.md"))

    def save(self, head: int, locks: list[str], troubles: list[str]) -> None:
        facts = {"head": head, "at": time.time(), "locks": locks, "troubles": troubles}
        self._write("published.json", json.dumps(facts).encode())

    # -- per worktree ---------------------------------------------------------------------------

    def base(self, tree: str) -> Base | None:
        text = read_small(self._path(_file_of(tree, "md")), _MOST_BYTES)
        facts = _object(read_small(self._path(_file_of(tree, "json")), _MOST_BYTES))
        page, where = facts.get("page"), facts.get("where")
        if text is None or not isinstance(page, int) or not isinstance(where, str):
            return None
        return Base(text, page, where)

    def save_base(self, tree: str, base: Base) -> None:
        facts = {"page": base.page, "where": base.where}
        self._write(_file_of(tree, "json"), json.dumps(facts).encode())
        self._write(_file_of(tree, "md"), base.text)

    def theirs(self, tree: str) -> bytes | None:
        """The page of a worktree that had one before us, as its author last left it; None if it is ours."""
        return read_small(self._path(_file_of(tree, "theirs")), _MOST_BYTES)

    def save_theirs(self, tree: str, text: bytes) -> None:
        self._write(_file_of(tree, "theirs"), text)

    def forget(self, tree: str) -> None:
        for ending in _ENDINGS:
            remove(self._path(_file_of(tree, ending)))

    def forget_all_but(self, trees: list[str]) -> None:
        kept = {os.path.basename(_file_of(tree, ending)) for tree in trees for ending in _ENDINGS}
        for name in os.listdir(self._path("trees")):
            if name not in kept:
                remove(self._path(f"trees/{name}"))

    def _path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def _write(self, name: str, data: bytes) -> None:
        path = self._path(name)
        write_atomically(path, data, is_durable=False, temporary=f"{path}.new")


def note_failure(state_directory: str, words: str) -> None:
    """Record for the doctor why the last pass failed; an empty text removes the record."""
    path = os.path.join(state_directory, DIRECTORY, FAILURE)
    try:
        if words:
            with open(path, "w", encoding="utf-8", errors="replace") as file:
                file.write(words[:500])
        elif os.path.exists(path):
            os.unlink(path)
    except OSError:
        pass  # nothing can be written here


def read_failure(state_directory: str) -> str:
    try:
        with open(os.path.join(state_directory, DIRECTORY, FAILURE), encoding="utf-8") as file:
            return file.read(500)
    except (OSError, ValueError):
        return ""


def _file_of(tree: str, ending: str) -> str:
    return f"trees/{quote(tree, safe='')[:200]}.{ending}"


def _object(data: bytes | None) -> dict[str, Any]:
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
