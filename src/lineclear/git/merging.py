"""Merging with git beside it: files on disk, and trees of any git repository. Needs no store."""

from __future__ import annotations

import os
from contextlib import closing

from lineclear.core.words.refusals import refuse
from lineclear.git.run import GitFailed, git
from lineclear.git.trees import GitTrees
from lineclear.merge import Conflict, Labels, MergeResult, merge_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from lineclear.app.queue.lock_making import LockMaker
    from lineclear.app.queue.merge_trees import Job

# Below this many files a second process costs more than it saves.
_WORTH_SPREADING = 8


class Text:
    """A file's content as text, and the encoding that gives the very bytes back."""

    __slots__ = ("encoding", "text")

    def __init__(self, content: bytes) -> None:
        try:
            self.text, self.encoding = content.decode(), "utf-8"
        except UnicodeDecodeError:
            self.text, self.encoding = content.decode("latin-1"), "latin-1"


def merge_files(base: str, left: str, right: str, *, path: str, labels: Labels) -> tuple[MergeResult, str]:
    """The result, and its encoding. Files of different encodings are compared byte by byte."""
    contents = [_read(name) for name in (base, left, right)]
    texts = [Text(content) for content in contents]
    encoding = "utf-8" if all(text.encoding == "utf-8" for text in texts) else "latin-1"
    b, lt, r = (content.decode(encoding) for content in contents)
    if any(b"\0" in content[:8000] for content in contents):  # git's own test for binary files
        binary = Conflict(0, 0, "binary", doubt="the files are not text; the left one is kept")
        return MergeResult(lt, [binary], verdict=binary.doubt), encoding
    git_text = _git_text(base, left, right, labels, encoding)
    return merge_texts(path, b, lt, r, git_text=git_text, labels=labels), encoding


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise refuse("input.bad", name="file", given=path, why=os.strerror(error.errno or 0)) from error


def write_bytes(path: str, content: bytes) -> None:
    """In place, not by renaming: git gives a driver the name of a temporary file and keeps its mode."""
    try:
        with open(path, "wb") as file:
            file.write(content)
    except OSError as error:
        raise refuse("input.bad", name="file", given=path, why=os.strerror(error.errno or 0)) from error


def _git_text(base: str, left: str, right: str, labels: Labels, encoding: str) -> str | None:
    """What git would write; None where there is no git, or it calls the files binary."""
    names = ["-L", labels.left, "-L", labels.base, "-L", labels.right]
    files = [os.path.abspath(name) for name in (left, base, right)]
    try:
        output = git(["merge-file", "-p", "-q", *names, *files], os.path.dirname(files[0]), check=False)
    except GitFailed:
        return None
    return output.decode(encoding, "replace") or None


def merge_tree(cwd: str, base: str, left: str, right: str, maker: LockMaker | None = None) -> dict[str, Any]:
    """With a `maker` lock files that both sides changed are made anew."""
    from lineclear.app.queue.merge_trees import merge_two_trees

    labels = Labels(left, base, right)
    try:
        root, ours, theirs = (_tree_id(cwd, name) for name in (base, left, right))
        with closing(GitTrees(cwd)) as trees:
            return merge_two_trees(trees, root, ours, theirs, labels, spread, maker)
    except GitFailed as error:
        raise refuse(
            "input.bad", name="tree", given=f"{base} {left} {right}", why=f"git: {error.stderr.strip()[:100]}"
        ) from error


def _tree_id(cwd: str, name: str) -> str:
    words = ["rev-parse", "--verify", "--end-of-options", f"{name}^{{tree}}"]
    return git(words, cwd).decode().strip()


def spread(merge: Callable[[Job], MergeResult], jobs: list[Job]) -> Iterable[MergeResult]:
    """Over all cores when there is enough to do."""
    if len(jobs) < _WORTH_SPREADING:
        return [merge(job) for job in jobs]
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(min(len(jobs), os.cpu_count() or 1)) as pool:
        return list(pool.map(merge, jobs))
