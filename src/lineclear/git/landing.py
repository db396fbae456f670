"""What a landing needs from git: main and its lock, histories, merges, commits, reflogs. Decides nothing."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lineclear.core.words.refusals import refuse
from lineclear.git import layout as layouts
from lineclear.git.branch_moves import Mover
from lineclear.git.commits import Commits, Signer
from lineclear.git.object_store import ObjectStore
from lineclear.git.objects import nobody
from lineclear.git.run import git
from lineclear.git.trees import GitTrees
from lineclear.host.locks import LockFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lineclear.core.queue.landing_results import Author
    from lineclear.git.branch_moves import BranchMove
    from lineclear.git.layout import Layout
    from lineclear.git.trees import Change

# The journal of a move lies beside the landing lock.
JOURNAL = "landing.json"
# A landing takes moments; one that takes this long is stuck.
LOCK_WAIT_S = 120.0

_MOST_AUTHORS, _MOST_MOVES = 200, 500
_TAIL_BYTES = 8_192


def landing_ref(layout: Layout) -> str:
    """The branch that work lands on, as a full ref: from the settings, else detected, else the main
    worktree's branch."""
    branch = layout.landing or layouts.landing_branch(layout.common_dir)
    if branch is None:
        head = git(["symbolic-ref", "--quiet", "HEAD"], layout.common_dir, check=False).decode().strip()
        return head if head.startswith("refs/heads/") else "refs/heads/main"
    return f"refs/heads/{branch}"


class LandingLock(LockFile):
    """One landing at a time in this clone. Freed when we, and every git that inherited it, have ended."""

    def __init__(self, state_dir: str, name: str = "landing.lock") -> None:
        super().__init__(f"{state_dir}/{name}")


class CommitTrees(GitTrees):
    """Trees named by real commits, so that git itself finds the base of a merge."""

    def __init__(self, store: ObjectStore, commits: Commits) -> None:
        super().__init__(store.cwd, store)
        self._commits = commits

    def merge(self, base: str, left: str, right: str) -> tuple[str, dict[str, dict[int, tuple[str, str]]]]:
        del base  # git finds it
        return self.merge_commits(left, right)

    def differences(self, old: str, new: str) -> dict[str, Change]:
        return super().differences(self._commits.tree_of(old), self._commits.tree_of(new))


class GitHistory:
    """The `History` of app/queue/stacking.py."""

    def __init__(self, trees: CommitTrees, commits: Commits, common_dir: str) -> None:
        self._trees, self._commits, self._common_dir = trees, commits, common_dir

    def bases(self, below: str, tip: str) -> list[str]:
        return self._commits.bases(below, tip)

    def own(self, below: str, tip: str) -> list[str]:
        """The commits of `tip` that `below` does not contain, newest first."""
        return list(self._commits.own(below, tip))

    def base_of(self, bases: Sequence[str]) -> str:
        """One base: several are merged into a temporary commit, as git's own merge does."""
        base, who = bases[0], nobody(0)
        for other in bases[1:]:
            tree, _ = self._trees.merge_commits(base, other)
            base = self._commits.write(tree, [base, other], "base\n", author=who, committer=who)
        return base

    def tree_of(self, commit: str) -> str:
        return self._commits.tree_of(commit)

    def authors(self, below: str, tip: str) -> list[Author]:
        found = [author for author in self._commits.own(below, tip).values() if author is not None]
        return found[:_MOST_AUTHORS]

    def changed(self, old: str, new: str) -> tuple[list[str], list[str]]:
        entries = self._trees.differences(old, new)
        return sorted(entries), sorted(path for path, (before, _) in entries.items() if before is None)

    def folded_paths(self, tree: str) -> list[str]:
        return self._trees.paths(tree, ()) if layouts.ignores_case(self._common_dir) else []


class CloneGit:
    """The `MergeGit` of app/queue/stacking.py for the clone of this layout.

    Up to three git processes (objects and refs, comparing, merging) stay from their first question until this
    is closed.
    """

    def __init__(self, layout: Layout, branch: str = "") -> None:
        """`branch`: the branch to merge onto; by default the one that work lands on."""
        self.layout = layout
        self.ref = f"refs/heads/{branch}" if branch else landing_ref(layout)
        self.branch = self.ref.removeprefix("refs/heads/")
        self.objects = ObjectStore(layout.worktree, layout.common_dir + "/objects")
        self._commits, self._signer = Commits(self.objects), Signer(layout.worktree)
        self.trees = CommitTrees(self.objects, self._commits)
        self.history = GitHistory(self.trees, self._commits, layout.common_dir)

    @property
    def cwd(self) -> str:
        return self.layout.worktree

    def commit_of(self, name: str) -> str:
        """The commit that a ref or id names now, "" if none."""
        return self.objects.commit_of(name)

    def differences(self, old: str, new: str) -> dict[str, Change]:
        """path -> ((mode, object id) or None, on each side) for everything that differs."""
        return self.trees.differences(old, new)

    def commit(self, tree: str, parents: Sequence[str], message: str, author: Author | None) -> str:
        signer = self._signer
        return self._commits.write(
            tree, parents, message, author=signer.author(author), committer=signer.committer()
        )

    def close(self) -> None:
        """Closing it again has no effect."""
        self.trees.close()


class LockedMain:
    """The branch that work lands on. Exists only inside `locked_main`, so it moves only under the landing
    lock; where it is checked out, its files move with it."""

    def __init__(self, git: CloneGit, state_dir: str, lock: LandingLock) -> None:
        self.ref, self.branch, self._git = git.ref, git.branch, git
        journal = f"{state_dir}/{JOURNAL}"
        self._mover = Mover(git, git.layout.common_dir, journal, git.ref, lock.fd)

    def commit(self) -> str:
        return self._git.commit_of(self.ref)

    def move(self, old: str, new: str, why: str) -> BranchMove:
        return self._mover.move(old, new, why)

    def repair(self) -> str:
        return self._mover.repair()


@contextmanager
def locked_main(git: CloneGit, state_dir: str, wait_s: float) -> Iterator[LockedMain]:
    lock = LandingLock(state_dir)
    if not lock.take(wait_s):
        raise refuse("land.busy", waited_s=int(wait_s))
    try:
        yield LockedMain(git, state_dir, lock)
    finally:
        lock.free()


def has_unfinished_move(state_dir: str) -> bool:
    """Is main being moved now, or did a process die while moving it?"""
    return os.path.exists(f"{state_dir}/{JOURNAL}")


def commit_of(cwd: str, name: str) -> str:
    """The commit that a ref or id names, "" if none."""
    words = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
    return git(words, cwd, check=False).decode().strip()


def known_main(layout: Layout, remote: str) -> str:
    """Main's commit as known here: the remote's branch as last fetched, else ours; "" if there is none."""
    ref = landing_ref(layout)
    there = f"refs/remotes/{remote}/{ref.removeprefix('refs/heads/')}"
    return (commit_of(layout.worktree, there) if remote else "") or commit_of(layout.worktree, ref)


def reflog(cwd: str, ref: str) -> list[tuple[str, str, str]]:
    """(old, new, message) of each entry in a ref's log, newest first; HEAD is the one of the worktree
    `cwd`."""
    words = ["log", "--walk-reflogs", "--format=%H%x00%gs", f"-{_MOST_MOVES}", "--end-of-options", ref, "--"]
    rows = git(words, cwd, check=False).decode("utf-8", "surrogateescape").split("\n")
    entries = [row.partition("\0")[::2] for row in rows if row]
    before = [*(new for new, _ in entries[1:]), ""]
    return [(old, new, message) for old, (new, message) in zip(before, entries, strict=False)]


def newest_message(common_dir: str, ref: str) -> str | None:
    """The message of the last entry in a ref's log, read without git; None if only git can read it."""
    try:
        with open(f"{common_dir}/logs/{ref}", "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _TAIL_BYTES))
            lines = file.read().rstrip(b"\n").split(b"\n")
    except OSError:
        return None
    return lines[-1].partition(b"\t")[2].decode("utf-8", "replace")
