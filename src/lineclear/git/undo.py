"""Makes the commits that undo a landing, without a work tree. Reads main, never moves it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from lineclear.git.landing import CloneGit, commit_of, known_main
from lineclear.git.run import git

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from lineclear.core.queue.landing_results import Author
    from lineclear.git.layout import Layout

    # (base, left, right) -> the merge's report
    Merge = Callable[[str, str, str], dict[str, Any]]
    # (conflicts, left, right) -> the conflicts with their sides
    AddSides = Callable[[list[dict[str, Any]], str, str], list[dict[str, Any]]]


class CloneUndoGit:
    """The `UndoGit` of app/queue/undo.py. With a remote, main is the remote's branch as last fetched."""

    def __init__(
        self, layout: Layout, remote: str, *, merge_by: Callable[[Callable[[], str]], Merge], sides: AddSides
    ) -> None:
        self._layout, self._cwd, self._remote = layout, layout.worktree, remote
        self._merge, self._sides = merge_by(self.main), sides

    def main(self) -> str:
        return known_main(self._layout, self._remote)

    def parent_of(self, commit: str) -> str:
        return commit_of(self._cwd, f"{commit}^1")

    def merge(self, base: str, left: str, right: str) -> dict[str, Any]:
        return self._merge(base, left, right)

    def add_sides(self, conflicts: list[dict[str, Any]], left: str, right: str) -> list[dict[str, Any]]:
        return self._sides(conflicts, left, right)

    def commit_on(self, main: str, tree: str, message: str, author: Author | None) -> str:
        with closing(CloneGit(self._layout)) as clone:
            if tree == clone.history.tree_of(main):
                return ""
            return clone.commit(tree, [main], message, author)

    def new_branch(self, name: str, commit: str) -> str:
        """An existing branch of this name stays, since somebody may work there: the new one gets a number."""
        branch, count = name, 1
        while commit_of(self._cwd, f"refs/heads/{branch}"):
            count += 1
            branch = f"{name}-{count}"
        git(["update-ref", f"refs/heads/{branch}", commit, "0" * len(commit)], self._cwd)
        return branch
