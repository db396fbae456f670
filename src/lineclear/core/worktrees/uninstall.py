"""What `uninstall` does with worktrees, branches and refs. Pure: facts in, steps out.

Work that is on no branch of the user's first becomes an ordinary branch `kept/...`. Only then may its
worktree, its branch or its snapshot go. Planning again after a kill gives what is left to do: a branch that
was kept before is recognised by its commit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

# What is done.
SAVE, REMOVE, KEEP = "save", "remove", "keep"
# To what.
WORKTREE, CHECK_TREE, BRANCH, REF, SNAPSHOTS = "worktree", "check tree", "branch", "ref", "snapshots"

PREFIX = "kept/"
_QUEUE, _OURS = "refs/lineclear/queue/", "refs/lineclear/"
_UNFIT = re.compile(r"[^A-Za-z0-9_=+.-]+|\.(?=\.)")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavingStep:
    """One thing that happens. `branch`: where its work is kept; `commit`: what the branch will be at, "" if
    that has to be made first, or what the removed ref is at."""

    do: str
    kind: str
    name: str
    branch: str = ""
    commit: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavingTree:
    """A worktree. `is_dirty`: it differs from `head`; `is_loose`: no branch has `head`; `saved_as`: the
    branch that already holds exactly what is in it; `unsaved`: new files that no branch may take;
    `trouble`: why git cannot read it."""

    name: str
    path: str
    branch: str
    head: str
    is_ours: bool = True
    lock: str = ""
    trouble: str = ""
    is_dirty: bool = False
    is_loose: bool = False
    saved_as: str = ""
    unsaved: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavingBranch:
    """One of our branches. `is_merged`: main has all of it, or a branch that was kept; `place`: the worktree
    that has it checked out."""

    name: str
    commit: str
    is_merged: bool
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavingRef:
    """A ref of ours that is not a branch. `is_reached`: its work is on a branch, or nobody needs it."""

    ref: str
    commit: str
    is_reached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavingSnapshot:
    """The newest snapshot of one piece of work. `is_covered`: a branch or a worktree has newer content."""

    agent: str
    commit: str
    is_covered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavingFacts:
    """`branches`: all branches there are, with their commits; `prefix`: how the branches that we named
    begin."""

    branches: Mapping[str, str]
    prefix: str
    trees: Sequence[LeavingTree] = ()
    check_trees: Sequence[str] = ()
    ours: Sequence[LeavingBranch] = ()
    refs: Sequence[LeavingRef] = ()
    snapshots: Sequence[LeavingSnapshot] = ()
    snapshot_count: int = 0


@dataclass(slots=True)
class _Names:
    """Chooses branch names that are free, or that hold the same commit from an earlier try."""

    there: dict[str, str]
    chosen: set[str] = field(default_factory=set)

    def choose(self, word: str, commit: str) -> str:
        prefix = PREFIX if PREFIX[:-1] not in self.there else "kept-by-lineclear/"
        same = [name for name, tip in self.there.items() if commit == tip and name.startswith(prefix)]
        if same:
            return same[0]
        base = prefix + (_UNFIT.sub("-", word).strip(".-").removesuffix(".lock") or "work")
        number, name = 1, base
        while name in self.there or name in self.chosen:
            number += 1
            name = f"{base}-{number}"
        self.chosen.add(name)
        return name


def make_plan(facts: LeavingFacts) -> list[LeavingStep]:
    """First what is saved, then what goes, then what stays."""
    names = _Names(dict(facts.branches))
    steps: list[LeavingStep] = []
    covered: dict[str, str] = {}
    for tree in facts.trees:
        steps += _tree_steps(tree, facts.prefix, names, covered)
    steps += [LeavingStep(do=REMOVE, kind=CHECK_TREE, name=path) for path in facts.check_trees]
    gone = {step.name for step in steps if step.do == REMOVE}
    for branch in facts.ours:
        steps += _branch_steps(branch, facts.prefix, names, covered, gone)
    for ref in facts.refs:
        if not ref.is_reached:
            name = names.choose(_word_of(ref.ref), ref.commit)
            steps.append(LeavingStep(do=SAVE, kind=REF, name=ref.ref, branch=name, commit=ref.commit))
        steps.append(LeavingStep(do=REMOVE, kind=REF, name=ref.ref, commit=ref.commit))
    for found in facts.snapshots:
        if not found.is_covered:
            name = names.choose(f"{found.agent}-snapshot", found.commit)
            what = f"the last snapshot of {found.agent}"
            steps.append(LeavingStep(do=SAVE, kind=SNAPSHOTS, name=what, branch=name, commit=found.commit))
    if facts.snapshot_count:
        count = "1 snapshot" if facts.snapshot_count == 1 else f"{facts.snapshot_count} snapshots"
        steps.append(LeavingStep(do=REMOVE, kind=SNAPSHOTS, name=count))
    return in_order(steps)


def in_order(steps: Iterable[LeavingStep]) -> list[LeavingStep]:
    return sorted(steps, key=lambda step: (SAVE, REMOVE, KEEP).index(step.do))


def _tree_steps(tree: LeavingTree, prefix: str, names: _Names, covered: dict[str, str]) -> list[LeavingStep]:
    why = _why_it_stays(tree)
    if why:
        return [LeavingStep(do=KEEP, kind=WORKTREE, name=tree.path, why=why)]
    steps = []
    if tree.is_dirty or tree.is_loose:
        word = tree.branch.removeprefix(prefix) if tree.branch.startswith(prefix) else tree.name
        commit = "" if tree.is_dirty else tree.head
        branch = tree.saved_as or names.choose(word, commit or "-")
        steps.append(LeavingStep(do=SAVE, kind=WORKTREE, name=tree.path, branch=branch, commit=commit))
        covered[tree.head] = branch
    return [*steps, LeavingStep(do=REMOVE, kind=WORKTREE, name=tree.path)]


def _why_it_stays(tree: LeavingTree) -> str:
    if not tree.is_ours:
        return "lineclear did not make it"
    if tree.lock:
        return f"git has it locked: {tree.lock}"
    if tree.trouble:
        return f"its work cannot be saved: {tree.trouble}"
    if tree.unsaved:
        more = f" and {len(tree.unsaved) - 1} more" if len(tree.unsaved) > 1 else ""
        return f"no branch takes {tree.unsaved[0]}{more} (too large, or named like a secret)"
    return ""


def _branch_steps(
    branch: LeavingBranch, prefix: str, names: _Names, covered: Mapping[str, str], gone: Collection[str]
) -> list[LeavingStep]:
    if branch.place and branch.place not in gone:
        why = f"it is checked out in {branch.place}"
        return [LeavingStep(do=KEEP, kind=BRANCH, name=branch.name, why=why)]
    steps = []
    if not branch.is_merged and branch.commit not in covered:
        kept = names.choose(branch.name.removeprefix(prefix), branch.commit)
        steps.append(LeavingStep(do=SAVE, kind=BRANCH, name=branch.name, branch=kept, commit=branch.commit))
    return [*steps, LeavingStep(do=REMOVE, kind=BRANCH, name=branch.name, commit=branch.commit)]


def _word_of(ref: str) -> str:
    if ref.startswith(_QUEUE):
        return f"candidate-{ref.removeprefix(_QUEUE)[:10]}"
    return ref.removeprefix(_OURS)
