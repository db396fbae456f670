"""Makes commits and branches from objects alone, without a work tree. Reads main, never moves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.queue.landing_results import Author
from lineclear.git.commits import Commits, Signer
from lineclear.git.detached_worktrees import file_at
from lineclear.git.landing import landing_ref
from lineclear.git.object_store import ObjectStore
from lineclear.git.run import git
from lineclear.git.trees import GitTrees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.git.layout import Layout

_PLAIN = "100644"


class CloneIntegrationGit:
    """The `FullCheckGit` of app/queue/full_checks.py for one clone. Close it."""

    def __init__(self, layout: Layout) -> None:
        self._cwd, self._common_dir = layout.worktree, layout.common_dir
        self._ref = landing_ref(layout)
        self.branch = self._ref.removeprefix("refs/heads/")
        store = ObjectStore(self._cwd, layout.common_dir + "/objects")
        self.trees = GitTrees(self._cwd, store)
        self._commits, self._signer = Commits(store), Signer(self._cwd)

    def close(self) -> None:
        self.trees.close()

    def main(self) -> str:
        return self.trees.store.commit_of(self._ref)

    def tree_of(self, commit: str) -> str:
        return self._commits.tree_of(commit)

    def mode_of(self, commit: str, path: str) -> str:
        return file_at(self._common_dir, commit, path)[2] or _PLAIN

    def parent_of(self, commit: str) -> str:
        """The first parent; "" for a root commit."""
        return self.trees.store.commit_of(f"{commit}^1")

    def subject_of(self, commit: str) -> str:
        words = ["log", "-1", "--format=%s", "--end-of-options", commit]
        return git(words, self._cwd).decode("utf-8", "replace").strip()

    def commit(self, tree: str, parents: Sequence[str], message: str, agent: str) -> str:
        committer = self._signer.committer()
        email = committer.rpartition("<")[2].partition(">")[0]
        author = self._signer.author(Author(agent, email) if agent else None)
        return self._commits.write(tree, parents, message, author=author, committer=committer)

    def point(self, branch: str, commit: str) -> None:
        words = ["update-ref", "-m", "lineclear: integrate", f"refs/heads/{branch}", commit]
        git(words, self._cwd)
