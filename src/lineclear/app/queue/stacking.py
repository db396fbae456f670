"""One more piece of work on top of a commit: merged and committed, nothing moved, no task touched.

A landing puts one level on main; a queue puts level upon level and decides later how much of it becomes
main. Everything that touches git comes through the `MergeGit` port.
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
    from lineclear.app.queue.merge_trees import MergeTrees, Spread
    from lineclear.core.queue.landing_results import Author

    class History(Protocol):
        """Commits and trees of one clone, only looked at."""

        def bases(self, below: str, tip: str, /) -> list[str]:
            """Where both parted: none for unrelated histories or an unknown tip, several where they have
            crossed; the tip itself where it is contained in what is below."""

        def base_of(self, bases: Sequence[str], /) -> str:
            """One commit to merge against; made of several where there are several."""

        def tree_of(self, commit: str, /) -> str:
            """ "" when there is no such commit."""

        def authors(self, below: str, tip: str, /) -> list[Author]:
            """Of what is not below, newest first."""

        def changed(self, old: str, new: str, /) -> tuple[list[str], list[str]]:
            """(paths that differ, those that are new)."""

        def folded_paths(self, tree: str, /) -> list[str]:
            """Every path of the tree where the file system folds case; none where it does not."""

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
    """What is put on a level: `tip` is the commit that was submitted, `id` the candidate's number (0: it
    has none), `task` is "T-3", or "" for a branch of nobody's task."""

    branch: str
    tip: str
    _: KW_ONLY
    id: int = 0
    task: str = ""
    title: str = ""
    agent: str = ""


class Level:
    """`commit` is "" and `tree` holds the conflicts where it does not fit; `files` are the paths that differ
    from the level below; `commands` are left to run, such as one that regenerates a lock file; `notes` tell
    of lock files that were regenerated, or were not."""

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
    spread: Spread,
    below: str,
    submission: Submission,
    *,
    style: str,
    maker: LockMaker | None = None,
) -> Level:
    """The commit `below` with the work on it, in the style "merge" or "linear" (one commit on the one below).

    Work that is there already adds nothing. In the style "merge" work of no task that needs no merging is
    taken as it is.
    """
    history, tip = git.history, submission.tip
    bases = part_from(git, below, submission)
    if bases == [tip]:
        return Level(below, history.tree_of(below), NOTHING)
    if bases == [below] and not submission.task and style == MERGE:
        return Level(tip, history.tree_of(tip), FAST_FORWARD, files=history.changed(below, tip)[0])
    labels = Labels(git.branch, "base", submission.branch)
    report = merge_two_trees(git.trees, history.base_of(bases), below, tip, labels, spread, maker)
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
    """Where the work left what it is put on; refused where there is nothing to merge against."""
    bases = git.history.bases(below, submission.tip)
    if bases:
        return bases
    if not git.history.tree_of(submission.tip):
        raise refuse("branch.unknown", branch=submission.branch, task="")
    raise refuse("land.unrelated", branch=submission.branch, main=git.branch)


def _folded(history: History, below: str, tree: str) -> list[dict[str, Any]]:
    """Two names that are one file on this file system: git merges them, and checks out only one."""
    paths = history.folded_paths(tree)
    twins = landing.folded_twins(paths, history.changed(below, tree)[1]) if paths else []
    return [
        {"path": new, "kind": "case", "paths": [old, new], "text": f"{old} differs from it only in case"}
        for old, new in twins
    ]


def _commit(
    git: MergeGit, below: str, submission: Submission, tree: str, style: str, made: Sequence[str]
) -> str:
    """In the name of the last author, with the others, the task, the agent and what was regenerated in its
    trailers."""
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
