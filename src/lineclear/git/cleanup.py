"""What clearing away asks of git in one clone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.worktrees.ports import FoundBranch
from lineclear.core.words.computed.queue import git_failed
from lineclear.git import branches
from lineclear.git.run import GitFailed
from lineclear.git.snapshots.refs import merged_branches
from lineclear.git.worktree_commands import count_changes

if TYPE_CHECKING:
    from collections.abc import Callable


class CloneCleanupGit:
    """The `CleanupGit` of app/worktrees/ports.py. `root`: the main worktree; `main_commit` returns "" before
    the first commit."""

    def __init__(self, common_dir: str, root: str, main_commit: Callable[[], str]) -> None:
        self._common_dir, self._root, self._main_commit = common_dir, root, main_commit

    def is_landed(self, path: str) -> bool:
        try:
            head, main = branches.commit_of(self._common_dir, path, "HEAD"), self._main_commit()
            is_merged = bool(head and main) and branches.is_merged(self._root, head, main)
            return is_merged and count_changes(path) == 0
        except GitFailed:
            return False

    def branches(self, prefix: str) -> list[FoundBranch]:
        try:
            main = self._main_commit()
            if not main:
                return []
            held = branches.checked_out(self._common_dir, self._root)
            found = merged_branches(self._common_dir, prefix, main)
        except GitFailed as error:
            raise git_failed(error.command[0], error.stderr) from error
        return [
            FoundBranch(name=name, commit=commit, is_merged=is_merged, place=held.get(name, ""))
            for name, commit, is_merged in found
        ]

    def delete_branch(self, name: str, commit: str) -> None:
        try:
            branches.delete_branch(self._root, name, commit)
        except GitFailed as error:
            raise git_failed(error.command[0], error.stderr) from error
