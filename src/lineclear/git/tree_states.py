"""A picture of a worktree: which files differ from HEAD, with their content kept as loose blobs.

Costs one `git status` and, for files not seen before, `git hash-object`. Does not lock the agent's index. The
blobs have no ref; git keeps those for two weeks, far longer than a tool call takes.
"""

from __future__ import annotations

import os
import stat
from _thread import get_ident

from lineclear.git.run import MOST_INPUT_BYTES, quick_git
from lineclear.git.status import DELETED, UNTRACKED, parse_status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


STATUS = (
    "--no-optional-locks", "status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z",
    "--untracked-files=all", "--no-renames", "--ignore-submodules=all",
)  # fmt: skip
_MOST_SAVED, _LARGEST_BYTES = 500, 2 << 20
_FORMAT = "lineclear picture 1"


class Seen:
    """One path that differs from HEAD: its `kind` (see git/status.py), and its blob if it was kept."""

    __slots__ = ("kind", "oid", "signature")

    def __init__(self, kind: str, oid: str = "", signature: str = "") -> None:
        self.kind, self.oid, self.signature = kind, oid, signature


class Picture:
    """`paths` are relative to the worktree's root, as bytes on disk."""

    __slots__ = ("head", "paths")

    def __init__(self, head: str, paths: dict[bytes, Seen]) -> None:
        self.head, self.paths = head, paths


def take_picture(root: str, before: Picture | None, is_secret: Callable[[str], bool]) -> Picture:
    status = quick_git(STATUS, root)
    head, changes = parse_status(status)
    paths = {change.path: Seen(change.kind) for change in changes}
    for path, oid in _keep_content(root, _note_content(root, paths, before, is_secret)).items():
        paths[path].oid = oid
    return Picture(head, paths)


def _note_content(
    root: str, paths: dict[bytes, Seen], before: Picture | None, is_secret: Callable[[str], bool]
) -> list[bytes]:
    """Fill in signatures, and blobs that `before` already has. Return the paths whose content to keep now."""
    fresh: list[bytes] = []
    for path, seen in paths.items():
        seen.signature = _signature(root, path)
        old = before.paths.get(path) if before is not None else None
        if old is not None and old.oid and old.signature == seen.signature:
            seen.oid = old.oid
            continue
        is_saved = bool(seen.signature) and b"\n" not in path and len(fresh) < _MOST_SAVED
        if is_saved and not is_secret(os.fsdecode(path)):
            fresh.append(path)
    return fresh


def _keep_content(root: str, paths: list[bytes]) -> dict[bytes, str]:
    """Write the files as blobs and return path -> blob."""
    kept: dict[bytes, str] = {}
    for batch in _batches(paths):
        words = ("hash-object", "-w", "--no-filters", "--stdin-paths")
        found = quick_git(words, root, b"\n".join(batch) + b"\n", check=False).split()
        kept.update((path, oid.decode()) for path, oid in zip(batch, found, strict=False))
    return kept


def _batches(paths: list[bytes]) -> list[list[bytes]]:
    """Split the paths so that each batch fits into the input of one `quick_git`."""
    batches: list[list[bytes]] = []
    room = 0
    for path in paths:
        if len(path) < MOST_INPUT_BYTES:
            if len(path) + 1 > room:
                batches.append([])
                room = MOST_INPUT_BYTES
            batches[-1].append(path)
            room -= len(path) + 1
    return batches


def _signature(root: str, path: bytes) -> str:
    """Identifies a file's state by its stat data; "" if it is not a plain file, or is too large to keep."""
    try:
        found = os.lstat(os.fsencode(root) + b"/" + path)
    except OSError:
        return ""
    if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST_BYTES:
        return ""
    return f"{found.st_ino}.{found.st_size}.{found.st_mtime_ns}.{found.st_ctime_ns}"


def changed_since(root: str, before: Picture, after: Picture, start_ns: int) -> list[bytes]:
    """Return the paths that were written, created or removed since `start_ns`, judged by inode times."""
    candidates = dict.fromkeys([*before.paths, *after.paths])
    if before.head != after.head and before.head and after.head:
        words = ("diff", "--name-only", "-z", "--no-renames", before.head, after.head)
        moved = quick_git(words, root, check=False)
        candidates |= dict.fromkeys(path for path in moved.split(b"\0") if path)
    return [path for path in candidates if _is_changed(root, path, before, after, start_ns)]


def _is_changed(root: str, path: bytes, before: Picture, after: Picture, start_ns: int) -> bool:
    was, now = before.paths.get(path), after.paths.get(path)
    try:
        found = os.lstat(os.fsencode(root) + b"/" + path)
    except OSError:
        return was is None or was.kind != DELETED
    if was is not None and was.kind == DELETED and (now is None or now.kind != DELETED):
        return True
    return found.st_ctime_ns >= start_ns


def undo_command(root: str, path: bytes, before: Picture, after: Picture) -> str:
    """The shell command that restores the earlier content of a path; "" if that was not kept."""
    from lineclear.core.words.refusals import quote

    was, now = before.paths.get(path), after.paths.get(path)
    name = os.fsdecode(path)
    if not name.isprintable() or any("\ud800" <= ch <= "\udfff" for ch in name):
        return ""
    place = quote(f"{root}/{name}")
    if was is not None and was.oid:
        return f"git -C {quote(root)} cat-file blob {was.oid} > {place}"
    if was is not None:
        return f"rm -f {place}" if was.kind == DELETED else ""
    if now is not None and now.kind == UNTRACKED:
        return f"rm -f {place}"
    if not before.head:
        return ""
    return f"git -C {quote(root)} restore --source={before.head[:16]} --staged --worktree -- {quote(name)}"


# -- the file between two calls ---------------------------------------------------------------


def write_picture(path: str, picture: Picture) -> str:
    """Write the picture to a temporary file, to be renamed to `path`, and return its name; "" if `path`
    already has the same content."""
    rows = [f"{_FORMAT} {picture.head}".encode()]
    for name, seen in picture.paths.items():
        rows.append(
            b"%s %s %s %s"
            % (seen.kind.encode(), seen.oid.encode() or b"-", seen.signature.encode() or b"-", name)
        )
    data = b"\0".join(rows)
    if data == _read(path):
        return ""
    temporary = f"{path}.{os.getpid()}.{get_ident()}"
    with open(temporary, "wb") as file:
        file.write(data)
    return temporary


def read_picture(path: str) -> Picture | None:
    rows = _read(path).split(b"\0")
    words, _, head = rows[0].decode("utf-8", "replace").rpartition(" ")
    if words != _FORMAT:
        return None
    paths = {}
    for row in rows[1:]:
        parts = row.split(b" ", 3)
        if len(parts) == 4:
            kind, oid, signature = (part.decode() for part in parts[:3])
            paths[parts[3]] = Seen(kind, oid.replace("-", ""), signature if signature != "-" else "")
    return Picture(head, paths)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""
