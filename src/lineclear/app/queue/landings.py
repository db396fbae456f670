"""Landings: submit a branch, run the queue, and report what became of a candidate.

A process that waits for a candidate runs the queue itself while no other process does. runner.py builds and
checks the stack; runner_turns.py decides which process may run the queue.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.queue import candidates as queue
from lineclear.app.queue import overview
from lineclear.app.queue.reviewing import has_unreviewed, review_waiting
from lineclear.app.queue.runner import QueueNews, Runner
from lineclear.app.queue.trial_landing import check_branch
from lineclear.app.worktrees.rows import agent_on
from lineclear.core.log.tables import TASK, WORKTREE
from lineclear.core.queue.candidates import BY_CONFLICT, LANDED, LIVE, SENT_BACK, STOPPED, WAITING
from lineclear.core.queue.landing_results import LINEAR, MERGE, NOTHING, Landed, NeedsYou, SentBack, made_in
from lineclear.core.store_outages import passes_by_itself
from lineclear.core.tasks.states import HANDED_OVER, MERGED, OPEN, TAKEN, show_id
from lineclear.core.words.refusals import Refusal, not_found, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from lineclear.app.ports import Caller, Store, View
    from lineclear.app.queue.ports import LandingGit, QueueTools
    from lineclear.app.queue.runner import QueueRules
    from lineclear.app.queue.runner_turns import Turns
    from lineclear.app.queue.trial_landing import BranchCheck
    from lineclear.core.log.tables import Candidate, Task

    Result = Landed | SentBack | NeedsYou
    Tell = Callable[[QueueNews], None]

SUBMITTED, FAILED = "submitted", "failed"
WAIT_S, DELAY_S, SETTLE_S = 0.5, 2.0, 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateChange:
    """What a candidate changes, or has changed, on main: the difference between `base` and `result`. With
    `conflicts` it does not merge, and the difference is that of its own branch."""

    base: str
    result: str
    conflicts: list[dict[str, Any]]


class Landings:
    """The queue of one repository. `clock` counts seconds."""

    def __init__(
        self, store: Store, turns: Turns, open_tools: Callable[[], AbstractContextManager[QueueTools]], *,
        tree: str, clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self._store, self.turns = store, turns
        self._open_tools, self._tree, self._clock = open_tools, tree, clock

    # -- run --------------------------------------------------------------------------------------

    @contextmanager
    def open_runner(self, caller: Caller, tell: Tell) -> Iterator[Runner]:
        """A runner with its git and its check trees, for a caller that holds the turn."""
        with self._open_tools() as tools, self._runner(tools, caller, tell) as runner:
            yield runner

    @contextmanager
    def _runner(self, tools: QueueTools, caller: Caller, tell: Tell) -> Iterator[Runner]:
        def pass_on(news: QueueNews) -> None:
            if news.kind in ("landed", "sent back"):
                self._forget(tools, news.candidate)
            tell(news)

        with tools.open_checks(_rules_of(tools).workers) as checks:
            yield Runner(self._store, caller, tools.git, checks, tools.rules, pass_on)

    def run_once(
        self, caller: Caller, *, tell: Tell = lambda _: None, wait_s: float = 0.0,
        is_over: Callable[[], bool] = lambda: False,
    ) -> int:  # fmt: skip
        """Run until nothing more can be done, or `is_over`. Returns the log position that was reached."""
        with self._open_tools() as tools:
            return self._run_once(tools, caller, tell=tell, wait_s=wait_s, is_over=is_over)

    def _run_once(
        self, tools: QueueTools, caller: Caller, *, tell: Tell, is_over: Callable[[], bool],
        wait_s: float = 0.0,
    ) -> int:  # fmt: skip
        with self.turns.take(wait_s) as turn:

            def stop() -> bool:
                return is_over() or not turn.keep()

            while True:
                is_more, seen = self._round(tools, caller, tell, stop)
                if not is_more or stop():
                    return seen

    def run(self, caller: Caller, *, tell: Tell, is_over: Callable[[], bool]) -> None:
        """Run the queue until `is_over`, or until another machine takes the turn."""
        with self.turns.take() as turn, self._store.listen() as ear:

            def stop() -> bool:
                return is_over() or not turn.keep()

            while not stop():
                with self._open_tools() as tools:
                    self._round(tools, caller, tell, stop, ear.wait)

    def _round(
        self, tools: QueueTools, caller: Caller, tell: Tell, stop: Callable[[], bool],
        wait: Callable[[float], object] | None = None,
    ) -> tuple[bool, int]:  # fmt: skip
        """Let the review command work, then the runner, then what follows a landing. Returns (did that submit
        new work?, the log position up to which nothing more can be done).

        Without `wait` the runner returns when nothing more can be done; with it, it waits for more and
        returns when there is a review or a follow-up to do.
        """
        self._review(tools, caller, tell=tell, is_over=stop)
        landed: list[dict[str, Any]] = []

        def hear(news: QueueNews) -> None:
            if news.row is not None:
                landed.append(queue.show_brief(news.row))
            tell(news)

        with self._runner(tools, caller, hear) as runner:

            def is_over() -> bool:
                rules = _rules_of(tools)
                has_other_work = bool(landed) or (
                    bool(rules.reviewer) and has_unreviewed(self._store, rules.review)
                )
                return stop() or (has_other_work and not runner.is_busy)

            if wait is None:
                runner.run_once(stop)
            else:
                runner.run(is_over, wait)
        try:
            followed = tools.follow_up(caller, landed) if landed else None
        except Refusal as refusal:  # the landing itself stays
            tell(QueueNews("warned", 0, f"after the landing: {refusal.what}"))
            return False, runner.seen
        if followed is not None and followed["result"] == FAILED:
            tell(QueueNews("warned", 0, f"after the landing: {followed['why']}"))
        return followed is not None and followed["result"] == SUBMITTED, runner.seen

    def review_waiting(
        self, caller: Caller, *, is_over: Callable[[], bool] = lambda: False, tell: Tell = lambda _: None
    ) -> list[int]:
        """Run the review command on each candidate that waits for it; see reviewing.py."""
        with self._open_tools() as tools:
            return self._review(tools, caller, tell=tell, is_over=is_over)

    def _review(
        self, tools: QueueTools, caller: Caller, *, tell: Tell, is_over: Callable[[], bool]
    ) -> list[int]:
        review = _rules_of(tools).review
        return review_waiting(
            self._store, tools, caller, review=review, tree=self._tree, is_over=is_over, tell=tell
        )

    # -- submit and wait --------------------------------------------------------------------------

    def submit(
        self, caller: Caller, *, branch: str, task: int = 0, agent: str = "", after: Sequence[int] = (),
        priority: int = 0,
    ) -> dict[str, Any]:  # fmt: skip
        """Submit the branch as it is now. Refused if it cannot land or holds nothing new."""
        with self._open_tools() as tools:
            return self._submit(
                tools, caller, branch=branch, task=task, agent=agent, after=after, priority=priority
            )

    def _submit(
        self, tools: QueueTools, caller: Caller, *, branch: str, task: int, agent: str, after: Sequence[int],
        priority: int,
    ) -> dict[str, Any]:  # fmt: skip
        git = tools.git
        row, waiting, owner = self._store.read(
            lambda view: (_task(view, task), queue.live(view), agent_on(view, branch))
        )
        if task:
            check_task(row, task)
        git.main()  # first undoes what an agent put on main itself
        notes = git.take_notes()
        try:
            main, tip = git.ends_of(branch)
        except Refusal as refusal:
            if refusal.code == "branch.unknown" and row is not None and row.state == HANDED_OVER:
                raise self._store.read(lambda view: _elsewhere(view, row)) from refusal
            raise
        bases = git.bases(main, tip)
        if not bases:
            raise refuse("land.unrelated", branch=branch, main=git.branch)
        # If the work of a handed-over task is on main already, the task only has to end.
        if bases == [tip] and not (row is not None and row.state == HANDED_OVER):
            raise refuse("land.nothing", branch=branch, main=git.branch, task=show_id(task) if task else "")
        others = [other for other in waiting if other.tip != tip and other.branch != branch]
        own = git.own(main, tip) if others else []
        on = [other.id for other in others if other.tip in own]
        # Before the candidate is in the log: any machine that runs the queue must find its commit.
        tools.kept.keep(tip)
        # An agent that submits a branch of nobody's counts as its author.
        author = agent or owner or ("" if caller.is_person else caller.name)
        found = queue.submit(
            self._store, caller, queue.SubmittedBranch(branch, tip, main, on), task=task, agent=author,
            after=after, priority=priority,
        )  # fmt: skip
        return {**found, "notes": notes}

    def settle(self, caller: Caller, *, lands: bool) -> list[str]:
        """Recover after a crash: repair a half-moved tree and finish landings; if `lands`, submit every
        handed-over task and land what needs no check. Returns the tasks that have left "handed over"."""
        before = {row.id for row in self._store.read(_handed_over)}
        if lands:
            self.submit_again(caller)
        try:
            with self._open_tools() as tools:
                if lands and not self._has_to_wait(tools):
                    self._run_once(tools, caller, tell=lambda _: None, is_over=lambda: False, wait_s=SETTLE_S)
                else:
                    with self.turns.take(SETTLE_S), self._runner(tools, caller, lambda _: None) as runner:
                        runner.settle()
        except Refusal as refusal:
            if refusal.code != "queue.running":
                raise
            # Another process runs the queue, and it settles landings in every round.
        after = {row.id for row in self._store.read(_handed_over)}
        return [show_id(number) for number in sorted(before - after)]

    def submit_again(self, caller: Caller) -> dict[int, str]:
        """Submit every handed-over task without a candidate. Returns the tasks that cannot be submitted now,
        and why; not those whose branch is gone or in another clone, or that have ended since."""
        left = {}
        for row in self._store.read(_stranded):
            try:
                self.submit(caller, branch=row.branch, task=row.id, agent=row.agent)
            except Refusal as refusal:
                if passes_by_itself(refusal) or refusal.code == "git.failed":
                    left[row.id] = refusal.what
        return left

    def _forget(self, tools: QueueTools, number: int) -> None:
        """Drop our ref to an ended candidate's commit, unless a live candidate has the same commit."""

        def look(view: View) -> tuple[Candidate, bool]:
            row = queue.known(view, number)
            return row, any(other.tip == row.tip for other in queue.live(view))

        row, is_wanted = self._store.read(look)
        if not is_wanted:
            tools.kept.forget(row.tip, is_landed=row.state == LANDED)

    def _has_to_wait(self, tools: QueueTools) -> bool:
        """Must a check or a review happen between a submission and its landing?"""
        main = tools.git.known_main()
        return bool(tools.stated_checks(main)) or tools.rules(main).review != "none"

    def land(
        self, caller: Caller, *, branch: str, task: int = 0, agent: str = "", after: Sequence[int] = (),
        priority: int = 0, wait_s: float | None = -1.0, tell: Tell = lambda _: None,
    ) -> tuple[dict[str, Any], Result | None]:  # fmt: skip
        """Submit, then wait until the candidate has ended, running the queue while no other process does.

        `wait_s` < 0: wait as long as it takes; 0: not at all; None: as long as it takes, but not at all if a
        check or a review must come first. The result is None while the candidate waits; `has_waited` says
        whether this call waited for it. Calling it again is harmless: a branch that is on main already, with
        no task or a merged one, is answered without a new candidate.
        """
        with self._open_tools() as tools:
            git = tools.git
            is_patient = wait_s is not None
            if wait_s is None:
                wait_s = 0.0 if self._has_to_wait(tools) else -1.0
            try:
                found = self._submit(
                    tools, caller, branch=branch, task=task, agent=agent, after=after, priority=priority
                )
            except Refusal as refusal:
                if refusal.code != "land.nothing" or (task and not self._is_merged(task)):
                    raise
                main = git.known_main()
                nothing = {
                    "candidate": "", "is_new": False, "renewed": False, "notes": [], "has_waited": False
                }  # fmt: skip
                return nothing, Landed(main, git.tree_of(main), NOTHING, main=git.branch)
            number = int(found["candidate"][2:])
            if wait_s != 0:
                self._wait_for(tools, caller, number, wait_s, tell, is_patient=is_patient)
            result = self._result_of(git, number)
            if isinstance(result, Landed):
                result.notes += found["notes"]
            return {**found, "has_waited": wait_s != 0}, result

    def _wait_for(
        self, tools: QueueTools, caller: Caller, number: int, wait_s: float, tell: Tell, *, is_patient: bool
    ) -> None:
        """Wait until the candidate has ended, the time is over, or the queue can do no more for it now.
        `is_patient`: also until claims end that it waits for."""
        end_at_s = self._clock() + wait_s if wait_s >= 0 else float("inf")
        ended: set[int] = set()

        def hear(news: QueueNews) -> None:
            if news.kind in ("landed", "sent back"):
                ended.add(news.candidate)
            tell(news)

        def is_over() -> bool:
            if number in ended or self._clock() >= end_at_s:
                return True
            return self._store.read(lambda view: queue.known(view, number)).state not in LIVE

        again_at_s = 0.0
        with self._store.listen() as ear:
            while True:
                try:
                    self._run_once(tools, caller, tell=hear, is_over=is_over)
                    if not is_patient or not self._store.read(lambda view: _is_delayed(view, number)):
                        return  # ended; or it, or one before it, is held, unreviewed or stopped
                    again_at_s = self._clock() + DELAY_S
                except Refusal as refusal:
                    if refusal.code != "queue.running":
                        raise
                if is_over():
                    return
                tools.git.close()  # not needed while another process runs the queue, or a claim lasts
                ear.wait(WAIT_S)
                while self._clock() < again_at_s:  # our own turn rings the bell too
                    ear.wait(WAIT_S)

    def _is_merged(self, task: int) -> bool:
        row = self._store.read(lambda view: _task(view, task))
        return row is not None and row.state == MERGED

    # -- look -------------------------------------------------------------------------------------

    def result_of(self, number: int) -> Result | None:
        """How a candidate ended; None while it waits."""
        with self._open_tools() as tools:
            return self._result_of(tools.git, number)

    def _result_of(self, git: LandingGit, number: int) -> Result | None:
        row, below, last = self._store.read(lambda view: _last_known(view, number))
        files = last.get("files", [])
        if row.state == LANDED:
            how = str(last.get("how", ""))
            files, commit = git.landed_change(below, row.commit)
            notes = [f"regenerated: {words}" for words in made_in(commit)] if how in (MERGE, LINEAR) else []
            return Landed(row.commit, git.tree_of(row.commit), how, main=git.branch, files=files, notes=notes)
        if row.state == SENT_BACK:
            return SentBack(row.reason, files, _conflicts(git, row) if row.kind == BY_CONFLICT else [])
        return NeedsYou(row.reason, files) if row.state == STOPPED else None

    def check(
        self, caller: Caller, *, branch: str, task: int = 0, agent: str = "", runs_checks: bool = False
    ) -> BranchCheck:
        """A dry run of landing; see checking.py."""
        with self._open_tools() as tools:
            return check_branch(
                self._store, tools, caller, branch=branch, task=task, agent=agent, runs_checks=runs_checks
            )

    def overview(self, *, ended: int = 0) -> dict[str, Any]:
        """The queue for people, with the time left as estimated from earlier checks."""
        with self._open_tools() as tools:
            main = tools.git.known_main()
            stated, rules = tools.stated_checks(main), tools.rules(main)
        commands = [check.command for check, place in stated if place is None]
        at_once = rules.batch * rules.workers
        return self._store.read(
            lambda view: overview.overview(
                view, review=rules.review, commands=commands, at_once=at_once, ended=ended
            )
        )

    def change_of(self, number: int) -> CandidateChange:
        row, below, task = self._store.read(lambda view: _row_and_below(view, number))
        if row.state == LANDED:
            return CandidateChange(base=below or row.commit, result=row.commit, conflicts=[])
        with self._open_tools() as tools:
            main = tools.git.known_main()
            level = tools.git.level(main, row, task)
            if level.fits:
                return CandidateChange(base=main, result=level.commit, conflicts=[])
            base = tools.git.chain(row, main)[0]
            return CandidateChange(base=base, result=row.tip, conflicts=level.conflicts)


def _rules_of(tools: QueueTools) -> QueueRules:
    """The rules that main states now."""
    return tools.rules(tools.git.known_main())


# -- rows -----------------------------------------------------------------------------------------


def check_task(row: Task | None, number: int) -> None:
    """Refuse a task that does not exist, or is neither taken, handed over nor merged."""
    if row is None:
        raise not_found("task", show_id(number), "lineclear task list")
    if row.state not in (TAKEN, HANDED_OVER, MERGED):
        raise refuse("task.state", task=show_id(number), state=row.state, verb="land")


def require_task(view: View, number: int) -> None:
    """Refuse a task that does not exist, or is neither taken, handed over nor merged."""
    check_task(_task(view, number), number)


def taken_task(view: View, number: int) -> Task | None:
    """The task, if an agent works on it now."""
    row = _task(view, number)
    return row if row is not None and row.state == TAKEN else None


def branch_of_task(view: View, number: int) -> str:
    """The branch with which a task was handed over; "" if it was not, or has gone back since."""
    row = _task(view, number)
    return row.branch if row is not None and row.state in (HANDED_OVER, MERGED) else ""


def task_on(view: View, branch: str) -> Task | None:
    """The task that the branch is the work for: handed over with it, or taken, with a worktree made for it
    that has the branch."""
    handed_over = next((row for row in _handed_over(view) if row.branch == branch), None)
    if handed_over is not None:
        return handed_over
    made_for = [tree.task for tree in view.scan(WORKTREE, "key") if tree.branch == branch]
    return next((row for number in made_for if (row := taken_task(view, number)) is not None), None)


def returned_task(view: View, branch: str, agent: str) -> Task | None:
    """The task for which the agent's worktree with this branch was made, if it has gone back and nobody has
    taken it since."""
    own = [tree.task for tree in view.scan(WORKTREE, "key") if tree.branch == branch and tree.agent == agent]
    rows = (_task(view, number) for number in own)
    return next((row for row in rows if row is not None and row.state == OPEN and row.attempt), None)


def _is_delayed(view: View, number: int) -> bool:
    row = queue.known(view, number)
    return row.state == WAITING and bool(row.reason)


def _task(view: View, number: int) -> Task | None:
    return view.get(TASK, (number,)) if number else None


def _stranded(view: View) -> list[Task]:
    """The handed-over tasks that are not in the queue."""
    return [task for task in _handed_over(view) if queue.live_on(view, task.branch) is None]


def _elsewhere(view: View, task: Task) -> Refusal:
    """The refusal of a finished task whose branch is in another clone."""
    path = next((row.path for row in view.scan(WORKTREE, "key") if row.branch == task.branch), "")
    return refuse("branch.elsewhere", branch=task.branch, task=show_id(task.id), agent=task.agent, path=path)


def _handed_over(view: View) -> list[Task]:
    found = [task for task in view.scan(TASK, "ready", (HANDED_OVER,)) if task.branch]
    return sorted(found, key=lambda task: (task.priority, task.id))


def _row_and_below(view: View, number: int) -> tuple[Candidate, str, Task | None]:
    """(the candidate, the commit it landed on or "", its task)."""
    row = queue.known(view, number)
    return row, overview.below_of(view, row) if row.state == LANDED else "", _task(view, row.task)


def _last_known(view: View, number: int) -> tuple[Candidate, str, dict[str, Any]]:
    """(the candidate, the commit it landed on or "", the data of its last event)."""
    row, below, _ = _row_and_below(view, number)
    return row, below, queue.show(view, number)["history"][-1]


def _conflicts(git: LandingGit, row: Candidate) -> list[dict[str, Any]]:
    """Merge again to find the conflicts: the log only keeps the files."""
    try:
        return git.level(git.main(), row, None).conflicts
    except Refusal:
        return []
