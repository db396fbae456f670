"""Implements the snapshot and commit ports of app/worktrees/ports.py for one clone."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lineclear.core.words.computed.queue import git_failed
from lineclear.core.words.refusals import refuse
from lineclear.git import branches
from lineclear.git.layout import MAIN_TREE, Layout, worktrees
from lineclear.git.run import GitFailed, show_on_terminal
from lineclear.git.snapshots import refs
from lineclear.git.snapshots.marks import take_mark
from lineclear.git.snapshots.taking import Snapshots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lineclear.core.worktrees.snapshots import Kept, LeftOut, Snapshot, SnapshotLimits


class SnapshotRefs:
    """The `SalvageGit` of one clone: reads snapshots and makes branches of them."""

    def __init__(self, common_dir: str) -> None:
        self._common_dir = common_dir

    def listed(self, agent: str = "", /) -> list[Kept]:
        return refs.list_snapshots(self._common_dir, agent)

    def is_branch_name(self, branch: str, /) -> bool:
        return refs.is_branch_name(self._common_dir, branch)

    def create_branch(self, branch: str, commit: str, /) -> bool:
        return refs.create_branch(self._common_dir, branch, commit)


class CloneSnapshots(SnapshotRefs):
    """The `SnapshotGit` of one clone. `mark_of(tree)` is the mark file of a worktree (see marks.py);
    `main_commit()` returns main's commit."""

    def __init__(
        self,
        common_dir: str,
        directory: str,
        *,
        scope: str,
        mark_of: Callable[[str], str],
        main_commit: Callable[[], str],
    ) -> None:
        super().__init__(common_dir)
        self._directory, self._scope = directory, scope
        self._mark_of, self._main_commit = mark_of, main_commit

    def take(
        self,
        tree: str,
        path: str,
        /,
        *,
        agent: str,
        task: int,
        why: str,
        at_s: int,
        limits: SnapshotLimits,
        if_new: bool = False,
    ) -> Snapshot | None:
        if not if_new:
            take_mark(self._mark_of(tree), 0)
        return self._snapshots(tree, path).take(
            agent=agent, task=task, why=why, at_s=at_s, limits=limits, if_new=if_new
        )

    def content(self, tree: str, path: str, /) -> tuple[str, str, list[LeftOut]]:
        return self._snapshots(tree, path).tree_now()

    def _snapshots(self, tree: str, path: str) -> Snapshots:
        """Works even if the worktree's `.git` file is gone."""
        name = tree.removeprefix(self._scope)
        place = path or dict(worktrees(self._common_dir)).get(name, "")
        if not place:
            raise refuse("snapshot.no_worktree", path=name)
        git_dir = self._common_dir if name == MAIN_TREE else f"{self._common_dir}/worktrees/{name}"
        return Snapshots(Layout(os.path.realpath(place), git_dir, self._common_dir), self._directory)

    def is_on_main(self, commit: str, tree: str, /) -> bool:
        with as_refusals():
            main = self._main_commit()
            is_merged = bool(main) and branches.is_merged(self._common_dir, commit, main)
            return is_merged and refs.tree_of(self._common_dir, commit) == tree

    def listed(self, agent: str = "", /) -> list[Kept]:
        with as_refusals():
            return super().listed(agent)

    def renew(self, kept: Kept, why: str, at_s: int, /) -> str:
        with as_refusals():
            return refs.renew(self._common_dir, kept, why, at_s)

    def delete(self, snapshots: Sequence[Kept], /) -> list[Kept]:
        return refs.delete_snapshots(self._common_dir, snapshots)


@contextmanager
def as_refusals() -> Iterator[None]:
    """Within it, git's failures become refusals."""
    try:
        yield
    except GitFailed as error:
        raise git_failed(error.command[0], error.stderr) from error


class CloneCommits:
    """The `CommitReader` of one clone."""

    def __init__(self, common_dir: str, main_commit: Callable[[], str] = str) -> None:
        self._common_dir, self.main_commit = common_dir, main_commit

    def commit_of(self, branch: str, /) -> str:
        return branches.commit_of(self._common_dir, self._common_dir, branch)

    def merge_base(self, left: str, right: str, /) -> str:
        return refs.merge_base(self._common_dir, left, right)

    def empty_tree(self) -> str:
        return refs.empty_tree(self._common_dir)

    def diff(self, old: str, new: str, options: Sequence[str], /) -> str:
        return refs.diff(self._common_dir, old, new, options)

    def count_lines(self, old: str, new: str, /) -> list[dict[str, Any]]:
        return refs.count_lines(self._common_dir, old, new)

    def show_diff(self, old: str, new: str, options: Sequence[str], /) -> int:
        return show_on_terminal(["diff", *options, old, new, "--"], self._common_dir)
