"""Git's own worktrees: add, list, remove, lock; what is in them, what git ignores, how large they are.

Decides nothing: who may do what, and where, is settled before. What git refuses rises as GitFailed.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

from lineclear.core.claims.paths import glob
from lineclear.git.layout import linked_git_dir, names_in, read_text
from lineclear.git.run import GitFailed, git

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# A checkout of a very large repository on a slow disk; a hang is ended all the same.
_CHECKOUT_TIMEOUT_S = 3_600.0
_BLOCK_BYTES = 4_096
# Matches nothing. Git 2.39 dies ("directory entry not superset of prefix") when all patterns begin inside
# one ignored directory.
_NO_COMMON_PREFIX = ":(glob)-"
_STATUS = ["--no-optional-locks", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal"]


class Entry:
    """A worktree as `git worktree list` tells it; texts are empty where git has nothing to say."""

    def __init__(self, path: str) -> None:
        self.path, self.head, self.branch = path, "", ""
        self.is_locked, self.lock, self.is_missing = False, "", False


def parse_list(text: str) -> list[Entry]:
    """The records of `git worktree list --porcelain -z`: lines end in NUL, records in an empty line."""
    entries: list[Entry] = []
    for line in text.split("\0"):
        key, _, value = line.partition(" ")
        if key == "worktree":
            entries.append(Entry(value))
        elif key == "HEAD":
            entries[-1].head = value.strip("0") and value
        elif key == "branch":
            entries[-1].branch = value.removeprefix("refs/heads/")
        elif key == "locked":
            entries[-1].is_locked, entries[-1].lock = True, value
        elif key == "prunable":
            entries[-1].is_missing = True
    return entries


def list_worktrees(cwd: str) -> list[Entry]:
    """All of them, the main one first; also those whose directory is gone."""
    text = git(["worktree", "list", "--porcelain", "-z"], cwd).decode("utf-8", "surrogateescape")
    return parse_list(text)


def add(cwd: str, path: str, *, branch: str, commit: str, is_new: bool, keep_fds: Sequence[int] = ()) -> str:
    """Make the worktree, with a new branch at the commit or with an existing one; gives git's name for it.

    Git inherits `keep_fds`: a lock on one of them lasts until git is done, also when we are killed.
    """
    where = ["-b", branch, "--no-track", "--", path, commit] if is_new else ["--", path, branch]
    git(["worktree", "add", "--quiet", *where], cwd, timeout_s=_CHECKOUT_TIMEOUT_S, keep_fds=keep_fds)
    return name_of(path)


def name_of(path: str) -> str:
    """What git calls the worktree at a path; "" when there is none, "main" for the main one."""
    if os.path.isdir(path + "/.git"):
        return "main"
    git_dir = linked_git_dir(path + "/.git")
    return os.path.basename(git_dir) if git_dir else ""


def remove(cwd: str, path: str, *, force: bool) -> None:
    """Remove the directory and git's entry for it. With `force` whatever is inside, locked or gone."""
    options = ["--force", "--force"] if force else []
    git(["worktree", "remove", *options, "--", path], cwd, timeout_s=_CHECKOUT_TIMEOUT_S)


def lock(cwd: str, path: str, reason: str) -> None:
    git(["worktree", "lock", "--reason", reason, "--", path], cwd)


def unlock(cwd: str, path: str) -> None:
    git(["worktree", "unlock", "--", path], cwd)


def count_changes(path: str) -> int:
    """Files that are changed, staged or new in a worktree; what git ignores is not counted."""
    return git(_STATUS, path, timeout_s=600).count(b"\0")


def entry_names(common_dir: str) -> list[str]:
    """The names git has for linked worktrees, also of those whose directory is gone."""
    try:
        return sorted(os.listdir(common_dir + "/worktrees"))
    except OSError:
        return []


def entry_path(common_dir: str, name: str) -> str:
    """Where the worktree of that name is, by git's entry; "" when there is no such entry."""
    link = read_text(f"{common_dir}/worktrees/{name}/gitdir").strip()
    return os.path.dirname(os.path.join(f"{common_dir}/worktrees/{name}", link)) if link else ""


def lock_of(common_dir: str, name: str) -> str | None:
    """The reason of git's lock on a worktree; None when it has none."""
    path = f"{common_dir}/worktrees/{name}/locked"
    return read_text(path).strip() if os.path.lexists(path) else None


def has_submodules(path: str) -> bool:
    return os.path.isfile(path + "/.gitmodules")


def uses_lfs(path: str) -> bool:
    return "filter=lfs" in read_text(path + "/.gitattributes")


# -- ignored files ----------------------------------------------------------------------------


def ignored_matches(root: str, patterns: Sequence[str]) -> list[str]:
    """Files and directories that git ignores in a worktree and that a pattern names, as relative paths.

    Git is asked only when a name fits. A directory that is ignored as a whole is one entry; a pattern
    that begins inside it is looked for there, one that begins with `**` is not.
    """
    wanted = [pattern for pattern in patterns if _may_match(root, pattern)]
    if not wanted:
        return []
    words = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z", "--"]
    specs = [f":(glob){pattern}" for pattern in wanted]
    output = git([*words, *specs, _NO_COMMON_PREFIX], root, timeout_s=600)
    entries = output.decode("utf-8", "surrogateescape").split("\0")[:-1]
    found = {path for entry in entries for pattern in wanted for path in _meant(root, entry, pattern)}
    return _outermost(_really_ignored(root, found))


def _may_match(root: str, pattern: str) -> bool:
    """A cheap look: is there a name where the pattern's first wildcard, or its last literal, stands?"""
    shape = glob(pattern)
    at = 0
    while at < len(shape.segments) - 1 and not any(char in shape.segments[at] for char in "*?"):
        at += 1
    directory = "/".join([root, *shape.segments[:at]])
    if shape.segments[at : at + 1] == ("**",):
        return os.path.isdir(directory)
    name = glob(shape.segments[at]) if at < len(shape.segments) else None
    return name is not None and any(name.matches(entry) for entry in names_in(directory))


def _meant(root: str, entry: str, pattern: str) -> Iterator[str]:
    path = entry.rstrip("/")
    shape = glob(pattern)
    if shape.matches(path):
        yield path
    elif entry.endswith("/") and (shape.anchor + "/").startswith(entry):
        yield from _matches_below(root, path, pattern)


def _matches_below(root: str, directory: str, pattern: str) -> Iterator[str]:
    shape = glob(pattern)
    for name in names_in(f"{root}/{directory}"):
        path = f"{directory}/{name}"
        if shape.matches(path):
            yield path
        elif shape.matches_inside(path) and _is_plain_directory(f"{root}/{path}"):
            yield from _matches_below(root, path, pattern)


def _is_plain_directory(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _outermost(paths: Iterable[str]) -> list[str]:
    """Without those that lie inside another one of them."""
    kept: list[str] = []
    for path in sorted(paths, key=lambda text: text.split("/")):
        if not kept or not path.startswith(kept[-1] + "/"):
            kept.append(path)
    return kept


def _really_ignored(root: str, paths: set[str]) -> Iterable[str]:
    """Git lists a directory also when only all files in it are ignored: that one may get content later."""
    if not any(_is_plain_directory(f"{root}/{path}") for path in paths):
        return paths
    return ignored_of(root, paths)


def ignored_of(root: str, paths: Iterable[str]) -> list[str]:
    """Those of the paths that git ignores in this worktree; what is tracked is not ignored."""
    listing = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    output = git(["check-ignore", "-z", "--stdin"], root, input=listing, check=False)
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1]


# -- size -------------------------------------------------------------------------------------


def checked_out_bytes(git_dir: str, id_bytes: int = 20) -> int:
    """About what a checkout takes on disk, from the sizes in a worktree's index; 0 when it has none."""
    try:
        with open(git_dir + "/index", "rb") as file:
            data = file.read()
    except OSError:
        return 0
    if len(data) < 12 or data[:4] != b"DIRC":
        return 0
    version, count = struct.unpack_from(">II", data, 4)
    try:
        return sum(_blocks(size) for size in _index_sizes(data, version, count, id_bytes))
    except (IndexError, struct.error, ValueError):
        return 0  # a form we do not know: no estimate


def _blocks(size: int) -> int:
    return -(-size // _BLOCK_BYTES) * _BLOCK_BYTES


def _index_sizes(data: bytes, version: int, count: int, id_bytes: int) -> Iterator[int]:
    """The size column of each entry: 40 bytes of stat data end in it, then id, flags and the name."""
    if version not in (2, 3, 4):
        raise ValueError("unknown index version")
    read_size, read_flags, at = struct.Struct(">I").unpack_from, struct.Struct(">H").unpack_from, 12
    for _ in range(count):
        yield read_size(data, at + 36)[0]
        flags_at = at + 40 + id_bytes
        (flags,) = read_flags(data, flags_at)
        name_at = flags_at + (4 if flags & 0x4000 else 2)
        if version == 4:  # the name's beginning is shared with the entry before, and nothing is padded
            while data[name_at] & 0x80:
                name_at += 1
            at = data.index(0, name_at + 1) + 1
        else:
            length = flags & 0xFFF
            end = name_at + length if length < 0xFFF else data.index(0, name_at)
            at += (end - at + 8) // 8 * 8


def failure_words(error: GitFailed) -> str:
    """What git said last, without its prefix."""
    lines = [line for line in error.stderr.strip().splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines[-1:] or ["nothing"]
    return told[0].removeprefix("fatal:").removeprefix("error:").strip()
