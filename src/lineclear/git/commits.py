"""Commits of one clone: their trees, merge bases and authors, and writing new ones."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from lineclear.core.queue.landing_results import Author
from lineclear.git.objects import COMMIT, TREE, format_commit
from lineclear.git.run import GitFailed, git

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.git.object_store import ObjectStore

_FALLBACK = {"NAME": "lineclear", "EMAIL": "lineclear@localhost"}
_LOG = (
    "log", "--date=raw", "--encoding=UTF-8", "--no-color", "--no-show-signature",
    "--format=%H%x00%P%x00%an%x00%ae%x00%ad",
)  # fmt: skip


class Commits:
    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._bases: dict[tuple[str, str], list[str]] = {}
        self._own: dict[tuple[str, str], dict[str, Author | None]] = {}

    def tree_of(self, name: str) -> str:
        """The tree of a commit, or the id itself if it is a tree; "" if it is neither."""
        kind, data = self._store.find([name]).get(name, ("", b""))
        if kind == COMMIT:
            return data.partition(b"\n")[0].removeprefix(b"tree ").decode()
        return name if kind == TREE else ""

    def bases(self, left: str, right: str) -> list[str]:
        """The merge bases: none for unrelated histories or an unknown right side, several after criss-cross
        merges, and the right side itself if the left one contains it."""
        if (left, right) not in self._bases:
            if not self.tree_of(right):
                return []
            words = ["merge-base", "--all", "--end-of-options", left, right]
            try:
                found = git(words, self._store.cwd, timeout_s=600).decode().split()
            except GitFailed as error:
                if error.exit_code != 1:  # 1: there is no merge base
                    raise
                found = []
            self._bases[left, right] = found
        return self._bases[left, right]

    def own(self, left: str, right: str) -> dict[str, Author | None]:
        """The commits that only the right side has, newest first, each with its author; None for a merge.

        Exact unless a clock was wrong by more than the age of the work.
        """
        if (left, right) not in self._own:
            words = [*_LOG, "--end-of-options", f"{left}..{right}", "--"]
            rows = git(words, self._store.cwd, timeout_s=600).decode("utf-8", "surrogateescape").split("\n")
            found: dict[str, Author | None] = {}
            for row in rows[:-1]:
                commit, parents, name, email, date = row.split("\0")
                found[commit] = Author(name, email, date) if " " not in parents else None
            self._own[left, right] = found
        return self._own[left, right]

    def write(self, tree: str, parents: Sequence[str], words: str, *, author: str, committer: str) -> str:
        data = format_commit(tree, parents, words, author=author, committer=committer)
        return self._store.write_one(COMMIT, data, like=tree)


class Signer:
    """The author and committer lines that git would write here. Git is asked once for each."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._known: dict[str, tuple[str, str]] = {}

    def committer(self) -> str:
        return self._sign("COMMITTER")

    def author(self, author: Author | None) -> str:
        """The line for this author, or for the user who commits if there is no author."""
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
    """Variables that name us as author and committer if git does not know who the user is; else none."""
    try:
        git(["var", "GIT_COMMITTER_IDENT"], cwd)
    except GitFailed:
        roles = ("AUTHOR", "COMMITTER")
        return {f"GIT_{role}_{field}": value for role in roles for field, value in _FALLBACK.items()}
    return {}


def root_commit(cwd: str) -> str:
    """The first commit of all, of several the last that git lists; "" before there is one."""
    roots = git(["rev-list", "--max-parents=0", "HEAD"], cwd, check=False).decode().split()
    return roots[-1] if roots else ""
