"""Parses the output of `git status --porcelain=v2 --branch -z`. No I/O."""

from __future__ import annotations

DELETED, FROM_INDEX, FROM_DISK, UNTRACKED, SUBMODULE = "deleted", "index", "disk", "untracked", "submodule"
GITLINK = "160000"


class Change:
    """A path whose content differs from HEAD's. `kind` says where its content is found.

    `mode` is git's mode, "" if only the file itself can tell; `oid` is set for FROM_INDEX and SUBMODULE.
    """

    __slots__ = ("kind", "mode", "oid", "path")

    def __init__(self, kind: str, path: bytes, mode: str = "", oid: str = "") -> None:
        self.kind, self.path, self.mode, self.oid = kind, path, mode, oid

    def __repr__(self) -> str:
        return f"Change({self.kind}, {self.path!r}, {self.mode}, {self.oid})"


def parse_status(output: bytes) -> tuple[str, list[Change]]:
    """Return HEAD's commit ("" before the first one) and the changes.

    A path may occur twice, deleted from the index and then untracked on disk: the later entry counts.
    """
    head, changes = "", []
    for row in output.split(b"\0"):
        sort = row[:2]
        if sort == b"1 ":
            changes.append(_ordinary(row))
        elif sort == b"u ":
            changes.append(_unmerged(row))
        elif sort == b"? ":
            changes.append(Change(UNTRACKED, row[2:]))
        elif row.startswith(b"# branch.oid "):
            word = row[13:].decode()
            head = "" if word == "(initial)" else word
    return head, changes


def _ordinary(row: bytes) -> Change:
    """`1 XY sub mH mI mW hH hI path`: X compares the index with HEAD, Y the disk with the index."""
    _, both, sub, _, index_mode, disk_mode, _, index_oid, path = row.split(b" ", 8)
    staged, disk = chr(both[0]), chr(both[1])
    if disk == "D" or (staged == "D" and disk == "."):
        return Change(DELETED, path)
    if disk == ".":
        return Change(FROM_INDEX, path, index_mode.decode(), index_oid.decode())
    if sub[:1] == b"S" and disk_mode == GITLINK.encode():
        return Change(SUBMODULE, path, GITLINK, index_oid.decode())
    if disk == "A":  # `git add --intent-to-add`: announced, not yet added
        return Change(UNTRACKED, path)
    return Change(FROM_DISK, path, disk_mode.decode())


def _unmerged(row: bytes) -> Change:
    """`u XY sub m1 m2 m3 mW h1 h2 h3 path`: during a merge, the file on disk is what the agent sees."""
    fields = row.split(b" ", 10)
    disk_mode, path = fields[6].decode(), fields[10]
    return Change(DELETED, path) if disk_mode == "000000" else Change(FROM_DISK, path, disk_mode)
