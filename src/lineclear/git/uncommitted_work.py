"""Tidies an agent's worktree at the end of its work: returns to its branch and commits what it left.

Uses the agent's own index and the user's hooks, so the agent must have ended. Never discards anything. What
writes to the index or a log, or runs hooks, runs in a sandbox if the agent did: a hook runs the agent's files
(linters, tests), and the index may be a symlink by now.
"""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lineclear.git.branch_moves import step_in_progress
from lineclear.git.commits import identity
from lineclear.git.landing import commit_of
from lineclear.git.run import GitFailed, git
from lineclear.git.snapshots.files import beginning_of
from lineclear.git.status import UNTRACKED, parse_status
from lineclear.git.unfinished_merge import unmerged_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lineclear.core.worktrees.snapshots import SnapshotLimits
    from lineclear.git.status import Change

_COMMIT_TIMEOUT_S = 900
_NESTED, _VANISHED = "a repository of its own", "it cannot be read"


class GitWorkplace:
    """The `Workplace` of app/runs/outputs.py. `limits` says which new files are not committed; `wrap(words,
    tmp)` puts a command into a sandbox with its own /tmp."""

    def __init__(
        self,
        path: str,
        main_ref: str,
        limits: SnapshotLimits,
        wrap: Callable[[list[str], str], list[str]] | None = None,
    ) -> None:
        self._path, self._main_ref, self._limits, self._wrap = path, main_ref, limits, wrap

    def return_to(self, branch: str) -> tuple[str, str]:
        """Put HEAD back on the branch. If HEAD contains the branch, the branch moves to HEAD's commit.

        Return (what is wrong, what was done).
        """
        ref = f"refs/heads/{branch}"
        at = self._git("symbolic-ref", "--quiet", "HEAD", check=False)
        if step_in_progress(self._git("rev-parse", "--absolute-git-dir")) == "a rebase":
            return "it left a rebase unfinished", ""
        if at == ref:
            return "", ""
        where = at.removeprefix("refs/heads/") or "no branch"
        if at == self._main_ref:
            return f"it switched to {where} itself", ""
        head, tip = commit_of(self._path, "HEAD"), commit_of(self._path, ref)
        if not head or (tip and self._git("merge-base", head, tip, check=False) != tip):
            return f"it switched to {where}, which does not contain its branch {branch}", ""
        self._write("update-ref", "-m", "lineclear: return", ref, head, tip or "0" * len(head))
        self._write("symbolic-ref", "-m", "lineclear: return", "HEAD", ref)
        return "", f"it had switched to {where}; {branch} was moved to its last commit"

    def unmerged(self) -> list[str]:
        return unmerged_paths(self._path)

    def commit(self, message: str, agent: str) -> tuple[str, list[str], str]:
        """Commit all changes. Return (the new commit or "", "path: why" of each file left out, what a hook or
        git said against it)."""
        changes = _status(self._path)
        new, left_out = [], []
        for change in changes:
            if change.kind == UNTRACKED:
                why = self._why_not(change.path)
                if why:
                    left_out.append(f"{os.fsdecode(change.path)}: {why}")
                else:
                    new.append(change.path)
        if not new and all(change.kind == UNTRACKED for change in changes):
            return "", left_out, ""
        self._write("add", "--update", ":/")
        words = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"]
        self._write(*words, input=b"".join(path + b"\0" for path in new))
        try:
            return self._commit(message, agent), left_out, ""
        except GitFailed as error:
            return "", left_out, error.stderr.strip() or f"git commit: exit code {error.exit_code}"

    def _why_not(self, path: bytes) -> str:
        if path.endswith(b"/"):
            return _NESTED
        place = os.fsencode(self._path) + b"/" + path
        try:
            reason = self._limits.reason(os.fsdecode(path), os.lstat(place).st_size)
            return reason or self._limits.reason_inside(beginning_of(place))
        except OSError:
            return _VANISHED

    def _commit(self, message: str, agent: str) -> str:
        """Run the user's hooks, too. If they fail but changed files, as formatters do, try once more."""
        staged = self._write("write-tree")
        try:
            self._run_commit(message, agent)
        except GitFailed:
            self._write("add", "--update", ":/")
            if self._write("write-tree") == staged:
                raise
            self._run_commit(message, agent)
        return commit_of(self._path, "HEAD")

    def _run_commit(self, message: str, agent: str) -> None:
        env = identity(self._path)
        email = git(["var", "GIT_AUTHOR_IDENT"], self._path, env=env).decode("utf-8", "replace")
        author = f"{agent} <{email.rpartition('<')[2].partition('>')[0]}>"
        # Unattended: nobody can unlock a signing key.
        words = ["commit", "--quiet", "--no-gpg-sign", "--author", author, "--file", "-"]
        self._write(*words, input=message.encode(), env=env, timeout_s=_COMMIT_TIMEOUT_S)

    def head(self) -> str:
        return commit_of(self._path, "HEAD")

    def changed(self) -> list[str]:
        """The paths that differ between HEAD and its merge base with main."""
        base = self._git("merge-base", self._main_ref, "HEAD", check=False).split("\n")[0]
        if not base:
            return self._names("ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD")
        return self._names("diff-tree", "-r", "-z", "--name-only", "--no-renames", base, "HEAD")

    def present(self, paths: Sequence[str]) -> set[str]:
        """Those of the paths that exist in HEAD."""
        found = set()
        for path in paths:
            words = ["ls-tree", "-z", "--name-only", "--full-tree", "HEAD", "--", path.rstrip("/")]
            if git(words, self._path, env={"GIT_LITERAL_PATHSPECS": "1"}):
                found.add(path)
        return found

    def _names(self, *words: str) -> list[str]:
        return git(words, self._path, timeout_s=600).decode("utf-8", "surrogateescape").split("\0")[:-1]

    def _write(
        self,
        *words: str,
        input: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout_s: float = 600,
    ) -> str:
        with TemporaryDirectory(prefix="lineclear-") as tmp:
            wrap = self._wrap
            within = None if wrap is None else lambda argv: wrap(argv, tmp)
            output = git(words, self._path, input=input, env=env, timeout_s=timeout_s, within=within)
        return output.decode("utf-8", "surrogateescape").rstrip("\n")

    def _git(self, *words: str, check: bool = True) -> str:
        output = git(words, self._path, check=check, timeout_s=600)
        return output.decode("utf-8", "surrogateescape").rstrip("\n")


def dirty_paths(path: str) -> list[str]:
    """Return the paths of the worktree that differ from HEAD, including new but not ignored files."""
    return [os.fsdecode(change.path) for change in _status(path)]


def _status(path: str) -> list[Change]:
    words = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames"]
    words += ["--ignore-submodules=dirty"]
    return parse_status(git(["--no-optional-locks", *words], path, timeout_s=600))[1]
