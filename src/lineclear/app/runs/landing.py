"""Bring a run's work to main: check it, hand it to the queue, and restore main if an agent moved it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.queue import candidates
from lineclear.app.runs.records import live_runs
from lineclear.app.runs.workers import HANDED_OVER, LANDED, NEEDS_YOU, CheckedRun, LandingResult, QueueResult
from lineclear.core.log.tables import WORKTREE, split_names
from lineclear.core.queue.landing_results import NeedsYou
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.ports import Caller, Store
    from lineclear.app.queue.runner import QueueNews
    from lineclear.app.runs.outputs import Deliveries
    from lineclear.app.runs.ports import MainBranch, ReturnedWorkPort, RunQueue, RunWorktrees
    from lineclear.app.runs.workers import RunPlace
    from lineclear.core.log.tables import Run, Task
    from lineclear.core.queue.landing_results import Stray


class RunLanding:
    """`strayed`: the agents that moved main themselves, and what was done about it; shared by all threads of
    a supervisor."""

    def __init__(
        self,
        store: Store,
        deliveries: Deliveries,
        queue: RunQueue,
        main: MainBranch,
        returned: ReturnedWorkPort,
        worktrees: RunWorktrees,
        *,
        lands: bool,
        strayed: dict[str, str],
    ) -> None:
        self._store, self._deliveries, self._queue, self._main = store, deliveries, queue, main
        self._returned, self._worktrees, self._lands, self._strayed = returned, worktrees, lands, strayed

    def check(self, caller: Caller, task: Task, run: Run, place: RunPlace) -> CheckedRun:
        if not place.tree:
            found = self._deliveries.deliver_without_tree(task, agent=caller.name, since=run.id)
            result = ", ".join(split_names(task.produces)) or f"by {caller.name}"
            return CheckedRun(found.how, found.reason, result=result, notes=found.notes)
        self._returned.end_sync(caller, place.path)
        found = self._deliveries.deliver(
            task,
            agent=caller.name,
            path=place.path,
            branch=place.branch,
            since=run.id,
            env=place.env,
            has_queue=self._lands,
        )
        return CheckedRun(found.how, found.reason, branch=found.branch, notes=found.notes)

    def land(self, caller: Caller, task: Task, branch: str) -> LandingResult:
        if not self._lands:
            return LandingResult(HANDED_OVER)
        self._see_stray()
        name = self._queue.submit(caller, branch, task.id)
        return LandingResult(HANDED_OVER, f"it waits as {name}", candidate=int(name.removeprefix("Q-")))

    def submit_again(self, caller: Caller) -> dict[int, str]:
        return self._queue.submit_again(caller)

    def run_queue(
        self, caller: Caller, is_over: Callable[[], bool], tell: Callable[[QueueResult], None]
    ) -> int | None:
        def pass_on(news: QueueNews) -> None:
            if not news.candidate:
                tell(QueueResult(0, 0, LandingResult(NEEDS_YOU, news.text)))
                return
            row = self._store.read(lambda view: candidates.known(view, news.candidate))
            if news.kind == LANDED:
                self._discard(caller, row.branch)
            tell(QueueResult(row.id, row.task, LandingResult(news.kind, row.reason, row.commit)))

        try:
            return self._queue.run_once(caller, pass_on, is_over)
        except Refusal as refusal:
            if refusal.code != "queue.running":
                raise
            return None

    def _discard(self, caller: Caller, branch: str) -> None:
        """Remove the worktree whose work has landed, unless an agent is working there again."""
        rows = self._store.read(lambda view: view.scan(WORKTREE, "key"))
        live = {run.tree for run in self._store.read(live_runs)}
        for row in rows:
            if row.branch == branch and row.name not in live:
                try:
                    self._worktrees.discard(caller, row.name, "landed")
                except Refusal:
                    pass  # it holds uncommitted work and stays for a person

    def returned(self, task: Task, place: RunPlace) -> str:
        return self._returned.tell(task, place.path)

    def main_name(self) -> str:
        return self._main.name()

    def settle(self, caller: Caller) -> list[str]:
        return self._queue.settle(caller, lands=self._lands)

    def strays(self, agents: Sequence[str], *, is_end: bool = False) -> list[tuple[str, str]]:
        stray = self._see_stray()
        if stray is not None and stray.agent in agents:
            words = self._put_back(stray)
            if stray.agent in self._strayed:
                self._strayed[stray.agent] = words
        found = [(agent, self._strayed.get(agent, "")) for agent in agents]
        for agent in agents if is_end else ():
            self._strayed.pop(agent, None)
        return [(agent, words) for agent, words in found if words]

    def _see_stray(self) -> Stray | None:
        """Find an agent that moved main, and note it before main is restored: its run may be ending now."""
        stray = self._main.find_stray()
        if stray is not None:
            self._strayed.setdefault(stray.agent, "main is being put back")
        return stray

    def _put_back(self, stray: Stray) -> str:
        kept = self._main.restore(stray)
        if not isinstance(kept, NeedsYou):
            return f"main was put back, its commits are at {kept}"
        if self._main.find_stray() is None:  # by another thread, or by a landing
            return "main was put back"
        return f"it could not be put back: {kept.why}"
