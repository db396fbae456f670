"""A stage for the supervisor: its store is in memory, its clients are played, its time is moved by hand.

Jobs are done at once when the supervisor waits; with nothing to do, waiting takes a quarter of a second of
the stage's own time. What happens when is said beforehand: `stage.at(3_000, act)`.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.app.runs.run_news import RunNews
from lineclear.app.runs.supervisor import Supervisor
from lineclear.app.runs.workers import (
    LANDED,
    CheckedRun,
    LandingResult,
    QueueResult,
    RunPlace,
    RunSnapshot,
    SupervisorRules,
    WorkerSlot,
)
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import RUN, TASK, Run, Task
from lineclear.core.runs import ends
from lineclear.core.runs.budgets import BudgetLimits
from lineclear.core.runs.client_events import RunEnd, Sign
from lineclear.core.tasks.lists import TaskDraft
from lineclear.core.tasks.states import HANDED_OVER, show_id
from lineclear.core.words.refusals import Refusal
from tests.world import World

PERSON = Caller("anna", is_person=True)
ROUND_MS, MOST_ROUNDS = 250, 20_000


class Played:
    """A client: alive until the test, or a signal, ends it."""

    def __init__(self, stage: Stage, pid: int, *, is_deaf: bool = False) -> None:
        self.pid, self.code, self.is_deaf = pid, None, is_deaf
        self.signals: list[tuple[int, int]] = []
        self.signs: list[Sign] = []
        self.busy_ns = self.memory_bytes = self.disk_bytes = self.written_bytes = 0
        self.has_tree = True
        self.end = RunEnd(True)
        self._stage, self.is_ours = stage, True

    code: int | None

    def finish(self, code: int = 0) -> None:
        self.code = code

    def exit_code(self) -> int | None:
        return self.code

    def is_child(self) -> bool:
        return self.is_ours

    def was_started(self) -> bool:
        return True

    def has_ended(self) -> bool:
        return self.code is not None

    def new_lines(self) -> list[bytes]:
        return [b"x"] if self.signs else []

    def last_words(self, _most_bytes: int = 0) -> Iterable[bytes]:
        return self.new_lines()

    def output_bytes(self) -> int:
        return self.written_bytes

    def send(self, number: int) -> int:
        self.signals.append((self._stage.passed_ms, number))
        if self.code is None and (
            number == signal.SIGKILL or (number == signal.SIGTERM and not self.is_deaf)
        ):
            self.code = 128 + number
        return 1

    def sweep(self, _grace_s: float) -> int:
        return 0

    # -- as its own reader ------------------------------------------------------------------------

    def feed(self, _line: bytes) -> list[Sign]:
        signs, self.signs = self.signs, []
        return signs

    def finish_reading(self) -> RunEnd:
        return self.end

    def told(self, number: int) -> list[int]:
        """When it got this signal, in ms."""
        return [at_ms for at_ms, sent in self.signals if sent == number]


class Reading:
    """Whatever the client was told to show."""

    def __init__(self, played: Played) -> None:
        self._played = played

    def feed(self, line: bytes) -> list[Sign]:
        return self._played.feed(line)

    def finish(self, _exit_code: int | None) -> RunEnd:
        return self._played.finish_reading()


class Stage:
    """Everything around one supervisor; as the ground of its jobs, too."""

    def __init__(self) -> None:
        self.world = World()
        self.store, self.liveness, self.presence = self.world.store, self.world.liveness, self.world.presence
        self.trees = self.snapshots = self.landing = self.clients = self.traces = _Props(self)
        self.scope = ""
        self.news: list[RunNews] = []
        self.clients_of: dict[int, list[Played]] = {}
        self.agents_of: dict[int, list[str]] = {}
        self.saves: list[tuple[int, str]] = []
        self.delays: dict[str, int] = {}
        self.strays_found: list[tuple[str, str]] = []
        self.free_bytes = 1 << 40
        self.refuse: Callable[[WorkerSlot, int], None] = lambda _slot, _task: None
        self.refuse_recovery: Exception | None = None
        self.refuse_place: Callable[[], None] = lambda: None
        self.play: Callable[[Played, int], None] = lambda _played, _task: None
        self.landed: Callable[[int], LandingResult] = lambda _task: LandingResult(LANDED)
        self.run_queue: Callable[[], int | None] = lambda: 0
        self.queue_runs: list[int] = []
        self._acts: list[tuple[int, Callable[[], object]]] = []
        self._jobs: list[tuple[int, str, Callable[[Any], Any]]] = []
        self._interrupts = 0
        self._pid = 100

    # -- what the test says -----------------------------------------------------------------------

    @property
    def passed_ms(self) -> int:
        return self.world.clock.passed_ms

    def task(self, title: str, attempts: int = 3, **more: Any) -> int:
        added = tasks.add(self.store, PERSON, TaskDraft("", title, **more), attempts_max=attempts)
        return int(added["task"]["id"][2:])

    def at(self, ms: int, act: Callable[[], object]) -> None:
        self._acts.append((ms, act))

    def interrupt(self) -> None:
        self._interrupts += 1

    def client(self, task: int, attempt: int = -1) -> Played:
        return self.clients_of[task][attempt]

    def supervise(self, slots: list[WorkerSlot], **rules: Any) -> Supervisor:
        supervisor = Supervisor(
            self.store, PERSON, self, slots, SupervisorRules(**rules), self.news.append, lambda _now_ns: None
        )
        supervisor.run()
        return supervisor

    # -- what became of it ------------------------------------------------------------------------

    def row(self, task: int) -> Task:
        found = self.store.read(lambda view: view.get(TASK, (task,)))
        assert found is not None
        return found

    def runs(self, task: int) -> list[Run]:
        return self.store.read(lambda view: view.scan(RUN, "task", (task,)))

    def ends(self, task: int) -> list[str]:
        return [run.how for run in self.runs(task)]

    def told(self, kind: str) -> list[str]:
        return [news.text for news in self.news if news.kind == kind]

    # -- as the supervisor's world ----------------------------------------------------------------

    def now_ns(self) -> int:
        return self.world.clock().tick_ns

    def submit(self, key: str, job: Callable[[Any], Any], /) -> None:
        delay_ms = self.delays.get(key.partition(" ")[0], 0)
        self._jobs.append((self.passed_ms + delay_ms, key, job))

    def wait(self, _timeout_s: float, /) -> list[tuple[str, Any]]:
        assert len(self.queue_runs) < 200, "the queue runs without a pause"
        due = [entry for entry in self._jobs if entry[0] <= self.passed_ms]
        if not due:
            self._pass_time()
        self._jobs = [entry for entry in self._jobs if entry not in due]
        return [(key, self._do(job)) for _, key, job in due]

    def _do(self, job: Callable[[Any], Any]) -> Any:
        try:
            return job(self)
        except Exception as error:  # noqa: BLE001 - as a thread hands it over
            return error

    def _pass_time(self) -> None:
        assert self.passed_ms < ROUND_MS * MOST_ROUNDS, "it does not come to an end"
        self.world.clock.advance(ROUND_MS)
        due = [act for at_ms, act in self._acts if at_ms <= self.passed_ms]
        self._acts = [entry for entry in self._acts if entry[0] > self.passed_ms]
        for act in due:
            act()

    def interrupts(self) -> int:
        return self._interrupts

    def everybody(self) -> list[Played]:
        return [played for clients in self.clients_of.values() for played in clients]

    def use(self, pids: list[int], /) -> dict[int, tuple[int, int]]:
        return {
            played.pid: (played.busy_ns, played.memory_bytes)
            for played in self.everybody()
            if played.pid in pids
        }

    def is_worktree(self, path: str, /) -> bool:
        return next(played.has_tree for played in reversed(self.everybody()) if str(played.pid) == path)

    def free_disk_bytes(self) -> int:
        return self.free_bytes

    def disk_use_bytes(self, path: str, /) -> int:
        return next(played.disk_bytes for played in self.everybody() if str(played.pid) == path)

    def new_client(self, slot: WorkerSlot, task: int, pid: int) -> Played:
        played = Played(self, pid)
        self.clients_of.setdefault(task, []).append(played)
        self.agents_of.setdefault(task, []).append(slot.agent)
        self.play(played, task)
        return played

    def next_pid(self) -> int:
        self._pid += 1
        return self._pid


class _Bond:
    name = "bond"

    def inheritable(self) -> int:
        return -1

    def release(self) -> None:
        pass


class _Props:
    """All ports of the ground; nothing in them can fail unless the test says so."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    # -- trees --------------------------------------------------------------------------------------

    def prepare(self, caller: Caller, task: Task) -> RunPlace:
        self._stage.refuse_place()
        return RunPlace(caller.name, str(self._stage.next_pid()), f"branch-{task.id}", "base")

    def find(self, _run: Run) -> RunPlace | None:
        return None

    def place_of(self, run: Run) -> RunPlace:
        return RunPlace(run.tree, str(self._stage.client(run.task).pid), run.branch)

    def shared(self) -> RunPlace:
        return RunPlace("", "root")

    def discard(self, _caller: Caller, _place: RunPlace, _why: str) -> None:
        pass

    def is_there(self, _place: RunPlace) -> bool:
        return True

    # -- snapshots ----------------------------------------------------------------------------------

    def take(self, agent: str, _place: RunPlace, why: str, _task: int = 0) -> RunSnapshot | None:
        self._stage.saves.append((self._stage.passed_ms, f"{agent}: {why}"))
        return None

    def latest(self, _agent: str, _place: RunPlace) -> RunSnapshot | None:
        return None

    # -- landing ------------------------------------------------------------------------------------

    def check(self, _caller: Caller, _task: Task, _run: Run, place: RunPlace) -> CheckedRun:
        return CheckedRun(ends.DONE, branch=place.branch)

    def land(self, caller: Caller, task: Task, _branch: str) -> LandingResult:
        landed = self._stage.landed(task.id)
        if landed.state == LANDED:
            event = Draft("TaskMerged", show_id(task.id), id=task.id)
            self._stage.world.store.transact(caller, lambda tx: tx.append(event))
        return landed

    def run_queue(
        self, _caller: Caller, _is_over: Callable[[], bool], _tell: Callable[[QueueResult], None]
    ) -> int | None:
        """Usually nothing waits here: `land` decides at once."""
        self._stage.queue_runs.append(self._stage.passed_ms)
        return self._stage.run_queue()

    def submit_again(self, caller: Caller) -> dict[int, str]:
        def look(view: Any) -> list[Task]:
            return [task for task in view.scan(TASK, "ready", (HANDED_OVER,)) if task.branch]

        left = {}
        for task in self._stage.store.read(look):
            try:
                self.land(caller, task, task.branch)
            except Refusal as refusal:
                left[task.id] = refusal.what
        return left

    def returned(self, _task: Task, _place: RunPlace) -> str:
        return ""

    def main_name(self) -> str:
        return "main"

    def settle(self, _caller: Caller) -> list[str]:
        if self._stage.refuse_recovery is not None:
            raise self._stage.refuse_recovery
        return []

    def strays(self, agents: Sequence[str], *, is_end: bool = False) -> list[tuple[str, str]]:
        found = [entry for entry in self._stage.strays_found if entry[0] in agents]
        if is_end:
            self._stage.strays_found = [e for e in self._stage.strays_found if e not in found]
        return found

    # -- clients ------------------------------------------------------------------------------------

    def start(
        self, slot: WorkerSlot, place: RunPlace, run: int, _prompt: str, _token: str, _bond: Any, _resume: str
    ) -> tuple[Played, str]:
        self._stage.refuse(slot, slot.task)
        return self._stage.new_client(slot, slot.task, int(place.path)), ""

    def find_again(self, run: Run) -> Played:
        return self._stage.clients_of[run.task][-1]

    def reader(self, slot: WorkerSlot, _place: RunPlace, _before: Any = None) -> Reading:
        task = slot.task or next(iter(self._stage.clients_of))
        return Reading(self._stage.client(task))

    def hold_bond(self) -> tuple[str, _Bond]:
        return f"host/bond-{self._stage.next_pid()}", _Bond()

    def new_token(self) -> tuple[str, str]:
        return "token", "hash"

    def why_missing(self, slot: WorkerSlot, _error: OSError) -> str:
        return f"{slot.client} is not installed"

    def forget(self, _run: int) -> None:
        pass

    # -- traces -------------------------------------------------------------------------------------

    def is_of_this_clone(self, _run: Run) -> bool:
        return True

    def is_of_earlier_boot(self, _run: Run) -> bool:
        return False

    def is_bond_free(self, _run: Run) -> bool:
        return False

    def is_unattended(self, _bond: str) -> bool:
        return True

    def age_ns(self, run: Run) -> int:
        return self._stage.world.clock().wall_ns - run.started_ns

    def oom_kills(self) -> int:
        return 0


def team(
    count: int, *, client: str = "plain", limits: BudgetLimits | None = None, **more: Any
) -> list[WorkerSlot]:
    return [
        WorkerSlot(f"{client}-{n}", client, limits=limits or BudgetLimits(), **more)
        for n in range(1, count + 1)
    ]
