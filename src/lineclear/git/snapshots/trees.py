"""A cache of the tree objects that snapshots of one worktree needed, and HEAD's commit, read from git's
files.

An agent works in few directories, and asking git for their trees costs a process each time.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING

from lineclear.git import parse
from lineclear.git.layout import has_reftable, read_text
from lineclear.host.files import write_atomically

if TYPE_CHECKING:
    from lineclear.git.layout import Layout

_MOST_BYTES = 4 << 20


def head_in_files(layout: Layout) -> str | None:
    """Return HEAD's commit from git's own files; None if they do not say (a reftable, no commit yet)."""
    if has_reftable(layout.common_dir):
        return None
    head = read_text(layout.git_dir + "/HEAD")
    target = parse.symbolic_target(head)
    if target is None:
        return head.strip() if parse.is_object_id(head) else None
    loose = read_text(f"{layout.common_dir}/{target}").strip()
    if not loose:
        loose = parse.packed_ref(read_text(layout.common_dir + "/packed-refs", limit=-1), target)
    return loose if parse.is_object_id(loose) else None


class KnownTrees:
    """Directory -> its tree object at one commit, None for a directory that does not exist there.

    A cache file that is unreadable, damaged or about another commit counts as empty.
    """

    def __init__(self, path: str, head: str) -> None:
        self._path, self.head = path, head
        self.found: dict[bytes, bytes | None] = {}
        try:
            with open(path, "rb") as file:
                about = json.loads(file.readline())
                if about["head"] == head:
                    self._read(about["places"], file.read(), about["digest"])
        except (OSError, ValueError, KeyError, TypeError):
            self.found = {}

    def _read(self, places: list[tuple[str, int]], data: bytes, digest: str) -> None:
        if _digest(data) != digest:
            return
        at = 0
        for name, size in places:
            self.found[os.fsencode(name)] = data[at : at + size] if size >= 0 else None
            at += max(size, 0)

    def add(self, more: dict[bytes, bytes | None]) -> None:
        """Add these to the cache; if it grows too large, keep only these."""
        self.found |= more
        if sum(len(data or b"") for data in self.found.values()) > _MOST_BYTES:
            self.found = more
        data = b"".join(data for data in self.found.values() if data)
        places = [(os.fsdecode(name), -1 if tree is None else len(tree)) for name, tree in self.found.items()]
        about = {"head": self.head, "places": places, "digest": _digest(data)}
        text = json.dumps(about).encode("ascii") + b"\n" + data
        try:
            write_atomically(self._path, text, is_durable=False, temporary=f"{self._path}.new")
        except OSError:
            pass


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
