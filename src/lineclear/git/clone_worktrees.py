"""Implements the worktree and branch ports of app/worktrees/ports.py for one clone."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from lineclear.app.worktrees.ports import FoundWorktree, WorktreeEntry
from lineclear.core.words.computed.queue import cause_of
from lineclear.core.words.computed.worktrees import worktree_failed
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.core.worktrees import rules
from lineclear.git import branches
from lineclear.git import worktree_commands as git_trees
from lineclear.git.layout import has_commit, head_branch, is_check_tree, landing_branch, worktrees
from lineclear.git.run import GitFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.core.log.tables import Worktree
    from lineclear.git.layout import Layout


class CloneBranches:
    """The `BranchReader` of one clone. `root` is its main worktree."""

    def __init__(self, layout: Layout, root: str) -> None:
        self._common_dir, self._root, self._landing = layout.common_dir, root, layout.landing

    def near(self, branch: str, /) -> list[str]:
        return branches.branches_near(self._common_dir, self._root, branch)

    def checked_out(self) -> dict[str, str]:
        return branches.checked_out(self._common_dir, self._root)

    def commit_of(self, name: str, /) -> str:
        return branches.commit_of(self._common_dir, self._root, name)

    def has_commit(self) -> bool:
        return has_commit(self._common_dir, self._common_dir)

    def main_branch(self) -> str:
        return self._landing or landing_branch(self._common_dir) or "HEAD"

    def main_commit(self) -> str:
        """Main's commit; "" before the first one."""
        return self.commit_of(self.main_branch())


class CloneWorktrees:
    """The `WorktreeGit` and the `WorktreeReader` of one clone. Raises a Refusal if git refuses."""

    def __init__(self, layout: Layout, root: str, *, scope: str, directory: str, branch_prefix: str) -> None:
        """`directory`: where worktrees are made, "" for beside the main one; `branch_prefix`: the prefix of
        the branches that we create."""
        self.root, self.common_dir, self._scope = root, layout.common_dir, scope
        self._branch_prefix = branch_prefix
        beside = f"../{os.path.basename(root) or 'repo'}.worktrees"
        # A relative directory counts from the main worktree.
        self.directory = os.path.join(root, os.path.expanduser(directory) or beside)
        self._branches = CloneBranches(layout, root)

    def default_place(self, name: str) -> str:
        return os.path.realpath(os.path.join(self.directory, name))

    # -- making and removing ------------------------------------------------------------------

    def add(self, row: Worktree, is_new_branch: bool, keep_fds: Sequence[int], /) -> str:
        try:
            return git_trees.add(
                self.root,
                row.path,
                branch=row.branch,
                commit=row.base,
                is_new=is_new_branch,
                has_hooks=is_new_branch and self._is_on_main(row.base),
                keep_fds=keep_fds,
            )
        except BaseException as error:
            self._clean_up(row, is_new_branch)
            if isinstance(error, GitFailed):
                raise self._refusal(row.name, error) from error
            raise

    def _is_on_main(self, commit: str) -> bool:
        main = self._branches.main_commit()
        return commit == main or branches.is_merged(self.root, commit, main)

    def _clean_up(self, row: Worktree, is_new_branch: bool) -> None:
        """When git fails, it removes the directory but not the branch; when it is killed, neither."""
        try:
            if git_trees.name_of(row.path):
                git_trees.remove(self.root, row.path, force=True)
            if is_new_branch and self._branches.commit_of(row.branch) == row.base:
                branches.delete_branch(self.root, row.branch, row.base)
        except GitFailed:
            pass  # the list shows the rest as missing or not adopted; the caller reports the first failure

    def condition(self, name: str, path: str, /) -> rules.Condition:
        if not os.path.isdir(path) or not git_trees.name_of(path):
            return rules.Condition()
        try:
            entries = git_trees.list_worktrees(self.root)
            entry = next((entry for entry in entries if os.path.realpath(entry.path) == path), None)
            if entry is None:
                return rules.Condition()
            loose = branches.count_loose_commits(path) if not entry.branch else 0
            lock = (entry.lock or "no reason was given") if entry.is_locked else ""
            return rules.Condition(changed=git_trees.count_changes(path), loose_commits=loose, lock=lock)
        except GitFailed as error:
            raise self._refusal(name, error) from error

    def remove(self, row: Worktree, force: bool, /) -> str:
        name = row.name.removeprefix(self._scope)
        try:
            if os.path.realpath(git_trees.entry_path(self.common_dir, name) or "/") == row.path:
                must = force or not os.path.isdir(row.path) or git_trees.has_submodules(row.path)
                git_trees.remove(self.root, row.path, force=must)
            return self._drop_branch(row)
        except GitFailed as error:
            raise self._refusal(row.name, error) from error

    def _drop_branch(self, row: Worktree) -> str:
        """Delete our branch if it is merged into main and checked out nowhere. Return a branch that stays."""
        tip = self._branches.commit_of(row.branch) if row.branch else ""
        if not tip:
            return ""
        name = row.name.removeprefix(self._scope)
        is_ours = row.origin == rules.OURS and rules.is_own_branch(
            row.branch, self._branch_prefix, name, row.task
        )
        if not is_ours or row.branch in self._branches.checked_out():
            return row.branch
        main = self._branches.main_commit()
        if not main or not branches.is_merged(self.root, tip, main):
            return row.branch
        branches.delete_branch(self.root, row.branch, tip)
        return ""

    def drop_entry(self, name: str, path: str, /) -> None:
        if path == self.default_place(name):
            git_trees.remove(self.root, path, force=True)

    def _refusal(self, tree: str, error: GitFailed) -> Refusal:
        if "git-lfs" in error.stderr:
            return refuse("worktree.lfs", path=self.root)
        return worktree_failed(tree.removeprefix(self._scope), cause_of(error.stderr))

    # -- reading ------------------------------------------------------------------------------

    def entries(self) -> dict[str, WorktreeEntry]:
        return {name: self._entry(name) for name in git_trees.entry_names(self.common_dir)}

    def _entry(self, name: str) -> WorktreeEntry:
        stated = git_trees.entry_path(self.common_dir, name)
        path = os.path.realpath(stated) if stated else ""
        return WorktreeEntry(
            path=path,
            lock=git_trees.lock_of(self.common_dir, name),
            is_there=bool(path) and os.path.lexists(path),
            is_check_tree=is_check_tree(path),
        )

    def states(self) -> dict[str, dict[str, Any]]:
        listed = [entry for entry in git_trees.list_worktrees(self.root)[1:] if not is_check_tree(entry.path)]
        main = self._branches.main_commit()
        names = {entry.path: name for name, entry in self.entries().items()}
        with ThreadPoolExecutor(min(8, len(listed) or 1)) as pool:
            states = list(pool.map(lambda entry: _state(entry, main), listed))
        known = [names.get(os.path.realpath(entry.path)) for entry in listed]
        return {name: state for name, state in zip(known, states, strict=True) if name}

    def around(self, path: str, /) -> FoundWorktree | None:
        """The innermost worktree counts: clients make theirs inside the main one."""
        path = os.path.realpath(path)
        listed = git_trees.list_worktrees(self.root)
        around = [entry for entry in listed if rules.is_inside(path, os.path.realpath(entry.path))]
        if not around or not os.path.isdir(path):
            return None
        found = max(around, key=lambda entry: len(entry.path))
        place = os.path.realpath(found.path)
        return FoundWorktree(
            name=git_trees.name_of(found.path),
            path=place,
            branch=found.branch,
            head=found.head,
            is_main=found is listed[0],
            is_check_tree=is_check_tree(place),
        )

    def current(self, row: Worktree, /) -> Worktree:
        name = row.name.removeprefix(self._scope)
        path = git_trees.entry_path(self.common_dir, name)
        place = os.path.realpath(path) if path else row.path
        if place == row.path or (head_branch(f"{self.common_dir}/worktrees/{name}") or "") != row.branch:
            return row
        return row.changed(path=place)

    def new_place(self, name: str, path: str, /) -> str:
        place = os.path.realpath(os.path.join(self.root, path)) if path else self.default_place(name)
        if not place.isprintable():
            raise refuse(
                "input.bad", name="path", given=place, why="it contains a character that cannot be shown"
            )
        rules.check_place(place, self.common_dir, dict(worktrees(self.common_dir)))
        if os.path.lexists(place) and (not os.path.isdir(place) or os.listdir(place)):
            raise refuse("worktree.place_taken", path=place)
        return place

    def count_changes(self, path: str, /) -> int:
        return git_trees.count_changes(path)


def _state(entry: git_trees.Entry, main: str) -> dict[str, Any]:
    found: dict[str, Any] = {"path": entry.path, "branch": entry.branch, "state": "ready"}
    if entry.is_missing or not os.path.isdir(entry.path):
        return found | {"state": "missing"}
    if entry.is_locked:
        found["state"] = "half made" if entry.lock == rules.HALF_MADE else "locked"
    try:
        counts = branches.count_between(entry.path, main, "HEAD")
        found["changed"] = git_trees.count_changes(entry.path)
    except GitFailed:
        return found | {"state": "broken"}
    if counts is not None:
        found["behind"], found["ahead"] = counts
    return found
