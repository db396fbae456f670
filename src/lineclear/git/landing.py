"""What a landing needs of git: who is where, what both sides hold, the commit, the move. Decides nothing."""

from __future__ import annotations

import os

from lineclear.git import layout as layouts
from lineclear.git.checkouts import Mover
from lineclear.git.commits import Commits, Signer
from lineclear.git.object_store import ObjectStore
from lineclear.git.objects import nobody
from lineclear.git.run import git
from lineclear.git.tree_diff import diff_trees
from lineclear.git.trees import GitTrees
from lineclear.process.locks import LockFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.core.landing import Author
    from lineclear.git.checkouts import Moved
    from lineclear.git.layout import Layout

_MOST_AUTHORS, _MOST_MOVES = 200, 500
_TAIL_BYTES = 8_192


def landing_ref(layout: Layout) -> str:
    """The branch that work lands on, as a full ref: stated, else detected, else the main worktree's."""
    branch = layout.landing or layouts.landing_branch(layout.common_dir)
    if branch is None:
        head = git(["symbolic-ref", "--quiet", "HEAD"], layout.common_dir, check=False).decode().strip()
        return head if head.startswith("refs/heads/") else "refs/heads/main"
    return f"refs/heads/{branch}"


class LandingLock(LockFile):
    """One landing at a time in this clone. Freed with the process, or with the last git that inherited it."""

    def __init__(self, state_dir: str, name: str = "landing.lock") -> None:
        super().__init__(f"{state_dir}/{name}")


class CommitTrees(GitTrees):
    """Trees named by real commits: where histories have crossed git makes one base of several."""

    def __init__(self, store: ObjectStore, commits: Commits) -> None:
        super().__init__(store.cwd, store)
        self._commits = commits

    def merge(self, base: str, left: str, right: str) -> tuple[str, dict[str, dict[int, tuple[str, str]]]]:
        del base  # git finds it
        return self.merge_commits(left, right)

    def changed(self, base: str, side: str) -> dict[str, tuple[str, str, str]]:
        return super().changed(self._commits.tree_of(base), self._commits.tree_of(side))


class GitHistory:
    """The `History` of app/stacking.py."""

    def __init__(self, trees: CommitTrees, commits: Commits, common_dir: str) -> None:
        self._trees, self._commits, self._common_dir = trees, commits, common_dir

    def bases(self, below: str, tip: str) -> list[str]:
        return self._commits.part(below, tip)[0]

    def base_of(self, bases: Sequence[str]) -> str:
        """Of several commits git's own merge of them, as it makes it itself."""
        base, who = bases[0], nobody(0)
        for other in bases[1:]:
            tree, _ = self._trees.merge_commits(base, other)
            base = self._commits.write(tree, [base, other], "base\n", author=who, committer=who)
        return base

    def tree_of(self, commit: str) -> str:
        return self._commits.tree_of(commit)

    def authors(self, below: str, tip: str) -> list[Author]:
        heads = [self._commits.head(commit) for commit in self._commits.part(below, tip)[1]]
        return [head.author for head in heads if head is not None and len(head.parents) < 2][:_MOST_AUTHORS]

    def changed(self, old: str, new: str) -> tuple[list[str], list[str]]:
        sides = self._commits.tree_of(old), self._commits.tree_of(new)
        entries = diff_trees(self._trees.read, *sides)
        return sorted(entries), sorted(path for path, (before, _) in entries.items() if before is None)

    def folded_paths(self, tree: str) -> list[str]:
        return self._trees.paths(tree, ()) if layouts.ignores_case(self._common_dir) else []


class GitFooting:
    """The `Footing` of app/stacking.py: what is merged onto `branch` in the clone of this layout."""

    def __init__(self, layout: Layout, branch: str) -> None:
        self.branch = branch
        self._store = ObjectStore(layout.worktree, layout.common_dir + "/objects")
        self._commits, self._signer = Commits(self._store, layout.common_dir), Signer(layout.worktree)
        self.trees = CommitTrees(self._store, self._commits)
        self.history = GitHistory(self.trees, self._commits, layout.common_dir)

    def commit(self, tree: str, parents: Sequence[str], message: str, author: Author | None) -> str:
        signer = self._signer
        return self._commits.write(
            tree, parents, message, author=signer.author(author), committer=signer.committer()
        )

    def close(self) -> None:
        """End the git that answers and the one that waits. Twice is once."""
        self.trees.close()


class GitGround(GitFooting):
    """A footing whose main can be moved, with its files where it is checked out; `lock` is held."""

    def __init__(self, layout: Layout, state_dir: str, lock: LandingLock) -> None:
        self._cwd = layout.worktree
        self.ref = landing_ref(layout)
        super().__init__(layout, self.ref.removeprefix("refs/heads/"))
        self._mover = Mover(self._cwd, layout.common_dir, state_dir + "/landing.json", self.ref, lock.fd)

    def main(self) -> str:
        return commit_of(self._cwd, self.ref)

    def tips(self, *branches: str) -> list[str]:
        refs = [f"refs/heads/{branch}" for branch in branches]
        rows = git(["for-each-ref", "--format=%(refname) %(objectname)", "--", *refs], self._cwd).decode()
        found = dict(row.split(" ") for row in rows.split("\n")[:-1])
        return [found.get(ref, "") for ref in refs]

    def move(self, old: str, new: str, why: str) -> Moved:
        return self._mover.move(old, new, why)

    def repair(self) -> str:
        return self._mover.repair()


def commit_of(cwd: str, name: str) -> str:
    """The commit that a ref or id names; "" when there is none."""
    words = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
    return git(words, cwd, check=False).decode().strip()


def reflog(cwd: str, ref: str) -> list[tuple[str, str, str]]:
    """(old, new, message) of a ref's own log, newest first; HEAD is that of the worktree at `cwd`."""
    words = ["log", "--walk-reflogs", "--format=%H%x00%gs", f"-{_MOST_MOVES}", "--end-of-options", ref, "--"]
    rows = git(words, cwd, check=False).decode("utf-8", "surrogateescape").split("\n")
    entries = [row.partition("\0")[::2] for row in rows if row]
    before = [*(new for new, _ in entries[1:]), ""]
    return [(old, new, message) for old, (new, message) in zip(before, entries, strict=False)]


def newest_message(common_dir: str, ref: str) -> str | None:
    """The last line of a ref's log, read without git; None where only git can read it."""
    try:
        with open(f"{common_dir}/logs/{ref}", "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _TAIL_BYTES))
            lines = file.read().rstrip(b"\n").split(b"\n")
    except OSError:
        return None
    return lines[-1].partition(b"\t")[2].decode("utf-8", "replace")
