"""What `gc` may remove, and what stays and why. Facts in, a plan out.

The first rule: work that is in no commit of main, no branch and no snapshot stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lineclear.core.instants import show_duration
from lineclear.core.worktrees.rules import OURS
from lineclear.core.worktrees.snapshots import thin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WORKTREE, VANISHED, DIRECTORY, BRANCH, SNAPSHOT = "worktree", "vanished", "directory", "branch", "snapshot"
SCRATCH, RUN_LOG, BOND, PRESENCE, SESSION = "scratch file", "run log", "bond", "presence", "session"
CHECK_TREE = "check tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeFacts:
    """A worktree. `in_use`: who works there, "" for nobody; `is_landed`: it is clean and its commit is in
    main; `is_saved`: a snapshot or a branch has everything in it."""

    name: str
    path: str
    origin: str = OURS
    in_use: str = ""
    was_used: bool = True
    lock: str = ""
    is_landed: bool = False
    is_saved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VanishedWorktree:
    """A worktree that only our store still knows; `ports` are still reserved for it."""

    name: str
    path: str
    ports: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """A directory beside our worktrees that git does not know."""

    path: str
    is_empty: bool
    in_use: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTreeFacts:
    """A tree in which checks run. It holds nobody's work, but preparing it again costs time."""

    path: str
    in_use: bool
    is_needed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchFacts:
    """One of our branches. `needed_by`: a worktree or an open task, "" if nothing needs it."""

    name: str
    commit: str
    is_merged: bool
    needed_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """An agent's snapshots from new to old; too many of those that are `is_rolling` are thinned out."""

    agent: str
    refs: Sequence[str]
    ages_s: Sequence[int]
    is_rolling: Sequence[bool]
    has_worktree: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One of our own files in the git directory. `needed_by`: what needs it, "" for nothing."""

    kind: str
    name: str
    age_s: int
    needed_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupFacts:
    trees: Iterable[WorktreeFacts] = ()
    rows: Iterable[VanishedWorktree] = ()
    directories: Iterable[Directory] = ()
    check_trees: Iterable[CheckTreeFacts] = ()
    branches: Iterable[BranchFacts] = ()
    snapshots: Iterable[Series] = ()
    files: Iterable[File] = ()


@dataclass(frozen=True, slots=True)
class CleanupItem:
    """One thing, and why it goes or stays. `key` is its name, path or ref."""

    kind: str
    key: str
    why: str


@dataclass(slots=True)
class CleanupPlan:
    removals: list[CleanupItem] = field(default_factory=list)
    kept: list[CleanupItem] = field(default_factory=list)

    def judge(self, kind: str, key: str, keep_why: str, remove_why: str) -> None:
        """Keep it if there is a reason to keep it, else remove it."""
        if keep_why:
            self.kept.append(CleanupItem(kind, key, keep_why))
        else:
            self.removals.append(CleanupItem(kind, key, remove_why))


def make_plan(facts: CleanupFacts, *, keep: int, keep_for_s: int) -> CleanupPlan:
    plan = CleanupPlan()
    for tree in facts.trees:
        gone = "its work is in main" if tree.is_landed else "its agent is gone and its work is in a snapshot"
        plan.judge(WORKTREE, tree.name, _why_keep_tree(tree), gone)
    for row in facts.rows:
        ports = f"; its ports {row.ports} are free again" if row.ports else ""
        plan.judge(VANISHED, row.name, "", f"there is nothing at {row.path}{ports}")
    for place in facts.directories:
        plan.judge(DIRECTORY, place.path, _why_keep_directory(place), "it is empty, and git does not know it")
    for check_tree in facts.check_trees:
        plan.judge(CHECK_TREE, check_tree.path, _why_keep_check_tree(check_tree), "no check needs it")
    for branch in facts.branches:
        plan.judge(BRANCH, branch.name, _why_keep_branch(branch), "all of it is in main")
    for series in facts.snapshots:
        _judge_snapshots(plan, series, keep, keep_for_s)
    for file in facts.files:
        _judge_file(plan, file, keep_for_s)
    return plan


def _why_keep_tree(tree: WorktreeFacts) -> str:
    if tree.origin != OURS:
        return "it was not made by lineclear"
    if tree.in_use:
        return tree.in_use
    if tree.lock:
        return f"git has locked it: {tree.lock}"
    if not tree.was_used:
        return "nobody has worked in it yet"
    if not (tree.is_landed or tree.is_saved):
        return "it holds work that is neither in a snapshot nor in main"
    return ""


def _why_keep_directory(place: Directory) -> str:
    if place.in_use:
        return place.in_use
    return "" if place.is_empty else "git does not know it, and it holds files"


def _why_keep_check_tree(tree: CheckTreeFacts) -> str:
    if tree.in_use:
        return "a check runs in it"
    return "the next check starts faster in it; `lineclear gc --checks` removes it" if tree.is_needed else ""


def _why_keep_branch(branch: BranchFacts) -> str:
    if not branch.is_merged:
        return "it holds commits that are not in main"
    return f"{branch.needed_by} needs it" if branch.needed_by else ""


def _judge_snapshots(plan: CleanupPlan, series: Series, keep: int, keep_for_s: int) -> None:
    going = thin(
        series.ages_s, series.is_rolling, keep=keep, keep_for_s=keep_for_s, has_worktree=series.has_worktree
    )
    for place in going:
        age_s = series.ages_s[place]
        aged = f"it is older than {show_duration(keep_for_s * 1_000)}"
        many = f"{series.agent} has more than {keep}"
        plan.judge(SNAPSHOT, series.refs[place], "", aged if age_s > keep_for_s else many)


def _judge_file(plan: CleanupPlan, file: File, keep_for_s: int) -> None:
    """Remove a file that nothing needs; run logs and presence files stay for a while. Kept files are not
    listed."""
    is_past = file.kind in (RUN_LOG, PRESENCE)
    if not file.needed_by and (not is_past or file.age_s > keep_for_s):
        plan.removals.append(CleanupItem(file.kind, file.name, "nothing needs it"))
