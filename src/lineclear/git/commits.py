"""Commits of one clone: their trees, where two histories parted, who wrote what, and new ones."""

from __future__ import annotations

import os
import time

from lineclear.core.landing import Author
from lineclear.git.objects import COMMIT, TREE, format_commit
from lineclear.git.run import GitFailed, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.git.object_store import ObjectStore

_FALLBACK = {"NAME": "lineclear", "EMAIL": "lineclear@localhost"}
_LOG = (
    "log", "--boundary", "--date=raw", "--encoding=UTF-8", "--no-color", "--no-show-signature",
    "--format=%m%H%x00%P%x00%an%x00%ae%x00%ad",
)  # fmt: skip


class Parting:
    """Where two histories parted, and what only the right one holds.

    `bases`: none for unrelated histories or an unknown right side, several where they have crossed, the
    right side itself where the left one holds all of it. `own`: the right side's own commits, newest first,
    each with its author; a merge has none.
    """

    __slots__ = ("bases", "own")

    def __init__(self, bases: list[str], own: dict[str, Author | None]) -> None:
        self.bases, self.own = bases, own


class Commits:
    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._parted: dict[tuple[str, str], Parting] = {}

    def tree_of(self, name: str) -> str:
        """The tree of a commit; a tree's own id is its tree; "" when there is neither."""
        kind, data = self._store.find([name]).get(name, ("", b""))
        if kind == COMMIT:
            return data.partition(b"\n")[0].removeprefix(b"tree ").decode()
        return name if kind == TREE else ""

    def part(self, left: str, right: str) -> Parting:
        if (left, right) not in self._parted:
            if not self.tree_of(right):
                return Parting([], {})
            self._parted[left, right] = self._part(left, right)
        return self._parted[left, right]

    def _part(self, left: str, right: str) -> Parting:
        output = git([*_LOG, "--end-of-options", f"{left}..{right}", "--"], self._store.cwd, timeout_s=600)
        own: dict[str, Author | None] = {}
        edge = []
        for row in output.decode("utf-8", "surrogateescape").split("\n")[:-1]:
            commit, parents, name, email, date = row.split("\0")
            if commit[0] == "-":
                edge.append(commit[1:])
            else:
                own[commit[1:]] = Author(name, email, date) if " " not in parents else None
        if not own:
            return Parting([right], own)
        # Every place where both parted is a parent of the right side's own commits; of several parents
        # some may be older than others.
        return Parting(edge if len(edge) < 2 else self._bases(left, right), own)

    def _bases(self, left: str, right: str) -> list[str]:
        words = ["merge-base", "--all", "--end-of-options", left, right]
        return git(words, self._store.cwd, timeout_s=600).decode().split()

    def write(self, tree: str, parents: Sequence[str], words: str, *, author: str, committer: str) -> str:
        data = format_commit(tree, parents, words, author=author, committer=committer)
        return self._store.write_one(COMMIT, data, like=tree)


class Signer:
    """Who commits here, as git would sign it. Git is asked once."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._known: dict[str, tuple[str, str]] = {}

    def committer(self) -> str:
        return self._sign("COMMITTER")

    def author(self, author: Author | None) -> str:
        """The line for this author, or for whoever commits when there is none."""
        if author is None or not (author.name or author.email):
            return self._sign("AUTHOR")
        name = "".join(letter for letter in author.name if letter not in "<>\n\0")
        date = author.date or self._sign("AUTHOR").rpartition("> ")[2]
        return f"{name} <{author.email}> {date}"

    def _sign(self, role: str) -> str:
        if role not in self._known:
            who, _, date = _ident(self._cwd, role).rpartition("> ")
            self._known[role] = (who + ">", date)
        who, date = self._known[role]
        if not os.environ.get(f"GIT_{role}_DATE"):
            date = f"{int(time.time())} {date.split(' ')[-1]}"
        return f"{who} {date}"


def _ident(cwd: str, role: str) -> str:
    words = ["var", f"GIT_{role}_IDENT"]
    try:
        output = git(words, cwd)
    except GitFailed:
        output = git(words, cwd, env=identity(cwd))
    return output.decode("utf-8", "surrogateescape").rstrip("\n")


def identity(cwd: str) -> dict[str, str]:
    """Nothing when git knows who the user is; else a name that is nobody's, for the environment."""
    try:
        git(["var", "GIT_COMMITTER_IDENT"], cwd)
    except GitFailed:
        roles = ("AUTHOR", "COMMITTER")
        return {f"GIT_{role}_{field}": value for role in roles for field, value in _FALLBACK.items()}
    return {}
