"""Git's own worktrees: add, list and remove them; their changes, ignored files and size.

Decides nothing: the caller has settled who may do what. Raises GitFailed if git refuses.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

from lineclear.core.claims.paths import glob
from lineclear.git.layout import linked_git_dir, names_in, read_text
from lineclear.git.run import NO_HOOKS, git

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# Enough to check out a very large repository on a slow disk.
_CHECKOUT_TIMEOUT_S = 3_600.0
_BLOCK_BYTES = 4_096
# Matches nothing. Git 2.39 dies ("directory entry not superset of prefix") if all patterns begin inside one
# ignored directory.
_NO_COMMON_PREFIX = ":(glob)-"
_STATUS = [
    "--no-optional-locks", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal",
    "--ignore-submodules=dirty",
]  # fmt: skip


class Entry:
    """A worktree in the output of `git worktree list`; a text is empty if git does not state it."""

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
    """All worktrees, the main one first, including those whose directory is gone."""
    text = git(["worktree", "list", "--porcelain", "-z"], cwd).decode("utf-8", "surrogateescape")
    return parse_list(text)


def add(
    cwd: str,
    path: str,
    *,
    branch: str,
    commit: str,
    is_new: bool,
    has_hooks: bool = False,
    keep_fds: Sequence[int] = (),
) -> str:
    """Make the worktree, on a new branch at the commit or on an existing branch. Return git's name for it.

    `has_hooks`: run the user's post-checkout hook, which may lie among the files that are checked out. Git
    inherits `keep_fds`: a lock on one of them lasts until git is done, even if we are killed.
    """
    where = ["-b", branch, "--no-track", "--", path, commit] if is_new else ["--", path, branch]
    words = [*(() if has_hooks else NO_HOOKS), "worktree", "add", "--quiet", *where]
    git(words, cwd, timeout_s=_CHECKOUT_TIMEOUT_S, keep_fds=keep_fds)
    return name_of(path)


def name_of(path: str) -> str:
    """Git's name for the worktree at a path: "main" for the main one, "" if there is no worktree."""
    if os.path.isdir(path + "/.git"):
        return "main"
    git_dir = linked_git_dir(path + "/.git")
    return os.path.basename(git_dir) if git_dir else ""


def remove(cwd: str, path: str, *, force: bool) -> None:
    """Remove the directory and git's entry for it; with `force` even if it has changes, is locked or gone."""
    options = ["--force", "--force"] if force else []
    git(["worktree", "remove", *options, "--", path], cwd, timeout_s=_CHECKOUT_TIMEOUT_S)


def count_changes(path: str) -> int:
    """The number of changed, staged and new files in a worktree, without ignored ones.

    A submodule that is checked out counts as changed: to know better, git would have to run in it.
    """
    count = git(_STATUS, path, timeout_s=600).count(b"\0")
    return count + (_count_nested(path) if has_submodules(path) else 0)


def has_changes(path: str) -> bool:
    """Like `count_changes`, without what submodules contain."""
    return bool(git(_STATUS, path, timeout_s=600))


def _count_nested(path: str) -> int:
    rows = git(["ls-files", "--stage", "-z"], path, timeout_s=600).split(b"\0")
    nested = [row.partition(b"\t")[2] for row in rows if row.startswith(b"160000 ")]
    return sum(os.path.lexists(os.path.join(os.fsencode(path), name, b".git")) for name in nested)


def entry_names(common_dir: str) -> list[str]:
    """Git's names for the linked worktrees, including those whose directory is gone."""
    return names_in(common_dir + "/worktrees")


def entry_path(common_dir: str, name: str) -> str:
    """The path of the worktree, by git's entry; "" if there is no such entry."""
    link = read_text(f"{common_dir}/worktrees/{name}/gitdir").strip()
    return os.path.dirname(os.path.join(f"{common_dir}/worktrees/{name}", link)) if link else ""


def lock_of(common_dir: str, name: str) -> str | None:
    """The reason of git's lock on a worktree; None if it is not locked."""
    path = f"{common_dir}/worktrees/{name}/locked"
    return read_text(path).strip() if os.path.lexists(path) else None


def has_submodules(path: str) -> bool:
    return os.path.isfile(path + "/.gitmodules")


def uses_lfs(path: str) -> bool:
    return "filter=lfs" in read_text(path + "/.gitattributes")


# -- ignored files ----------------------------------------------------------------------------


def ignored_matches(root: str, patterns: Sequence[str]) -> list[str]:
    """Relative paths of the files and directories that git ignores and that match a pattern.

    A directory that is ignored as a whole is one entry. A pattern that begins inside it is searched there;
    one that begins with `**` is not. Git runs only if a name may match.
    """
    wanted = [pattern for pattern in patterns if _may_match(root, pattern)]
    if not wanted:
        return []
    words = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z", "--"]
    specs = [f":(glob){pattern}" for pattern in wanted]
    output = git([*words, *specs, _NO_COMMON_PREFIX], root, timeout_s=600)
    entries = output.decode("utf-8", "surrogateescape").split("\0")[:-1]
    found = {path for entry in entries for pattern in wanted for path in _matches(root, entry, pattern)}
    if any(_is_plain_directory(f"{root}/{path}") for path in found):
        # Git also lists a directory that is not ignored itself if all its files are: it may get others later.
        found = set(ignored_of(root, found))
    outermost: list[str] = []
    for path in sorted(found, key=lambda text: text.split("/")):
        if not outermost or not path.startswith(outermost[-1] + "/"):
            outermost.append(path)
    return outermost


def _may_match(root: str, pattern: str) -> bool:
    """A cheap test: does a name match the pattern's first segment with a wildcard, or its last segment?"""
    shape = glob(pattern)
    at = 0
    while at < len(shape.segments) - 1 and not any(char in shape.segments[at] for char in "*?"):
        at += 1
    directory = "/".join([root, *shape.segments[:at]])
    if shape.segments[at : at + 1] == ("**",):
        return os.path.isdir(directory)
    name = glob(shape.segments[at]) if at < len(shape.segments) else None
    return name is not None and any(name.matches(entry) for entry in names_in(directory))


def _matches(root: str, entry: str, pattern: str) -> Iterator[str]:
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


def ignored_of(root: str, paths: Iterable[str]) -> list[str]:
    """Those of the paths that git ignores in this worktree; tracked files are not ignored."""
    listing = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    output = git(["check-ignore", "-z", "--stdin"], root, input=listing, check=False)
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1]


# -- size -------------------------------------------------------------------------------------


def checked_out_bytes(git_dir: str, id_bytes: int = 20) -> int:
    """The approximate size of a checkout on disk, from the sizes in a worktree's index; 0 without one."""
    try:
        with open(git_dir + "/index", "rb") as file:
            data = file.read()
    except OSError:
        return 0
    if len(data) < 12 or data[:4] != b"DIRC":
        return 0
    version, count = struct.unpack_from(">II", data, 4)
    try:
        sizes = _index_sizes(data, version, count, id_bytes)
        return sum(-(-size // _BLOCK_BYTES) * _BLOCK_BYTES for size in sizes)  # in whole blocks
    except (IndexError, struct.error, ValueError):
        return 0  # a format we do not know: no estimate


def _index_sizes(data: bytes, version: int, count: int, id_bytes: int) -> Iterator[int]:
    """The size of each entry: the last field of 40 bytes of stat data, before id, flags and name."""
    if version not in (2, 3, 4):
        raise ValueError("unknown index version")
    read_size, read_flags, at = struct.Struct(">I").unpack_from, struct.Struct(">H").unpack_from, 12
    for _ in range(count):
        yield read_size(data, at + 36)[0]
        flags_at = at + 40 + id_bytes
        (flags,) = read_flags(data, flags_at)
        name_at = flags_at + (4 if flags & 0x4000 else 2)
        if version == 4:  # names share a prefix with the previous entry, and there is no padding
            while data[name_at] & 0x80:
                name_at += 1
            at = data.index(0, name_at + 1) + 1
        else:
            length = flags & 0xFFF
            end = name_at + length if length < 0xFFF else data.index(0, name_at)
            at += (end - at + 8) // 8 * 8
