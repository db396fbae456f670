"""Bring the branch of one worktree up to main by the structured merge; or say where both do not fit.

Main is the left side of the merge, as when the branch lands: what is settled in order (a migration's
number, a line after another's) is settled here as it will be there. Everything that touches git comes
through the `SyncGit` port; the caller holds the worktree's lock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.queue.lock_making import notes_of
from lineclear.app.queue.merge_trees import file_report, merge_open_files, merge_two_trees
from lineclear.core.queue import landing_results
from lineclear.core.words.computed.worktrees import sync_in_progress
from lineclear.core.words.refusals import refuse
from lineclear.core.worktrees.syncing import FAST_FORWARD, MERGE, STAGED, UP_TO_DATE, Conflicted, Synced
from lineclear.merge import Labels, MergeResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Protocol

    from lineclear.app.queue.lock_making import LockMaker
    from lineclear.app.queue.merge_trees import MergeRules, MergeTrees
    from lineclear.app.queue.stacking import History

    Stages = Mapping[str, Mapping[int, tuple[str, str]]]

    class BranchMoved(Protocol):
        how: str
        why: str
        files: list[str]

    class SyncGit(Protocol):
        """One worktree's git, with its lock held. `branch` is "" where HEAD is on none."""

        @property
        def place(self) -> str: ...
        @property
        def main(self) -> str: ...
        @property
        def branch(self) -> str: ...
        @property
        def trees(self) -> MergeTrees: ...
        @property
        def history(self) -> History: ...

        @property
        def maker(self) -> LockMaker | None:
            """Regenerates lock files, as far as main's settings allow it."""

        def step(self) -> str:
            """The merge, rebase or the like that is in progress; "" when there is none."""

        def open_paths(self) -> list[str]:
            """The paths with conflicts that nobody has resolved yet."""

        def ends(self) -> tuple[str, str]:
            """The commits of main and of the branch; "" where there is none."""

        def commit(self, tree: str, parents: Sequence[str], message: str, /) -> str: ...

        def move(self, old: str, new: str, /) -> BranchMoved:
            """The branch by compare-and-set, with its files and index."""

        def keep(self, tip: str, tree: str, main: str, stages: Stages, message: str, /) -> BranchMoved:
            """Leave the merge unfinished in the worktree, as git leaves one."""

        def repair(self) -> str: ...


_SUBMODULE = "160000"
# Only the worktree's own agent or person moves its branch; more often than this means a storm.
MOST_TRIES = 5


class SyncPlan:
    """What a sync would come to; only objects were made. `report` is the merge's, None without one."""

    def __init__(
        self, how: str, main: str, tip: str, commit: str = "", report: dict[str, Any] | None = None,
        conflicts: Sequence[dict[str, Any]] = (),
    ) -> None:  # fmt: skip
        self.how, self.main, self.tip, self.commit, self.report = how, main, tip, commit, report
        self.conflicts = list(conflicts)


def sync(git: SyncGit, merge_rules: MergeRules, message: str, *, keep: bool = False) -> Synced | Conflicted:
    """Merge and move; what does not fit is left alone, or with `keep` in the worktree. A Refusal where
    somebody's work is in the way; then nothing has changed."""
    git.repair()
    for _ in range(MOST_TRIES):
        plan = look(git, merge_rules, message)
        if plan.how == UP_TO_DATE or (plan.conflicts and not keep):
            return _outcome(git, plan)
        result, moved = _carry_out(git, merge_rules, plan, message)
        if moved.how == "moved":
            return result
        if moved.how == "blocked":
            raise _refusal(git, moved)
    raise refuse("sync.moving", branch=git.branch)


def preview(git: SyncGit, merge_rules: MergeRules, message: str) -> Synced | Conflicted:
    """What it would come to; nothing moves."""
    return _outcome(git, look(git, merge_rules, message))


def look(git: SyncGit, merge_rules: MergeRules, message: str) -> SyncPlan:
    main, tip = _ends(git)
    bases = git.history.bases(main, tip)
    if not bases:
        raise refuse("land.unrelated", branch=git.branch, main=git.main)
    if bases == [main]:
        return SyncPlan(UP_TO_DATE, main, tip, tip)
    if bases == [tip]:
        return SyncPlan(FAST_FORWARD, main, tip, main)
    labels = Labels(git.main, "base", git.branch)
    report = merge_two_trees(git.trees, git.history.base_of(bases), main, tip, labels, merge_rules, git.maker)
    conflicts = landing_results.conflicts_of(report)
    if conflicts:
        return SyncPlan(MERGE, main, tip, report=report, conflicts=conflicts)
    _refuse_twins(git, tip, report["tree"])
    return SyncPlan(MERGE, main, tip, git.commit(report["tree"], [tip, main], message), report)


def _ends(git: SyncGit) -> tuple[str, str]:
    """(main, tip) where there is something to sync; everything else is refused, in words."""
    step = git.step()
    if step:
        raise sync_in_progress(step, git.place)
    if not git.branch:
        raise refuse("land.detached", path=git.place)
    if git.branch == git.main:
        raise refuse("sync.main", main=git.main)
    main, tip = git.ends()
    if not main:
        raise refuse("land.unborn", main=git.main)
    if not tip:
        raise refuse("branch.unknown", branch=git.branch, task="")
    return main, tip


def _refuse_twins(git: SyncGit, tip: str, tree: str) -> None:
    """Two names that are one file on this file system: git would check out only one."""
    paths = git.history.folded_paths(tree)
    for old, new in landing_results.folded_twins(paths, git.history.changed(tip, tree)[1]) if paths else ():
        raise refuse("sync.case", name=new, other=old)


def _outcome(git: SyncGit, plan: SyncPlan) -> Synced | Conflicted:
    if plan.conflicts:
        return Conflicted(plan.conflicts)
    files, _ = git.history.changed(plan.tip, plan.commit)
    return Synced(plan.how, plan.commit, files=files, notes=_notes(plan))


def _notes(plan: SyncPlan) -> list[str]:
    report = plan.report or {}
    return [*notes_of(report), *(f"then run {command}" for command in report.get("commands", ()))]


def _carry_out(
    git: SyncGit, merge_rules: MergeRules, plan: SyncPlan, message: str
) -> tuple[Synced | Conflicted, BranchMoved]:
    if not plan.conflicts:
        return _outcome(git, plan), git.move(plan.tip, plan.commit)
    left = _as_git_leaves_it(git, merge_rules, plan)
    _refuse_twins(git, plan.tip, left.tree)
    result = Conflicted(left.conflicts, is_kept=True, open_paths=sorted(left.stages), notes=_notes(plan))
    return result, git.keep(plan.tip, left.tree, plan.main, left.stages, message)


def _refusal(git: SyncGit, moved: BranchMoved) -> Exception:
    if moved.why == STAGED:
        return refuse("sync.staged", files=moved.files)
    if moved.files:
        return refuse("sync.overlaps", files=moved.files, path=git.place, why=moved.why)
    return refuse("sync.blocked", why=moved.why)


# -- the merge, unfinished ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Left:
    """`tree`: the files with their markers; `stages` of what is open, the branch as stage 2, as for git."""

    tree: str
    stages: Stages
    conflicts: list[dict[str, Any]]


def _as_git_leaves_it(git: SyncGit, merge_rules: MergeRules, plan: SyncPlan) -> Left:
    """What is settled as it will land; what is open once more with the branch's own side first."""
    report = plan.report or {}
    open_files = {file["path"]: file for file in report["files"] if not file["clean"]}
    settled = {file["path"] for file in report["files"]} - open_files.keys()
    git_tree, found = git.trees.merge("", plan.tip, plan.main)
    stages = {path: rows for path, rows in found.items() if path not in settled}
    labels = Labels(git.branch, "base", git.main)
    results = merge_open_files(git.trees, git_tree, stages, labels, merge_rules)
    files: dict[str, tuple[str, bytes | None]] = {
        path: (mode, None) for path, mode in _modes(git, report["tree"], open_files).items()
    }
    files |= _contents(git, git_tree, stages)
    told = []
    for path in sorted(stages):
        result = results.get(path)
        if isinstance(result, MergeResult) and result.is_clean and path in open_files:
            # Clean this way round and not the other: the doubtful text is the one to show.
            files.pop(path, None)
            told.append(open_files[path])
        else:
            told.append(file_report(path, stages[path], result))
            if result is not None:
                mode = files[path][0] if path in files else stages[path][2][0]
                files[path] = (mode, result.text.encode())
    tree = git.trees.write(report["tree"], files) if files else report["tree"]
    return Left(tree, stages, landing_results.conflicts_of({**report, "files": told}))


def _modes(git: SyncGit, tree: str, paths: Iterable[str]) -> dict[str, str]:
    """Files only: a submodule that is open stays as it is."""
    entries = git.trees.entries(tree, sorted(paths))
    return {path: mode for path, (mode, _) in entries.items() if mode != _SUBMODULE}


def _contents(git: SyncGit, tree: str, stages: Stages) -> dict[str, tuple[str, bytes | None]]:
    """Open files as git's own merge has them."""
    entries = git.trees.entries(tree, sorted(stages))
    blobs = git.trees.read({oid for mode, oid in entries.values() if mode != _SUBMODULE})
    return {path: (mode, blobs[oid]) for path, (mode, oid) in entries.items() if mode != _SUBMODULE}
