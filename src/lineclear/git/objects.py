"""Makes git objects: their ids, trees with some entries changed, and loose objects on disk.

We edit and write trees ourselves, since in a large repository the index costs more to read and write than a
snapshot may take, and one git process costs as much as writing all its trees.
"""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Entry = tuple[str, str]  # mode, object id

COMMIT, TREE, BLOB = "commit", "tree", "blob"
TREE_MODE = "40000"


class Objects:
    """New objects for a repository. `hash_name` is the hash of its ids: "sha1" or "sha256"."""

    def __init__(self, hash_name: str) -> None:
        self._hash_name = hash_name
        self._found: dict[str, tuple[str, bytes]] = {}

    @classmethod
    def like(cls, oid: str) -> Objects:
        """For a repository that has this object id."""
        return cls("sha256" if len(oid) == 64 else "sha1")

    def add(self, kind: str, data: bytes) -> str:
        oid = self._digest(b"%s %d\0" % (kind.encode(), len(data)) + data).hex()
        self._found[oid] = (kind, data)
        return oid

    def content(self, oid: str) -> bytes:
        return self._found[oid][1]

    def items(self) -> Iterable[tuple[str, tuple[str, bytes]]]:
        """(id, (kind, content)) of each object."""
        return self._found.items()

    def write(self, directory: str) -> None:
        """Write each object whole or not at all. An existing one gets the current time, so that a running
        `git gc` keeps it."""
        for oid, (kind, data) in self._found.items():
            _write_loose(f"{directory}/{oid[:2]}", oid[2:], b"%s %d\0" % (kind.encode(), len(data)) + data)

    def _digest(self, data: bytes) -> bytes:
        return hashlib.new(self._hash_name, data, usedforsecurity=False).digest()


def _write_loose(directory: str, name: str, data: bytes) -> None:
    path = f"{directory}/{name}"
    try:
        os.utime(path)
        return
    except FileNotFoundError:
        pass
    try:
        _write_new(directory, name, zlib.compress(data, 1))
    except FileNotFoundError:
        os.makedirs(directory, exist_ok=True)
        os.chmod(directory, stat.S_IMODE(os.stat(os.path.dirname(directory)).st_mode))
        _write_new(directory, name, zlib.compress(data, 1))


def _write_new(directory: str, name: str, data: bytes) -> None:
    # Git itself removes stale files with this prefix.
    fresh = f"{directory}/tmp_obj_{os.getpid()}_{os.urandom(6).hex()}"
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    try:
        try:
            # In a repository that a group shares, the directory's mode counts, not our umask.
            os.fchmod(fd, os.stat(directory).st_mode & 0o444)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
        finally:
            os.close(fd)
        os.rename(fresh, f"{directory}/{name}")
    except OSError:
        os.unlink(fresh)
        raise


def parse_tree(data: bytes, oid_bytes: int) -> dict[bytes, Entry]:
    """Return name -> (mode, object id) of a tree object."""
    entries, at = {}, 0
    while at < len(data):
        space = data.index(b" ", at)
        end = data.index(b"\0", space)
        entries[data[space + 1 : end]] = (
            data[at:space].decode(),
            data[end + 1 : end + 1 + oid_bytes].hex(),
        )
        at = end + 1 + oid_bytes
    return entries


def format_tree(entries: Mapping[bytes, Entry]) -> bytes:
    """Return a tree object. Git sorts a directory as if its name ended with a slash."""
    ordered = sorted(entries, key=lambda name: name + b"/" if entries[name][0] == TREE_MODE else name)
    return b"".join(
        entries[name][0].encode() + b" " + name + b"\0" + bytes.fromhex(entries[name][1]) for name in ordered
    )


def nobody(at_s: int) -> str:
    """The author and committer line of commits that are on no branch."""
    return f"lineclear <lineclear@localhost> {at_s} +0000"


def format_commit(tree: str, parents: Iterable[str], words: str, *, author: str, committer: str) -> bytes:
    """Return a commit object. Author and committer are as git writes them: name, <email>, seconds, zone."""
    rows = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    rows += [f"author {author}", f"committer {committer}", "", words]
    return "\n".join(rows).encode("utf-8", "surrogateescape")


def directories(paths: Iterable[bytes]) -> list[bytes]:
    """Return every directory above the paths, including the root (b""), deepest first."""
    found = {b""}
    for path in paths:
        place = path.rpartition(b"/")[0]
        while place not in found:
            found.add(place)
            place = place.rpartition(b"/")[0]
    return sorted(found, key=lambda place: (place.count(b"/") + bool(place), place), reverse=True)


def edit_trees(
    objects: Objects,
    trees: Mapping[bytes, dict[bytes, Entry]],
    changes: Mapping[bytes, Entry | None],
) -> str:
    """Add the changed trees to `objects` and return the new root's id. None as an entry removes the path, and
    a directory that becomes empty disappears. `trees`: the entries of every existing directory above a
    changed path."""
    below: dict[bytes, dict[bytes, Entry | None]] = {}
    for path, entry in changes.items():
        place, _, name = path.rpartition(b"/")
        below.setdefault(place, {})[name] = entry
    made: dict[bytes, dict[bytes, str]] = {}
    root = ""
    for place in directories(changes):
        entries = _edited(trees.get(place, {}), made.get(place, {}), below.get(place, {}))
        root = objects.add(TREE, format_tree(entries)) if entries or not place else ""
        parent, _, name = place.rpartition(b"/")
        made.setdefault(parent, {})[name] = root
    return root


def _edited(
    old: dict[bytes, Entry], subtrees: dict[bytes, str], files: dict[bytes, Entry | None]
) -> dict[bytes, Entry]:
    """Removals come first, so that a file can become a directory, or a directory a file."""
    entries = dict(old)
    for name, entry in files.items():
        if entry is None:
            entries.pop(name, None)
    for name, oid in subtrees.items():
        if oid:
            entries[name] = (TREE_MODE, oid)
        elif entries.get(name, ("", ""))[0] == TREE_MODE:
            del entries[name]
    return entries | {name: entry for name, entry in files.items() if entry is not None}
