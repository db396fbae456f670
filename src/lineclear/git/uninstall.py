"""What `uninstall` asks of git in one clone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.core.worktrees.snapshots import PREFIX
from lineclear.git.run import git
from lineclear.git.snapshots.clone import as_refusals
from lineclear.git.snapshots.refs import create_branch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_HEADS = "refs/heads/"
_LONG_S = 600


class CloneUninstallGit:
    """The `UninstallGit` of app/worktrees/ports.py. `root`: the main worktree; `main_commit` returns ""
    before the first commit."""

    def __init__(self, root: str, main_commit: Callable[[], str]) -> None:
        self._root, self._main_commit = root, main_commit

    def branches(self) -> dict[str, tuple[str, str, str]]:
        rows = self._refs("%(refname) %(objectname) %(tree) %(parent)", _HEADS)
        found = {}
        for row in rows:
            name, commit, tree, *parents = row.split(" ")
            found[name.removeprefix(_HEADS)] = (commit, tree, parents[0] if parents else "")
        return found

    def other_refs(self) -> dict[str, str]:
        rows = [row.split(" ") for row in self._refs("%(refname) %(objectname)", "refs/lineclear/")]
        return {ref: commit for ref, commit in rows if not ref.startswith(PREFIX)}

    def unmerged(self, commits: Iterable[str], others: Iterable[str]) -> set[str]:
        return self._not_in(commits, {self._main_commit(), *others} - {""})

    def unreached(self, commits: Iterable[str]) -> set[str]:
        return self._not_in(commits, self._refs("%(objectname)", _HEADS, "refs/remotes/", "refs/tags/"))

    def _not_in(self, commits: Iterable[str], others: Iterable[str]) -> set[str]:
        wanted = set(commits) - {""}
        if not wanted:
            return set()
        asked = "".join(f"{line}\n" for line in (*wanted, *(f"^{other}" for other in others)))
        return wanted & set(self._git("rev-list", "--stdin", given=asked).split())

    def reached_trees(self) -> set[str]:
        return set(self._git("log", "--format=%T", "--branches", "--remotes", "--tags").split())

    def about(self, commit: str) -> tuple[str, int]:
        words = ["log", "-1", "--format=%T %ct", commit, "--"]
        tree, _, at_s = git(words, self._root, check=False).decode().strip().partition(" ")
        return tree, int(at_s or 0)

    def new_files(self, path: str) -> list[tuple[str, int]]:
        with as_refusals():
            listed = git(["ls-files", "--others", "--exclude-standard", "-z"], path, timeout_s=_LONG_S)
        names = listed.decode("utf-8", "surrogateescape").split("\0")[:-1]
        return [(name, _size_of(os.path.join(path, name))) for name in names]

    def create_branch(self, branch: str, commit: str) -> None:
        with as_refusals():
            create_branch(self._root, branch, commit)

    def delete_ref(self, ref: str, commit: str) -> None:
        if ref in self._refs("%(refname)", ref):
            self._git("update-ref", "-d", ref, commit)

    def _refs(self, form: str, *below: str) -> list[str]:
        return self._git("for-each-ref", f"--format={form}", *below).splitlines()

    def _git(self, *words: str, given: str = "") -> str:
        with as_refusals():
            data = given.encode("utf-8", "surrogateescape")
            return git(words, self._root, input=data, timeout_s=_LONG_S).decode("utf-8", "surrogateescape")


def _size_of(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0
