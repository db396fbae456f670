"""Merge and commit one more piece of work on top of a commit. No branch moves, no task changes.

The queue stacks level upon level and decides later how much of it becomes main. Everything that touches git
goes through the `MergeGit` port.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from lineclear.app.queue.lock_making import made_of, notes_of
from lineclear.app.queue.merge_trees import merge_two_trees
from lineclear.core.queue import landing_results as landing
from lineclear.core.queue.landing_results import FAST_FORWARD, LINEAR, MERGE, NOTHING
from lineclear.core.words.refusals import refuse
from lineclear.merge import Labels

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from lineclear.app.queue.lock_making import LockMaker
    from lineclear.app.queue.merge_trees import MergeRules, MergeTrees
    from lineclear.core.queue.landing_results import Author

    class History(Protocol):
        """Reads commits and trees of one clone."""

        def bases(self, below: str, tip: str, /) -> list[str]:
            """The merge bases: none for unrelated histories or an unknown tip, several after criss-cross
            merges; the tip itself if `below` contains it."""

        def base_of(self, bases: Sequence[str], /) -> str:
            """One commit to merge against; several bases are merged into one."""

        def tree_of(self, commit: str, /) -> str:
            """The commit's tree; "" if there is no such commit."""

        def authors(self, below: str, tip: str, /) -> list[Author]:
            """The authors of the commits that `below` lacks, newest first."""

        def changed(self, old: str, new: str, /) -> tuple[list[str], list[str]]:
            """(paths that differ, those of them that are new)."""

        def folded_paths(self, tree: str, /) -> list[str]:
            """Every path of the tree if the file system ignores case, else an empty list."""

    class MergeGit(Protocol):
        """One clone's git, as far as merging needs it."""

        @property
        def branch(self) -> str: ...
        @property
        def trees(self) -> MergeTrees: ...
        @property
        def history(self) -> History: ...

        def commit(
            self, tree: str, parents: Sequence[str], message: str, author: Author | None, /
        ) -> str: ...


@dataclass(frozen=True, slots=True)
class Submission:
    """The work to merge: `tip` is the submitted commit, `id` the candidate's number (0 for none), `task` is
    "T-3", or "" for a branch without a task."""

    branch: str
    tip: str
    _: KW_ONLY
    id: int = 0
    task: str = ""
    title: str = ""
    agent: str = ""


class Level:
    """The merged result. With `conflicts`, `commit` is "" and `tree` holds the conflict markers. `files`: the
    paths that differ from the level below. `commands`: left to run, such as one that regenerates a lock file.
    `notes`: which lock files were regenerated, and which could not be."""

    def __init__(
        self, commit: str, tree: str, how: str, *, files: Sequence[str] = (), commands: Sequence[str] = (),
        conflicts: Sequence[dict[str, Any]] = (), notes: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.commit, self.tree, self.how = commit, tree, how
        self.files, self.commands, self.conflicts = list(files), list(commands), list(conflicts)
        self.notes = list(notes)

    @property
    def fits(self) -> bool:
        return not self.conflicts


def put_on(
    git: MergeGit,
    merge_rules: MergeRules,
    below: str,
    submission: Submission,
    *,
    style: str,
    maker: LockMaker | None = None,
) -> Level:
    """Merge the work onto the commit `below`, in the style "merge" or "linear" (one commit with one parent).

    Work that `below` contains already adds nothing. In the style "merge" a branch without a task is
    fast-forwarded where possible.
    """
    history, tip = git.history, submission.tip
    bases = part_from(git, below, submission)
    if bases == [tip]:
        return Level(below, history.tree_of(below), NOTHING)
    if bases == [below] and not submission.task and style == MERGE:
        return Level(tip, history.tree_of(tip), FAST_FORWARD, files=history.changed(below, tip)[0])
    labels = Labels(git.branch, "base", submission.branch)
    report = merge_two_trees(git.trees, history.base_of(bases), below, tip, labels, merge_rules, maker)
    tree, commands, notes = report["tree"], report.get("commands", ()), notes_of(report)
    conflicts = landing.conflicts_of(report) or _folded(history, below, tree)
    if conflicts:
        return Level("", tree, style, conflicts=conflicts, notes=notes)
    if style == LINEAR and tree == history.tree_of(below):
        return Level(below, tree, NOTHING)
    commit = _commit(git, below, submission, tree, style, made_of(report))
    files = history.changed(below, tree)[0]
    return Level(commit, tree, style, files=files, commands=commands, notes=notes)


def part_from(git: MergeGit, below: str, submission: Submission) -> list[str]:
    """The merge bases of the work and `below`. Refuses an unknown tip and unrelated histories."""
    bases = git.history.bases(below, submission.tip)
    if bases:
        return bases
    if not git.history.tree_of(submission.tip):
        raise refuse("branch.unknown", branch=submission.branch, task="")
    raise refuse("land.unrelated", branch=submission.branch, main=git.branch)


def _folded(history: History, below: str, tree: str) -> list[dict[str, Any]]:
    """Conflicts between names that are one file on this file system: git would check out only one of them."""
    paths = history.folded_paths(tree)
    twins = landing.folded_twins(paths, history.changed(below, tree)[1]) if paths else []
    return [
        {"path": new, "kind": "case", "paths": [old, new], "text": f"{old} differs from it only in case"}
        for old, new in twins
    ]


def _commit(
    git: MergeGit, below: str, submission: Submission, tree: str, style: str, made: Sequence[str]
) -> str:
    """Commit in the last author's name; trailers name the other authors, the task, the agent and regenerated
    files."""
    author, others = landing.authors_of(git.history.authors(below, submission.tip))
    words = landing.message(
        task=submission.task,
        title=submission.title,
        branch=submission.branch,
        agent=submission.agent,
        co_authors=others,
        made=made,
    )
    parents = [below] if style == LINEAR else [below, submission.tip]
    return git.commit(tree, parents, words, author)
