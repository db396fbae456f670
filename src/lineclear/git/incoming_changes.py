"""The paths that a commit or a push brings in, and their texts before and after."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from lineclear.core.queue.commit_gate import MARKER_LINE
from lineclear.git.branch_moves import head_ref
from lineclear.git.landing import landing_ref
from lineclear.git.run import GitFailed, git
from lineclear.git.snapshots.refs import empty_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lineclear.git.layout import Layout

_NAMES = ["--name-only", "-z", "--no-renames"]


class IncomingChanges:
    """The `IncomingGit` of app/commit_gate.py, for the worktree of a layout.

    `git commit -a` and `git commit PATH` use an index of their own, which the hook's environment names.
    """

    def __init__(self, layout: Layout, environ: Mapping[str, str]) -> None:
        self._layout, self._cwd = layout, layout.worktree
        index = environ.get("GIT_INDEX_FILE", "")
        self._index = {"GIT_INDEX_FILE": os.path.join(self._cwd, index)} if index else {}

    @cached_property
    def main(self) -> str:
        return landing_ref(self._layout)

    @cached_property
    def head(self) -> str:
        return head_ref(self._cwd, self._layout.common_dir, self._layout.git_dir)

    def staged_paths(self) -> list[str]:
        """Of a merge only the paths that differ from every parent: the rest was judged on its own branch."""
        found = self._diff_index(self._head())
        for other in _merge_heads(self._layout.git_dir):
            theirs = set(self._diff_index(other))
            found = [path for path in found if path in theirs]
        return found

    def staged_new(self, paths: Sequence[str]) -> list[str]:
        if not paths:
            return []
        words = ["--literal-pathspecs", "diff-index", "--cached", "--diff-filter=A", *_NAMES, self._head()]
        return _split(git([*words, "--", *paths], self._cwd, env=self._index))

    def staged_texts(self, path: str) -> tuple[str, str]:
        return self._text(f"HEAD:{path}", {}), self._text(f":0:{path}", self._index)

    def staged_marked(self) -> list[str]:
        words = ["diff-index", "--cached", *_NAMES, "-G", MARKER_LINE, self._head(), "--"]
        return _split(git(words, self._cwd, env=self._index))

    def texts_between(self, base: str, tip: str, path: str) -> tuple[str, str]:
        return self._text(f"{base}:{path}", {}), self._text(f"{tip}:{path}", {})

    def pushed_texts(self, local: str, path: str) -> tuple[str, str]:
        base = git(["merge-base", self.main, local], self._cwd, check=False).decode().strip()
        return self.texts_between(base, local, path)

    def pushed_paths(self, local: str) -> list[str]:
        """Of merges, as in `staged_paths`, only the paths that differ from every parent."""
        if local.strip("0") == "":
            return []
        words = ["log", "--format=", "-c", *_NAMES, local, "--not", "--remotes"]
        if git(["rev-parse", "--verify", "--quiet", self.main], self._cwd, check=False).strip():
            words.append(self.main)
        output = git([*words, "--"], self._cwd).decode("utf-8", "surrogateescape")
        return sorted({path.lstrip("\n") for path in output.split("\0") if path.strip("\n")})

    def is_on_main(self, commit: str) -> bool:
        try:
            git(["merge-base", "--is-ancestor", commit, self.main], self._cwd)
        except GitFailed:
            return False
        return True

    def _head(self) -> str:
        words = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]
        found = git(words, self._cwd, check=False).decode().strip()
        return found or empty_tree(self._cwd)

    def _diff_index(self, against: str) -> list[str]:
        words = ["diff-index", "--cached", *_NAMES, against, "--"]
        return _split(git(words, self._cwd, env=self._index))

    def _text(self, name: str, env: Mapping[str, str]) -> str:
        return git(["cat-file", "blob", name], self._cwd, env=env, check=False).decode("utf-8", "replace")


def _merge_heads(git_dir: str) -> list[str]:
    try:
        with open(git_dir + "/MERGE_HEAD", encoding="ascii") as file:
            return file.read().split()
    except (OSError, UnicodeDecodeError):
        return []


def _split(output: bytes) -> list[str]:
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1]


def tracked(cwd: str, paths: Sequence[str]) -> list[str]:
    """Return those of the absolute paths that lie below `cwd` and that git tracks there."""
    inside = {os.path.relpath(path, cwd): path for path in paths if path.startswith(cwd + "/")}
    if not inside:
        return []
    known = _split(git(["--literal-pathspecs", "ls-files", "-z", "--", *inside], cwd))
    return [inside[path] for path in known if path in inside]
