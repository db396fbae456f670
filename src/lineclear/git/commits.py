"""Commits of one clone: their trees, parents, dates and authors, read from the objects themselves."""

from __future__ import annotations

import os
import re
import time

from lineclear.core.landing import Author
from lineclear.git.ancestry import part
from lineclear.git.layout import read_text
from lineclear.git.objects import COMMIT, TREE, format_commit
from lineclear.git.run import GitFailed, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.git.object_store import ObjectStore

_AUTHOR = re.compile(r"(.*?) ?<([^<>]*)> ?(\d+ [-+]\d+)?.*", re.DOTALL)
# A walk that has asked for so many commits one by one is a long one: git lists what both sides do not share.
_LONG_WALK = 64
_FALLBACK = {"NAME": "lineclear", "EMAIL": "lineclear@localhost"}


class Head:
    """What a commit object says above its message."""

    __slots__ = ("at_s", "author", "parents", "tree")

    def __init__(self, tree: str, parents: Sequence[str], author: Author, at_s: int) -> None:
        self.tree, self.parents, self.author, self.at_s = tree, parents, author, at_s


def parse_head(data: bytes) -> Head:
    """A header that is not as git writes it gives an author without a name, or the beginning of time."""
    head = data.partition(b"\n\n")[0]
    rows = [row.partition(b" ")[::2] for row in head.split(b"\n")]
    fields = {key: value for key, value in reversed(rows) if key}
    author = _author(_decode(fields.get(b"author", b""), fields.get(b"encoding", b"")))
    committed = re.search(rb"> (\d+) [-+]\d+$", fields.get(b"committer", b""))
    parents = [value.decode() for key, value in rows if key == b"parent"]
    return Head(fields[b"tree"].decode(), parents, author, int(committed[1]) if committed else 0)


def _decode(text: bytes, encoding: bytes) -> str:
    try:
        return text.decode(encoding.decode("ascii") or "utf-8")
    except (LookupError, UnicodeDecodeError):
        return text.decode("utf-8", "surrogateescape")


def _author(line: str) -> Author:
    found = _AUTHOR.fullmatch(line)
    return Author(found[1], found[2], found[3] or "") if found else Author("", "")


class Commits:
    def __init__(self, store: ObjectStore, common_dir: str) -> None:
        self._store = store
        # Where a shallow clone ends: parents are named there and not present.
        self._ends = frozenset(read_text(common_dir + "/shallow", limit=-1).split())
        self._heads: dict[str, Head] = {}
        self._links: dict[str, tuple[Sequence[str], int]] = {}
        self._parted: dict[tuple[str, str], tuple[list[str], list[str]]] = {}

    def head(self, commit: str) -> Head | None:
        """None when there is no such commit."""
        if commit not in self._heads:
            kind, data = self._store.find([commit]).get(commit, ("", b""))
            if kind != COMMIT:
                return None
            self._heads[commit] = parse_head(data)
        return self._heads[commit]

    def tree_of(self, name: str) -> str:
        """The tree of a commit; a tree's own id is its tree; "" when there is neither."""
        head = self.head(name)
        if head is not None:
            return head.tree
        return name if self._store.find([name]).get(name, ("", b""))[0] == TREE else ""

    def part(self, left: str, right: str) -> tuple[list[str], list[str]]:
        """(where both parted, what only the right side holds, newest first); nothing for an unknown right."""
        if (left, right) not in self._parted:
            if self.head(right) is None:
                return [], []
            self._parted[left, right] = part(_Walker(self, left, right).links, left, right)
        return self._parted[left, right]

    def links(self, commit: str) -> tuple[Sequence[str], int]:
        if commit not in self._links:
            head = self.head(commit)
            if head is None:
                raise GitFailed(["cat-file", "--batch"], 128, f"{commit} is no commit of this clone")
            parents = () if commit in self._ends else head.parents
            self._links[commit] = (parents, head.at_s)
        return self._links[commit]

    def knows_links(self, commit: str) -> bool:
        return commit in self._links

    def list_unshared(self, left: str, right: str) -> None:
        """Learn at once what a long walk between the two will ask for. Only a start: what git leaves out
        is read when it is asked for."""
        words = ["rev-list", "--parents", "--timestamp", "--end-of-options", f"{left}...{right}"]
        for row in git(words, self._store.cwd, timeout_s=600).decode().split("\n")[:-1]:
            at_s, commit, *parents = row.split(" ")
            self._links.setdefault(commit, (parents, int(at_s)))

    def write(self, tree: str, parents: Sequence[str], words: str, *, author: str, committer: str) -> str:
        data = format_commit(tree, parents, words, author=author, committer=committer)
        return self._store.write_one(COMMIT, data, like=tree)


class _Walker:
    """The links of one walk, which notices when it gets long."""

    __slots__ = ("_asked", "_commits", "_ends")

    def __init__(self, commits: Commits, left: str, right: str) -> None:
        self._commits, self._ends, self._asked = commits, (left, right), 0

    def links(self, commit: str) -> tuple[Sequence[str], int]:
        if not self._commits.knows_links(commit):
            self._asked += 1
            if self._asked == _LONG_WALK:
                self._commits.list_unshared(*self._ends)
        return self._commits.links(commit)


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
