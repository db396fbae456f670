"""The only supervisor of a clone: its lock, its status, and requests from other processes."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

from lineclear.app.runs import records
from lineclear.app.runs.board import board
from lineclear.app.runs.supervisor import Supervisor
from lineclear.app.runs.worker_names import own_names
from lineclear.app.runs.workers import CLOSED
from lineclear.app.tasks import list_ready
from lineclear.core.instants import show_wall
from lineclear.core.log.tables import RUN
from lineclear.core.runs.states import ENDED
from lineclear.core.words.computed.runs import supervisor_running
from lineclear.core.words.refusals import Refusal, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from lineclear.app.ports import Caller, Store
    from lineclear.app.runs.ports import (
        ClientStarter,
        EarlierRuns,
        RunBond,
        SupervisorHost,
        SupervisorStatus,
    )
    from lineclear.app.runs.run_news import RunNews
    from lineclear.app.runs.workers import SupervisorRules, WorkerSlot

STATUS_EVERY_NS = 1_000_000_000


class Supervision:
    """`hold` takes the supervisor's lock. Refuses while another process has it."""

    def __init__(
        self,
        store: Store,
        clients: ClientStarter,
        traces: EarlierRuns,
        status: SupervisorStatus,
        *,
        hold: Callable[[], RunBond],
        is_running: Callable[[], bool],
        grace_s: float,
    ) -> None:
        self._store, self._clients, self._traces, self._status = store, clients, traces, status
        self._hold, self.is_running, self._grace_s = hold, is_running, grace_s

    def supervise(
        self,
        caller: Caller,
        slots: list[WorkerSlot],
        rules: SupervisorRules,
        host: AbstractContextManager[SupervisorHost],
        *,
        since_ns: int,
        scope: str,
        require_trust: Callable[[Sequence[str]], None],
        require_room: Callable[[int], None],
        tell: Callable[[RunNews], None],
        show: Callable[[list[dict[str, Any]]], None],
    ) -> Supervisor:
        """Run until nothing more can be done. `tell` gets each piece of news, `show` the board every second.

        `scope`: the clone's prefix of worktree names in a team's store, else "". `require_trust` refuses
        untrusted commands in these settings; `require_room` refuses if the disk has no room for so many
        worktrees.
        """
        names = sorted({slot.agent.rpartition("-")[0] for slot in slots})
        require_trust(["worktrees", "checks", *(f"workers.{name}" for name in names)])
        ready = len(self._store.read(lambda view: list_ready(view, limit=len(slots))))
        count = min(ready, sum(slot.has_worktree for slot in slots))
        if count:
            require_room(count)
        try:
            bond = self._hold()
        except Refusal as refusal:
            found = self.read_status() or {"pid": 0, "since": "", "agents": []}
            raise supervisor_running(found["pid"], found["since"], len(found["agents"])) from refusal
        try:
            for slot, name in zip(
                slots, own_names(self._store, [s.agent for s in slots], scope), strict=True
            ):
                slot.agent = name
            with host as opened:
                shown = _StatusWriter(self._status, slots, show_wall(since_ns), show)
                supervisor = Supervisor(self._store, caller, opened, slots, rules, tell, shown.look)
                try:
                    supervisor.run()
                finally:
                    self._status.remove()
        finally:
            bond.release()
        return supervisor

    # -- from another process ---------------------------------------------------------------------

    def read_status(self) -> dict[str, Any] | None:
        """What the live supervisor last wrote about its agents; None if no supervisor runs."""
        return self._status.read() if self.is_running() else None

    def saved_trees(self) -> set[str]:
        """The worktrees that this clone's supervisor saves; none after its death, though its agents may go
        on working."""
        if not self.is_running():
            return set()
        runs = self._store.read(records.live_runs)
        return {run.tree for run in runs if run.tree and self._traces.is_of_this_clone(run)}

    def ask_and_wait(self, caller: Caller, agent: str, what: str, wait_s: float = 30) -> dict[str, Any]:
        """Ask an agent to stop, pause or resume, and wait until its supervisor has done it.

        Without a supervisor, signal the agent from here; the next `lineclear run` ends its run in the log.
        """
        answer = records.ask(self._store, caller, agent, what)
        number = answer["run"]["id"]
        if not self.is_running():
            return self._signal(agent, number, what)
        deadline = time.monotonic() + wait_s
        with self._store.listen() as bell:
            while time.monotonic() < deadline:
                run = self._store.read(lambda view: view.get(RUN, (number,)))
                if run is None or run.state == ENDED or not run.asked:
                    words = f"{agent}: {run.how or run.state}" if run is not None else agent
                    return {**answer, "is_done": True, "words": words}
                bell.wait(1)
        return {
            **answer,
            "is_done": False,
            "words": f"{agent} was asked to {what}; its supervisor has not answered.",
        }

    def _signal(self, agent: str, number: int, what: str) -> dict[str, Any]:
        run = self._store.read(lambda view: view.get(RUN, (number,)))
        if run is None or not self._traces.is_of_this_clone(run):
            raise refuse("run.none")
        group = self._clients.find_again(run)
        if what in (records.STOP, records.STOP_HARD):
            group.sweep(0 if what == records.STOP_HARD else self._grace_s)
        else:
            group.send(signal.SIGSTOP if what == records.PAUSE else signal.SIGCONT)
        words = f"{agent} was asked to {what}. There is no supervisor; `lineclear run` takes over from here."
        return {"run": records.show_run(run), "asked": what, "is_done": True, "words": words}


class _StatusWriter:
    """Keeps the status up to date for `--join`, `status` and the web page. It is a hint; the log counts."""

    def __init__(
        self,
        status: SupervisorStatus,
        slots: list[WorkerSlot],
        since: str,
        show: Callable[[list[dict[str, Any]]], None],
    ) -> None:
        self._status, self._slots, self._show, self._since, self._at_ns = status, slots, show, since, 0

    def look(self, now_ns: int) -> None:
        if now_ns - self._at_ns < STATUS_EVERY_NS:
            return
        self._at_ns = now_ns
        lines = board([slot for slot in self._slots if slot.phase != CLOSED or slot.live is not None], now_ns)
        self._status.write({"since": self._since, "agents": lines})
        self._show(lines)
