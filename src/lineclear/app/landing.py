"""Use cases of landing: hand a task's branch over, bring it to main, end the task once, or send it back.

A plain serial merge. A queue can take the place of `_attempt` without its callers noticing. Everything
that touches git comes through the `Ground` port; the caller holds the clone's landing lock.
"""

from __future__ import annotations

from lineclear.app import tasks
from lineclear.app.agents import ensure_agent
from lineclear.app.merge_trees import merge_two_trees
from lineclear.core import landing, refusals, refusals_landing, refusals_tasks
from lineclear.core.claims import claim_released
from lineclear.core.events import Draft
from lineclear.core.gate import tell
from lineclear.core.landing import FAST_FORWARD, MERGE, NOTHING, Landed, NeedsYou, SentBack
from lineclear.core.tables import CLAIM, TASK
from lineclear.core.tasks import HANDED_OVER, MERGED, TAKEN, give_back, show_id
from lineclear.merge import Labels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from lineclear.app.merge_trees import Spread, Trees
    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.core.gate import Finding
    from lineclear.core.landing import Author
    from lineclear.core.tables import Task

    # (agent, paths) -> what of them the agent may not bring in.
    Judge = Callable[[str, Sequence[str]], list[Finding]]

    class Moved(Protocol):
        how: str
        why: str
        files: list[str]

    class History(Protocol):
        """Commits and trees of one clone, only looked at."""

        def bases(self, main: str, tip: str, /) -> list[str]:
            """Where both parted: none for unrelated histories, several where they have crossed."""

        def base_of(self, bases: Sequence[str], /) -> str:
            """One commit to merge against; made of several where there are several."""

        def tree_of(self, commit: str, /) -> str: ...

        def authors(self, main: str, tip: str, /) -> list[Author]:
            """Of what is not on main, newest first."""

        def changed(self, old: str, new: str, /) -> tuple[list[str], list[str]]:
            """(paths that differ, those that are new)."""

        def folded_paths(self, tree: str, /) -> list[str]:
            """Every path of the tree where the file system folds case; none where it does not."""

    class Ground(Protocol):
        """One clone's git, with its landing lock held."""

        @property
        def branch(self) -> str: ...
        @property
        def trees(self) -> Trees: ...
        @property
        def history(self) -> History: ...

        def tips(self, *branches: str) -> list[str]:
            """The commit of each branch; "" where there is no such branch."""

        def commit(
            self, tree: str, parents: Sequence[str], message: str, author: Author | None, /
        ) -> str: ...

        def move(self, old: str, new: str, why: str, /) -> Moved:
            """Main from one commit to another by compare-and-set, with its files where it is checked out."""

        def repair(self) -> str:
            """Finish or undo what a killed landing left half done; says what, or nothing."""


# Somebody else may move main between our look and our move; more often than this means a storm.
MOST_TRIES = 8

Result = Landed | SentBack | NeedsYou


class Sight:
    """Where main and a branch are, and where they parted."""

    __slots__ = ("bases", "main", "tip")

    def __init__(self, main: str, tip: str, bases: list[str]) -> None:
        self.main, self.tip, self.bases = main, tip, bases

    @property
    def is_on_main(self) -> bool:
        return self.bases == [self.tip]


class Candidate:
    """A branch that wants to land. `task` is None for a branch of nobody's task."""

    __slots__ = ("agent", "branch", "task")

    def __init__(self, branch: str, *, task: Task | None = None, agent: str = "") -> None:
        self.branch, self.task = branch, task
        self.agent = agent or (task.agent if task is not None else "")


def _let_pass(_agent: str, _paths: Sequence[str]) -> list[Finding]:
    return []


def land(
    store: Store, caller: Caller, ground: Ground, spread: Spread, *, task: int = 0, branch: str = "",
    agent: str = "", judge: Judge = _let_pass,
) -> Result:  # fmt: skip
    """Hand over and land now. Repeating it is harmless: what is on main already only ends its task."""
    ground.repair()
    known = store.read(lambda view: _known(view, task)) if task else None
    branch = _branch_of(known, branch)
    sight = look(ground, branch)
    if known is not None and known.state == TAKEN:
        if sight.is_on_main:
            raise refusals_landing.nothing_to_land(branch, ground.branch, show_id(task))
        tasks.finish(store, caller, task, branch=branch)
        known = store.read(lambda view: _known(view, task))
    candidate = Candidate(branch, task=known, agent=agent)
    return conclude(store, caller, candidate, bring(ground, spread, candidate, sight, judge))


def preview(
    store: Store, ground: Ground, spread: Spread, *, task: int = 0, branch: str = "", agent: str = "",
    judge: Judge = _let_pass,
) -> Result:  # fmt: skip
    """What landing would come to; only objects are made, nothing moves and no task changes."""
    known = store.read(lambda view: _known(view, task)) if task else None
    branch = _branch_of(known, branch)
    return _plan(ground, spread, Candidate(branch, task=known, agent=agent), look(ground, branch), judge)


def bring(
    ground: Ground, spread: Spread, candidate: Candidate, sight: Sight, judge: Judge = _let_pass
) -> Result:
    """Merge and move; rebuilt on the new main when somebody moved it meanwhile, never forced."""
    for _ in range(MOST_TRIES):
        plan = _plan(ground, spread, candidate, sight, judge)
        if not isinstance(plan, Landed) or plan.how == NOTHING:
            return plan
        moved = ground.move(sight.main, plan.commit, f"lineclear: land {candidate.branch}")
        if moved.how == "moved":
            return plan
        if moved.how == "blocked":
            return NeedsYou(moved.why, moved.files)
        sight = look(ground, candidate.branch)
    return NeedsYou(f"{ground.branch} moved {MOST_TRIES} times while this was being merged")


def conclude(store: Store, caller: Caller, candidate: Candidate, result: Result) -> Result:
    """The task's part of it, in one transaction: ended when landed, given back when it does not fit."""
    task = candidate.task
    if isinstance(result, Landed):
        end_landed(store, caller, candidate, result)
    elif isinstance(result, SentBack) and task is not None:
        _send_back(store, caller, task, result.why)
    return result


def pending(view: View) -> list[Task]:
    """Tasks whose branch waits to land, in order of priority, then age."""
    found = [task for task in view.scan(TASK, "ready", (HANDED_OVER,)) if task.branch]
    return sorted(found, key=lambda task: (task.priority, task.id))


def settle(store: Store, caller: Caller, ground: Ground) -> list[str]:
    """End every task whose branch is on main already: a landing was killed before it could say so."""
    ground.repair()
    waiting = store.read(pending)
    main, *tips = ground.tips(ground.branch, *(task.branch for task in waiting))
    settled = []
    for task, tip in zip(waiting, tips, strict=True):
        if main and tip and ground.history.bases(main, tip) == [tip]:
            landed = Landed(main, "", NOTHING, main=ground.branch)
            if end_landed(store, caller, Candidate(task.branch, task=task), landed):
                settled.append(show_id(task.id))
    return settled


def look(ground: Ground, branch: str) -> Sight:
    """What can be merged is looked at; everything else is refused, in words."""
    main, tip = ground.tips(ground.branch, branch)
    if not main:
        raise refusals_landing.main_unborn(ground.branch)
    if branch == ground.branch:
        raise refusals_landing.branch_is_main(branch)
    if not tip:
        raise refusals_landing.branch_unknown(branch)
    bases = ground.history.bases(main, tip)
    if not bases:
        raise refusals_landing.unrelated(branch, ground.branch)
    return Sight(main, tip, bases)


# -- the merge ------------------------------------------------------------------------------------


def _plan(ground: Ground, spread: Spread, candidate: Candidate, sight: Sight, judge: Judge) -> Result:
    """The commit that main would be, made and not yet moved to; or why there is none."""
    main, tip, bases = sight.main, sight.tip, sight.bases
    if sight.is_on_main:
        return Landed(main, ground.history.tree_of(main), NOTHING, main=ground.branch)
    forbidden = _forbidden(ground, candidate, sight, judge)
    if forbidden is not None:
        return forbidden
    if bases == [main] and candidate.task is None:
        files, _ = ground.history.changed(main, tip)
        return Landed(tip, ground.history.tree_of(tip), FAST_FORWARD, main=ground.branch, files=files)
    labels = Labels(ground.branch, "base", candidate.branch)
    report = merge_two_trees(ground.trees, ground.history.base_of(bases), main, tip, labels, spread)
    conflicts = landing.conflicts_of(report) or _folded(ground, main, report["tree"])
    if conflicts:
        files = sorted({conflict["path"] for conflict in conflicts})
        return SentBack(landing.tell_conflicts(ground.branch, conflicts), files, conflicts)
    return _merged(ground, candidate, main, tip, report["tree"], report.get("commands", ()))


def _forbidden(ground: Ground, candidate: Candidate, sight: Sight, judge: Judge) -> SentBack | None:
    """The gate once more: git's own hooks can be switched off, and some clients do."""
    paths, _ = ground.history.changed(ground.history.base_of(sight.bases), sight.tip)
    findings = judge(candidate.agent, paths)
    if not findings:
        return None
    conflicts = [
        {"path": finding.path, "kind": finding.kind, "text": finding.refusal.what} for finding in findings
    ]
    why = f"it changes what {candidate.agent or 'its author'} may not change: {tell(findings)}"
    return SentBack(why[: landing.MOST_WHY], [finding.path for finding in findings], conflicts)


def _folded(ground: Ground, main: str, tree: str) -> list[dict[str, Any]]:
    """Two names that are one file on this file system: git merges them, and checks out only one."""
    paths = ground.history.folded_paths(tree)
    twins = landing.folded_twins(paths, ground.history.changed(main, tree)[1]) if paths else []
    return [
        {"path": new, "kind": "case", "paths": [old, new], "text": f"{old} differs from it only in case"}
        for old, new in twins
    ]


def _merged(
    ground: Ground, candidate: Candidate, main: str, tip: str, tree: str, commands: Sequence[str]
) -> Landed:
    author, others = landing.authors_of(ground.history.authors(main, tip))
    task = candidate.task
    words = landing.message(
        task=show_id(task.id) if task is not None else "",
        title=task.title if task is not None else "",
        branch=candidate.branch,
        agent=candidate.agent,
        co_authors=others,
    )
    commit = ground.commit(tree, [main, tip], words, author)
    files, _ = ground.history.changed(main, tree)
    notes = [f"then run {command}" for command in commands]
    return Landed(commit, tree, MERGE, main=ground.branch, files=files, notes=notes)


# -- the task -------------------------------------------------------------------------------------


def _known(view: View, number: int) -> Task:
    task = view.get(TASK, (number,))
    if task is None:
        raise refusals.not_found("task", show_id(number), "lineclear task list")
    if task.state not in (TAKEN, HANDED_OVER, MERGED):
        raise refusals_tasks.task_wrong_state(show_id(number), task.state, "land")
    return task


def _branch_of(task: Task | None, branch: str) -> str:
    handed = task.branch if task is not None and task.state != TAKEN else ""
    if task is not None and handed and branch and branch != handed:
        raise refusals_landing.other_branch(show_id(task.id), handed, branch)
    return handed or branch


def end_landed(store: Store, caller: Caller, candidate: Candidate, landed: Landed) -> bool:
    """Exactly one end: True if this call ended the task; a repeat finds it ended and changes nothing."""

    def work(tx: Tx) -> bool:
        ensure_agent(tx, caller)
        ended = False
        if candidate.task is not None:
            task = _still_pending(tx, candidate.task)
            if task is not None:
                text = f"landed on {landed.main} as {landed.commit[:12]}"
                tx.append(Draft("TaskNoted", show_id(task.id), id=task.id, text=text))
                tx.append(Draft("TaskMerged", show_id(task.id), id=task.id))
                ended = True
        _release(tx, candidate)
        return ended

    return store.transact(caller, work) if candidate.task is not None else False


def _release(tx: Tx, candidate: Candidate) -> None:
    """What was held for the task is free: the work it guarded is on main."""
    for claim in tx.scan(CLAIM, "key"):
        if candidate.task is not None and claim.task == candidate.task.id:
            tx.append(claim_released(claim, "landed"))


def _send_back(store: Store, caller: Caller, task: Task, why: str) -> None:
    def work(tx: Tx) -> None:
        ensure_agent(tx, caller)
        current = _still_pending(tx, task)
        if current is not None:
            tx.append(give_back(current, why))

    store.transact(caller, work)


def _still_pending(view: View, task: Task) -> Task | None:
    """The task as it is now, if nobody ended, returned or took it again meanwhile."""
    current = view.get(TASK, (task.id,))
    is_same = current is not None and current.state == HANDED_OVER and current.attempt == task.attempt
    return current if is_same else None
