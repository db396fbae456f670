"""`lineclear merge-file` and `merge-tree`: merge three files on disk, or three trees of any git repository.
Needs no store."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

from lineclear.app.queue.merge_trees import merge_two_trees
from lineclear.core.words.refusals import refuse
from lineclear.git.run import GitFailed, git
from lineclear.git.trees import GitTrees
from lineclear.host.merge_processes import MERGE_PROCESSES
from lineclear.merge.lines import has_no_new_markers, split_lines, write_conflict
from lineclear.merge.result import Conflict, Labels, MergeResult
from lineclear.merge.rule_jobs import MergeJob, RuleFailure

if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.queue.lock_making import LockMaker


class GitMerging:
    """Merges with our rules, and with git's result at hand. `cwd`: where git looks for trees."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd

    def merge_files(
        self, base: str, left: str, right: str, *, path: str, labels: Labels
    ) -> tuple[MergeResult, str]:
        """Return the result and its encoding: UTF-8, or Latin-1 if any of the three files is not UTF-8."""
        contents = [_read(name) for name in (base, left, right)]
        encoding = "utf-8" if all(map(_is_utf8, contents)) else "latin-1"
        texts = [content.decode(encoding) for content in contents]
        if any(b"\0" in content for content in contents):  # git looks only at the first 8000 bytes
            binary = Conflict(0, 0, "binary", doubt="the files are not text; the left one is kept")
            return MergeResult(texts[1], [binary], verdict=binary.doubt), encoding
        git_text = _git_text(base, left, right, labels, encoding)
        if git_text is not None and has_no_new_markers(git_text, *texts):
            return MergeResult(git_text, rules=[("file", "git")], verdict="git"), encoding
        found = MERGE_PROCESSES.run([MergeJob(path, texts[0], texts[1], texts[2], labels, git_text)])[0]
        if isinstance(found, RuleFailure):
            return _unmerged(git_text, texts[1], texts[2], labels, found.reason), encoding
        return found, encoding

    def merge_tree(self, base: str, left: str, right: str, maker: LockMaker | None = None) -> dict[str, Any]:
        """Return the report of `merge_two_trees`. `maker` regenerates lock files that both sides changed."""
        labels = Labels(left, base, right)
        try:
            root, ours, theirs = (_tree_id(self._cwd, name) for name in (base, left, right))
            with closing(GitTrees(self._cwd)) as trees:
                return merge_two_trees(trees, root, ours, theirs, labels, MERGE_PROCESSES, maker)
        except GitFailed as error:
            why = f"git: {error.stderr.strip()[:100]}"
            raise refuse("input.bad", name="tree", given=f"{base} {left} {right}", why=why) from error


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise refuse("input.bad", name="file", given=path, why=os.strerror(error.errno or 0)) from error


def _git_text(base: str, left: str, right: str, labels: Labels, encoding: str) -> str | None:
    """Return git's own merge; None if git is not installed or calls the files binary."""
    names = ["-L", labels.left, "-L", labels.base, "-L", labels.right]
    files = [os.path.abspath(name) for name in (left, base, right)]
    try:
        output = git(["merge-file", "-p", "-q", *names, *files], os.path.dirname(files[0]), check=False)
    except GitFailed:
        return None
    return output.decode(encoding, "replace") or None


def _unmerged(git_text: str | None, left: str, right: str, labels: Labels, reason: str) -> MergeResult:
    """Git's own text with its markers; without git, both sides whole."""
    if git_text is None:
        git_text = "".join(write_conflict(split_lines(left), split_lines(right), labels, ""))
    return MergeResult(
        git_text, [Conflict(1, git_text.count("\n"), "rules failed", doubt=reason)], verdict=reason
    )


def _tree_id(cwd: str, name: str) -> str:
    words = ["rev-parse", "--verify", "--end-of-options", f"{name}^{{tree}}"]
    return git(words, cwd).decode().strip()
