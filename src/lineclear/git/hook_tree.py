"""A worktree as a hook sees it: which worktree a path is in, what files contain, what the branch changed."""

from __future__ import annotations

import os
import stat

from lineclear.core.claims.paths import fold
from lineclear.core.claims.resources import parse_resource
from lineclear.git.layout import find_layout
from lineclear.host.sessions import digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.claims.resources import Resource
    from lineclear.git.layout import Layout
    from lineclear.git.typed_paths import WorktreePaths

_LARGEST_TEXT_BYTES = 1 << 20
_DIFF_LIMIT_S, _WORKTREE_LIMIT_S = 20.0, 60.0


class TreeFiles:
    """The files of a repository's worktrees, seen from `cwd`. `tree`: our worktree's name in the store."""

    __slots__ = ("_cwd", "_fold_case", "_nfc", "_places", "_scope")

    def __init__(self, places: WorktreePaths, cwd: str, tree: str, *, fold_case: bool, nfc: bool) -> None:
        self._places, self._cwd, self._fold_case, self._nfc = places, cwd, fold_case, nfc
        self._scope = tree.rpartition("/")[0]

    def find(self, path: str) -> tuple[str, str, Resource]:
        root, below = self._places.find(path, self._cwd)
        # literal: a star in a file name is not a wildcard.
        resource = parse_resource("file:" + below, literal=True, fold_case=self._fold_case, nfc=self._nfc)
        return root, below, resource

    def tree_at(self, root: str) -> str:
        name = find_layout(root, {}).tree
        return f"{self._scope}/{name}" if self._scope else name

    def digest(self, path: str) -> str:
        return digest_of(path)

    def text(self, path: str) -> str:
        try:
            with open(path, "rb", buffering=0) as file:
                return (file.read(_LARGEST_TEXT_BYTES) or b"").decode("utf-8", "replace")
        except (OSError, ValueError):
            return ""

    def other_names(self, root: str, below: str) -> list[str]:
        real = f"{root}/{below}"
        try:
            found = os.lstat(real)
        except OSError:
            return []
        if found.st_nlink < 2 or not stat.S_ISREG(found.st_mode):
            return []
        from lineclear.git.run import GitFailed, quick_git

        try:
            tracked = quick_git(("ls-files", "-z"), root).split(b"\0")
        except GitFailed:
            return []
        places = (f"{root}/{os.fsdecode(path)}" for path in tracked if path)
        return [place for place in places if place != real and _is_same_file(place, found)]

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)


def _is_same_file(path: str, found: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.lstat(path), found)
    except OSError:
        return False


def changed_paths(layout: Layout, base: str, *, fold_case: bool, nfc: bool) -> set[str] | None:
    """Return the paths that differ both from `base`, where the branch began, and from main (which may contain
    the change by now), plus untracked files. None if git fails."""
    from lineclear.git.landing import commit_of, landing_ref
    from lineclear.git.run import GitFailed, git

    root = layout.worktree
    try:
        found = _differing(root, base or "HEAD")
        main = landing_ref(layout)
        if commit_of(root, main):
            found &= _differing(root, main)
        words = ("ls-files", "-z", "--others", "--exclude-standard")
        found |= set(git(words, root, timeout_s=_DIFF_LIMIT_S).split(b"\0"))
    except GitFailed:
        return None
    return {fold(os.fsdecode(path), case=fold_case, nfc=nfc) for path in found if path}


def _differing(root: str, commit: str) -> set[bytes]:
    from lineclear.git.run import git

    words = ("diff", "--name-only", "-z", "--no-renames", "--ignore-submodules=dirty", commit, "--")
    return set(git(words, root, timeout_s=_DIFF_LIMIT_S).split(b"\0"))


def make_plain(root: str, name: str) -> str:
    """Make a worktree as Claude Code itself would, below the main worktree at `root`, and return its path.

    The fallback when lineclear fails: Claude Code asked us for a worktree and cannot go on without one.
    """
    from lineclear.git.run import NO_HOOKS, GitFailed, git

    plain = "".join(ch if ch.isalnum() or ch in "._-" else "-" for ch in name).strip("-.") or "worktree"
    path = f"{root}/.claude/worktrees/{plain}"
    if not os.path.isdir(path):
        words = (*NO_HOOKS, "worktree", "add", "--quiet")
        try:
            git((*words, "-b", f"worktree-{plain}", path), root, timeout_s=_WORKTREE_LIMIT_S)
        except GitFailed:
            # The branch already exists.
            git((*words, path, f"worktree-{plain}"), root, timeout_s=_WORKTREE_LIMIT_S)
    return path
