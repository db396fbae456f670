"""Worktrees on no branch, for commits that are not on main yet: made, brought to a commit, forgotten.

Runs no hook: a check's tree must not depend on what a person has set up for their own, and hooks that lie
in the repository would be the candidate's.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from lineclear.git.layout import is_check_tree, linked_git_dir
from lineclear.git.run import NO_HOOKS, git
from lineclear.git.worktree_commands import entry_names, entry_path, lock_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_TIMEOUT_S = 3_600.0


def make(cwd: str, path: str, commit: str, keep_fds: Sequence[int] = ()) -> None:
    """Git inherits `keep_fds`: a lock on one of them lasts until git is done, also when we are killed."""
    words = [*NO_HOOKS, "worktree", "add", "--quiet", "--detach", "--", path, commit]
    git(words, cwd, timeout_s=_TIMEOUT_S, keep_fds=keep_fds)


def whole_git_dir(common_dir: str, path: str) -> str:
    """Git's own directory for the worktree at a path; "" unless each knows the other and it was made to
    the end."""
    git_dir = linked_git_dir(path + "/.git") or ""
    name = os.path.basename(git_dir)
    is_known = git_dir == f"{common_dir}/worktrees/{name}" and _real_path(common_dir, name) == path
    return git_dir if is_known and lock_of(common_dir, name) is None else ""


def bring_to(path: str, git_dir: str, commit: str, keep_fds: Sequence[int] = ()) -> None:
    """Every tracked file as the commit has it, nothing untracked; what git ignores stays.

    Only for who alone works there: locks that a killed git left behind are removed.
    """
    for name in ("index.lock", "HEAD.lock"):
        try:
            os.unlink(f"{git_dir}/{name}")
        except FileNotFoundError:
            pass
    words = [*NO_HOOKS, "checkout", "--quiet", "--detach", "--force", commit, "--"]
    git(words, path, timeout_s=_TIMEOUT_S, keep_fds=keep_fds)
    # Twice: also a repository of its own that a check has made in there.
    git(["clean", "-ffdq"], path, timeout_s=_TIMEOUT_S, keep_fds=keep_fds)


def forget(common_dir: str, path: str) -> None:
    """Remove git's entries for a check tree, whatever state they are in; its directory is gone already."""
    for name in entry_names(common_dir):
        if is_check_tree(path) and _real_path(common_dir, name) == path:
            shutil.rmtree(f"{common_dir}/worktrees/{name}", ignore_errors=True)


def check_trees(common_dir: str) -> list[str]:
    """Where git has check trees, also such as were moved away or deleted."""
    places = (_real_path(common_dir, name) for name in entry_names(common_dir))
    return sorted(path for path in places if is_check_tree(path))


def _real_path(common_dir: str, name: str) -> str:
    path = entry_path(common_dir, name)
    return os.path.realpath(path) if path else ""


def staged(path: str) -> list[tuple[str, str, str]]:
    """(mode, object id, path) of every file in the worktree's index."""
    rows = git(["ls-files", "--stage", "-z"], path, timeout_s=600).decode("utf-8", "surrogateescape")
    found = []
    for row in rows.split("\0")[:-1]:
        info, _, name = row.partition("\t")
        mode, oid, _ = info.split(" ")
        found.append((mode, oid, name))
    return found


def tracked_among(path: str, names: Sequence[str]) -> set[str]:
    """Those of the names that are, or hold, files of the worktree's index."""
    if not names:
        return set()
    specs = [f":(literal){name}" for name in names]
    output = git(["ls-files", "-z", "--", *specs], path, timeout_s=600).decode("utf-8", "surrogateescape")
    files = output.split("\0")[:-1]
    return {name for name in names if any(file == name or file.startswith(name + "/") for file in files)}


def file_at(cwd: str, commit: str, name: str) -> tuple[str, int, str]:
    """(object id, size, mode) of a file of a commit; ("", 0, "") when it has no such file."""
    output = git(["ls-tree", "-l", "-z", "--full-tree", commit, "--", name], cwd)
    info = output.decode("utf-8", "surrogateescape").partition("\t")[0].split()
    if len(info) != 4 or info[1] != "blob":
        return "", 0, ""
    return info[2], int(info[3]), info[0]
