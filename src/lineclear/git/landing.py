"""What a landing needs of git: who is where, what both sides hold, the commit, the move. Decides nothing."""

from __future__ import annotations

import fcntl
import os
import time

from lineclear.core.landing import Author
from lineclear.git import layout as layouts
from lineclear.git.checkouts import Mover, changed_entries
from lineclear.git.run import GitFailed, git
from lineclear.git.trees import GitTrees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.git.checkouts import Moved
    from lineclear.git.layout import Layout

_MOST_AUTHORS, _MOST_MOVES = 200, 500
_POLL_S, _TAIL_BYTES = 0.05, 8_192
_FALLBACK = {"NAME": "lineclear", "EMAIL": "lineclear@localhost"}


def landing_ref(layout: Layout) -> str:
    """The branch that work lands on, as a full ref: detected, else the one the main worktree is on."""
    branch = layouts.landing_branch(layout.common_dir)
    if branch is None:
        head = git(["symbolic-ref", "--quiet", "HEAD"], layout.common_dir, check=False).decode().strip()
        return head if head.startswith("refs/heads/") else "refs/heads/main"
    return f"refs/heads/{branch}"


class LandingLock:
    """One landing at a time in this clone. Freed with the process, or with the last git it was lent to."""

    def __init__(self, state_dir: str) -> None:
        self.fd = os.open(state_dir + "/landing.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self, wait_s: float) -> bool:
        end_at = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= end_at:
                    self.free()
                    return False
                time.sleep(_POLL_S)
            else:
                return True

    def free(self) -> None:
        os.close(self.fd)


class CommitTrees(GitTrees):
    """Trees of real commits: where histories have crossed git makes one base of several."""

    def merge(self, base: str, left: str, right: str) -> tuple[str, dict[str, dict[int, tuple[str, str]]]]:
        del base  # git finds it
        return self.merge_commits(left, right)


class GitHistory:
    """The `History` of app/landing.py."""

    def __init__(self, cwd: str, common_dir: str) -> None:
        self._cwd, self._folds_case = cwd, layouts.ignores_case(common_dir)

    def bases(self, main: str, tip: str) -> list[str]:
        return git(["merge-base", "--all", main, tip], self._cwd, check=False).decode().split()

    def base_of(self, bases: Sequence[str]) -> str:
        """Of several commits git's own merge of them, as it makes it itself."""
        base = bases[0]
        for other in bases[1:]:
            tree, _ = GitTrees(self._cwd).merge_commits(base, other)
            base = make_commit(self._cwd, tree, [base, other], "base", None)
        return base

    def tree_of(self, commit: str) -> str:
        return git(["rev-parse", "--verify", f"{commit}^{{tree}}"], self._cwd).decode().strip()

    def authors(self, main: str, tip: str) -> list[Author]:
        words = ["log", f"-{_MOST_AUTHORS}", "--no-merges", "--format=%an%x00%ae%x00%ad%x00", "--date=raw"]
        output = git([*words, "--end-of-options", f"{main}..{tip}"], self._cwd)
        fields = [field.strip("\n") for field in output.decode("utf-8", "surrogateescape").split("\0")]
        return [Author(*fields[at : at + 3]) for at in range(0, len(fields) - 2, 3)]

    def changed(self, old: str, new: str) -> tuple[list[str], list[str]]:
        entries = changed_entries(self._cwd, old, new)
        return sorted(entries), sorted(path for path, (before, _) in entries.items() if before is None)

    def folded_paths(self, tree: str) -> list[str]:
        return GitTrees(self._cwd).paths(tree, ()) if self._folds_case else []


class GitGround:
    """The `Ground` of app/landing.py for one clone; `lock` is held."""

    def __init__(self, layout: Layout, state_dir: str, lock: LandingLock) -> None:
        self._cwd = layout.worktree
        self.ref = landing_ref(layout)
        self.branch = self.ref.removeprefix("refs/heads/")
        self.trees = CommitTrees(self._cwd)
        self.history = GitHistory(self._cwd, layout.common_dir)
        self._mover = Mover(self._cwd, layout.common_dir, state_dir, self.ref, lock.fd)

    def main(self) -> str:
        return commit_of(self._cwd, self.ref)

    def tips(self, *branches: str) -> list[str]:
        refs = [f"refs/heads/{branch}" for branch in branches]
        rows = git(["for-each-ref", "--format=%(refname) %(objectname)", "--", *refs], self._cwd).decode()
        found = dict(row.split(" ") for row in rows.split("\n")[:-1])
        return [found.get(ref, "") for ref in refs]

    def commit(self, tree: str, parents: Sequence[str], message: str, author: Author | None) -> str:
        return make_commit(self._cwd, tree, parents, message, author)

    def move(self, old: str, new: str, why: str) -> Moved:
        return self._mover.move(old, new, why)

    def repair(self) -> str:
        return self._mover.repair()


def commit_of(cwd: str, name: str) -> str:
    """The commit that a ref or id names; "" when there is none."""
    words = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
    return git(words, cwd, check=False).decode().strip()


def make_commit(cwd: str, tree: str, parents: Sequence[str], message: str, author: Author | None) -> str:
    env = {}
    if author is not None:
        env = {"GIT_AUTHOR_NAME": author.name, "GIT_AUTHOR_EMAIL": author.email}
        env |= {"GIT_AUTHOR_DATE": author.date} if author.date else {}
    links = [word for parent in parents for word in ("-p", parent)]
    words = ["commit-tree", tree, *links, "-F", "-"]
    text = message.encode("utf-8", "surrogateescape")
    try:
        return git(words, cwd, input=text, env=env).decode().strip()
    except GitFailed:
        nobody = identity(cwd)
        if not nobody:
            raise
        return git(words, cwd, input=text, env=nobody | env).decode().strip()


def identity(cwd: str) -> dict[str, str]:
    """Nothing when git knows who the user is; else a name that is nobody's, for the environment."""
    try:
        git(["var", "GIT_COMMITTER_IDENT"], cwd)
    except GitFailed:
        roles = ("AUTHOR", "COMMITTER")
        return {f"GIT_{role}_{field}": value for role in roles for field, value in _FALLBACK.items()}
    return {}


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
