"""The supervisor: keeps its slots busy with ready tasks, watches every run, and lets none disturb another.

One thread decides. Slow work (worktrees, snapshots, checks, landing) is done in other threads, one job per
slot, so that a slow or broken agent delays no other. It keeps no state that matters: all of it is in the log,
and the successor of a killed supervisor continues from there.
"""

from __future__ import annotations

import signal
from collections import deque
from typing import TYPE_CHECKING

from lineclear.app.messages import mark_read
from lineclear.app.runs import records, run_news
from lineclear.app.runs.choosing import choose, why_blocked
from lineclear.app.runs.following import follow
from lineclear.app.runs.one_run import conclude, find_strays, recover, renew, save, start_run
from lineclear.app.runs.queue_watch import QueueWatch
from lineclear.app.runs.run_news import ACTED, ENDED, LANDED_NEWS, NEEDS, STARTED, WAITS, WARNED, RunNews
from lineclear.app.runs.spending import used_now
from lineclear.app.runs.workers import (
    CLOSED,
    ENDING,
    IDLE,
    LANDED,
    NEEDS_YOU,
    RESTING,
    STARTING,
    WORKING,
    LiveRun,
)
from lineclear.core.instants import show_duration
from lineclear.core.runs import ends
from lineclear.core.runs.budgets import MEMORY, breaches, show_bytes
from lineclear.core.runs.judging_ends import (
    BY_BUDGET,
    BY_DISK,
    BY_HANG,
    BY_INTERRUPT,
    BY_LOOP,
    BY_LOST,
    BY_MEMORY,
    BY_PERSON,
    BY_STRAYING,
)
from lineclear.core.store_outages import passes_by_itself
from lineclear.core.tasks.states import show_id
from lineclear.core.words.refusals import Refusal
from lineclear.core.words.row import BUDGET

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from lineclear.app.ports import Caller, Store
    from lineclear.app.runs.choosing import StartPlan
    from lineclear.app.runs.one_run import Outcome
    from lineclear.app.runs.ports import RunPorts, SupervisorHost
    from lineclear.app.runs.workers import QueueResult, SupervisorRules, WorkerSlot

    Tell = Callable[["RunNews"], None]


SECOND_NS = 1_000_000_000
TICK_S = 0.25
CENSUS_EVERY_NS = 2 * SECOND_NS
DISK_EVERY_NS = SECOND_NS // 4
MAIN_EVERY_NS = 2 * SECOND_NS
FILL_AGAIN_NS = 5 * SECOND_NS
SUBMIT_AGAIN_NS = 5 * SECOND_NS
# How often to try while nothing else is left to do.
SUBMITS_MAX = 6
# Take a snapshot even of a run that seems idle: a small write may not show in its CPU time.
SAVE_ANYWAY_NS = 120 * SECOND_NS
# A client that waits for its model still uses a little CPU time.
BUSY_SHARE_PERCENT = 2
FIRST_REST_S, LONGEST_REST_S = 30, 15 * 60
REFUSED_STARTS_MAX, REFUSED_REST_S = 3, 2


class Supervisor:
    def __init__(
        self,
        store: Store,
        caller: Caller,
        host: SupervisorHost,
        slots: list[WorkerSlot],
        rules: SupervisorRules,
        tell: Tell,
        look: Callable[[int], None],
    ) -> None:
        """`tell` gets each piece of news; `look` is called in every round with the time."""
        self._store, self._caller, self._host = store, caller, host
        self.slots, self._rules, self._tell, self._look = slots, rules, tell, look
        self._jobs: set[str] = set()
        self._head = -1
        self._free_before: list[str] = []
        self._fill_again_ns = 0
        self._census_at_ns = self._disk_at_ns = self._main_at_ns = self._renew_at_ns = 0
        self._interrupts_seen = 0
        self._disk_least_bytes = rules.disk_floor_bytes
        self._set_aside: set[int] = set()
        self._guests: set[str] = set()
        self._found_ended: set[int] = set()
        self._starts_refused: dict[str, int] = {}
        # Filled by the thread that runs the queue, emptied by ours.
        self._queue_results: deque[QueueResult] = deque()
        self._queue = QueueWatch(store)
        self._is_away = False
        # Finished tasks that the queue did not get, and why.
        self._stranded: dict[int, str] = {}
        self._submit_at_ns = self._submits = 0
        self.refusal: Refusal | None = None
        self.outcomes: list[Outcome] = []
        self.blocked: list[str] = []
        # Tasks that were handed over before this supervisor began, and that it has landed.
        self.landed_before: list[str] = []
        self.broken: list[str] = []

    # -- the loop -----------------------------------------------------------------------------

    def run(self) -> None:
        """Work until nothing more can be done, or until asked to stop."""
        self._recover()
        while True:
            for key, answer in self._host.wait(TICK_S):
                self._jobs.discard(key)
                self._receive(key, answer)
            now_ns = self._host.now_ns()
            while self._queue_results:
                self._report_queue_result(self._queue_results.popleft())
            self._heed_interrupts(now_ns)
            self._look_around(now_ns)
            self._look(now_ns)
            for live in self.lives():
                self._watch(live, now_ns)
            if "recover" in self._jobs:
                continue
            try:
                self._heed_the_log(now_ns)
                if self._is_over(now_ns):
                    return
            except Refusal as refusal:
                # The agents keep working; we act on the log once the store can be reached again.
                if not passes_by_itself(refusal):
                    raise
                self._note_store(is_away=True)
                if self.is_stopping and not self._is_busy():
                    return
            else:
                self._note_store(is_away=False)

    def _recover(self) -> None:
        self._submit("recover", lambda ports: recover(ports, self._caller, self.slots, self._host.now_ns()))

    def lives(self) -> list[LiveRun]:
        return [slot.live for slot in self.slots if slot.live is not None and slot.phase == WORKING]

    @property
    def is_stopping(self) -> bool:
        return self._interrupts_seen > 0

    def _note_store(self, *, is_away: bool) -> None:
        if is_away != self._is_away:
            self._is_away = is_away
            self._tell(run_news.of_store(is_away=is_away))

    def _is_busy(self) -> bool:
        return bool(self._jobs) or any(slot.phase in (STARTING, WORKING, ENDING) for slot in self.slots)

    def _is_over(self, now_ns: int) -> bool:
        if self._is_busy():
            return False
        if self.is_stopping:
            return True
        is_closed = all(slot.phase == CLOSED for slot in self.slots)
        if self._rules.is_staying and not is_closed:
            return False
        if self._rules.lands and self._queue.has_more_to_do():
            return False
        if is_closed:
            return True
        plan = self._plan([slot for slot in self.slots if slot.phase == IDLE])
        is_resting = any(slot.phase == RESTING and slot.rest_until_ns > now_ns for slot in self.slots)
        if plan.starts or (is_resting and plan.is_waiting):
            return False
        if self._stranded and self._submits < SUBMITS_MAX:
            return False
        self._name_stranded()
        only = self._rules.only
        self.blocked = self._store.read(lambda view: why_blocked(view, self.slots, only))
        return True

    def _plan(self, free: list[WorkerSlot]) -> StartPlan:
        return self._store.read(
            lambda view: choose(view, self.slots, free, self._rules.only, self._set_aside)
        )

    def _submit(self, key: str, job: Callable[[RunPorts], Any]) -> None:
        self._jobs.add(key)
        self._host.submit(key, job)

    # -- answers of jobs ----------------------------------------------------------------------

    def _receive(self, key: str, answer: Any) -> None:
        what, _, name = key.partition(" ")
        slot = next((slot for slot in self.slots if slot.agent == name), None)
        live = next((live for live in self.lives() if str(live.run) == name), None)
        if what == "recover":
            self._recovered(answer)
        elif isinstance(answer, BaseException) and not isinstance(answer, Refusal):
            self._broke(what, slot, live, answer)
        elif what == "start" and slot is not None:
            self._started(slot, answer)
        elif what == "end" and slot is not None:
            self._ended(slot, answer)
        elif what == "save" and live is not None:
            self._saved(live, answer)
        elif what == "renew":
            self._renewed(answer)
        elif what == "main":
            self._strayed(answer)
        elif what == "queue":
            self._ran_queue(answer)
        elif what == "submit" and not isinstance(answer, Refusal):
            self._stranded = answer

    def _broke(self, what: str, slot: WorkerSlot | None, live: LiveRun | None, error: BaseException) -> None:
        """Report an unexpected error and close the slot it concerns; the others continue.

        A run that could not be ended stays live in the log; the next supervisor ends it.
        """
        words = f"{what} failed: {type(error).__name__}: {error}"
        self.broken.append(words)
        self._tell(RunNews(WARNED, words, agent=slot.agent if slot is not None else ""))
        if slot is not None:
            slot.phase, slot.live, slot.task = CLOSED, None, 0
        if live is not None:
            live.is_saving, live.saved_at_ns = False, self._host.now_ns()

    def _started(self, slot: WorkerSlot, answer: Any) -> None:
        if isinstance(answer, Refusal):
            self._refused(slot, answer)
            return
        if not isinstance(answer, LiveRun):
            slot.phase, slot.task = IDLE, 0
            if answer is not None:
                self._ended(slot, answer)
            return
        slot.live, slot.phase = answer, WORKING
        self._starts_refused.pop(slot.agent, None)
        text = f"{show_id(answer.task)} {answer.title}" + (
            f" (attempt {answer.attempt})" if answer.attempt > 1 else ""
        )
        self._tell(RunNews(STARTED, text, agent=slot.agent, task=answer.task))
        if self.is_stopping:
            self._stop(answer, BY_INTERRUPT, "", self._host.now_ns())

    def _refused(self, slot: WorkerSlot, refusal: Refusal) -> None:
        """Handle a refused start: leave a task without budget alone; otherwise let the slot rest, and close
        it after a few refusals."""
        task, slot.phase, slot.task = slot.task, IDLE, 0
        if passes_by_itself(refusal):
            return
        self.refusal = refusal
        self._tell(RunNews(WARNED, f"cannot start: {refusal.what}", agent=slot.agent, task=task))
        if refusal.exit_code == BUDGET:
            self._set_aside.add(task)
            return
        count = self._starts_refused[slot.agent] = self._starts_refused.get(slot.agent, 0) + 1
        if count >= REFUSED_STARTS_MAX:
            slot.phase = CLOSED
        else:
            self._rest(slot, refusal.what, REFUSED_REST_S)

    def _ended(self, slot: WorkerSlot, outcome: Any) -> None:
        # A worker that only our predecessor had gets no further task.
        phase = CLOSED if slot.agent in self._guests else IDLE
        live, slot.live, slot.phase, slot.task = slot.live, None, phase, 0
        if isinstance(outcome, Refusal):
            self._broke("end", slot, None, outcome)
            return
        self.outcomes.append(outcome)
        kind = ENDED if outcome.landing is None or outcome.landing.state != LANDED else LANDED_NEWS
        self._tell(RunNews(kind, outcome.words(), agent=slot.agent, task=outcome.task))
        if outcome.landing is not None and outcome.landing.is_stranded:
            self._stranded[outcome.task], self._submits = outcome.landing.why, 0
            self._tell(RunNews(WAITS, outcome.landing.why, agent=slot.agent, task=outcome.task))
        if outcome.landing is not None and outcome.landing.state == NEEDS_YOU:
            self._tell(RunNews(NEEDS, outcome.landing.why, agent=slot.agent, task=outcome.task))
        if outcome.how in (ends.LIMITED, ends.LOGIN):
            self._rest_client(slot, outcome)
        elif outcome.how == ends.MISSING:
            self._close_client(slot, outcome)
        elif outcome.how == ends.STOPPED and outcome.run not in self._found_ended:
            self._set_aside.add(outcome.task)
        elif live is not None:
            slot.rests = 0

    def _rest_client(self, slot: WorkerSlot, outcome: Outcome) -> None:
        """Let all idle workers of this client rest: they would meet the same limit or login."""
        seconds = outcome.retry_after_s
        if seconds < 0:
            seconds = min(LONGEST_REST_S, FIRST_REST_S * 2**slot.rests)
        for other in self.slots:
            is_alike = (other.client, other.command) == (slot.client, slot.command)
            if is_alike and other.phase in (IDLE, RESTING):
                self._rest(other, f"{outcome.how}: {outcome.reason}", seconds)
        kind = NEEDS if outcome.how == ends.LOGIN else WAITS
        self._tell(
            RunNews(kind, f"{slot.client}: {outcome.reason}; retrying in {seconds} s", agent=slot.agent)
        )

    def _close_client(self, slot: WorkerSlot, outcome: Outcome) -> None:
        """Close all idle workers of a client whose program is missing, before they use up attempts."""
        for other in self.slots:
            is_alike = (other.client, other.command) == (slot.client, slot.command)
            if is_alike and other.phase in (IDLE, RESTING):
                other.phase = CLOSED
        self._tell(RunNews(NEEDS, outcome.reason, agent=slot.agent))

    def _rest(self, slot: WorkerSlot, why: str, seconds: int) -> None:
        slot.phase, slot.rest_why, slot.rests = RESTING, why, slot.rests + 1
        slot.rest_until_ns = self._host.now_ns() + seconds * SECOND_NS

    def _saved(self, live: LiveRun, answer: Any) -> None:
        live.is_saving, live.saved_at_ns = False, self._host.now_ns()
        if isinstance(answer, Refusal):
            self._tell(RunNews(WARNED, f"no snapshot: {answer.what}", agent=live.slot.agent))
        elif answer is not None:
            live.tree_id, live.active_ns = answer.tree, live.saved_at_ns
            live.watch.tree(answer.tree)

    def _recovered(self, found: Any) -> None:
        """Take over the predecessor's runs. If recovery failed, raise: an agent could get a second task."""
        if isinstance(found, Refusal) and passes_by_itself(found) and not self.is_stopping:
            self._note_store(is_away=True)
            self._recover()
            return
        if isinstance(found, BaseException):
            raise found
        self.landed_before = list(found.landed)
        if self._rules.lands:
            self._submit_again()
        for live in found.lives:
            if live.slot not in self.slots:
                self.slots.append(live.slot)
                self._guests.add(live.slot.agent)
            live.slot.live, live.slot.phase, live.slot.task = live, WORKING, live.task
            if live.is_gone():
                self._found_ended.add(live.run)
            else:
                text = f"{show_id(live.task)} {live.title}: still running"
                self._tell(RunNews(STARTED, text, agent=live.slot.agent, task=live.task))

    def _renewed(self, lost: Any) -> None:
        for live in self.lives():
            if not isinstance(lost, Refusal) and live.run in lost:
                self._stop(live, BY_LOST, "", self._host.now_ns())

    def _strayed(self, found: Any) -> None:
        for live in () if isinstance(found, Refusal) else found:
            self._tell(RunNews(WARNED, live.strayed, agent=live.slot.agent, task=live.task))
            if live.slot.phase == WORKING:
                self._stop(live, BY_STRAYING, live.strayed, self._host.now_ns())

    # -- act on signals, the log and the host -------------------------------------------------

    def _heed_interrupts(self, now_ns: int) -> None:
        count = self._host.interrupts()
        if count == self._interrupts_seen:
            return
        self._interrupts_seen = count
        for live in self.lives():
            self._stop(live, BY_INTERRUPT, "", now_ns)
            if count > 1:
                live.stop_hard_at_ns = now_ns

    def _heed_the_log(self, now_ns: int) -> None:
        """Act on requests and fill idle slots, if the log or the slots have changed or some time has
        passed."""
        head = self._store.read(lambda view: view.head)
        free = [slot for slot in self.slots if self._is_free(slot, now_ns)]
        self._submit_stranded(now_ns)
        self._run_queue(head, now_ns)
        if head != self._head:
            self._head = head
            self._heed_requests(now_ns)
        elif [slot.agent for slot in free] == self._free_before and now_ns < self._fill_again_ns:
            return
        # A claim's expiry is logged only at the next request, so look again from time to time.
        self._fill_again_ns = now_ns + FILL_AGAIN_NS
        self._free_before = [slot.agent for slot in free]
        if free and not self.is_stopping:
            for slot, task in self._plan(free).starts:
                self._start(slot, task, now_ns)

    def _start(self, slot: WorkerSlot, task: int, now_ns: int) -> None:
        slot.phase, slot.task = STARTING, task
        self._submit(f"start {slot.agent}", lambda ports: start_run(ports, slot, task, self._rules, now_ns))

    def _submit_stranded(self, now_ns: int) -> None:
        if self._stranded and now_ns >= self._submit_at_ns and "submit" not in self._jobs:
            self._submit_at_ns, self._submits = now_ns + SUBMIT_AGAIN_NS, self._submits + 1
            self._submit_again()

    def _submit_again(self) -> None:
        self._submit("submit", lambda ports: ports.landing.submit_again(self._caller))

    def _name_stranded(self) -> None:
        for task, why in self._stranded.items():
            words = f"{show_id(task)} is finished but not in the queue: {why}"
            self.broken.append(words)
            self._tell(RunNews(NEEDS, words, task=task))

    def _run_queue(self, head: int, now_ns: int) -> None:
        """Run the queue in another thread, so that agents take their next task while their work is
        checked."""
        if not self._rules.lands or self.is_stopping or "queue" in self._jobs:
            return
        if self._queue.is_due(head, now_ns):
            tell = self._queue_results.append
            self._submit(
                "queue",
                lambda ports: ports.landing.run_queue(self._caller, lambda: self.is_stopping, tell),
            )

    def _ran_queue(self, answer: Any) -> None:
        words = self._queue.note_end(answer, self._host.now_ns())
        if words:
            self._tell(RunNews(NEEDS, words))

    def _report_queue_result(self, result: QueueResult) -> None:
        is_ours = any(outcome.task == result.task for outcome in self.outcomes)
        if result.task and result.landing.state == LANDED and not is_ours:
            self.landed_before.append(show_id(result.task))
        self._tell(run_news.from_queue(result))

    def _is_free(self, slot: WorkerSlot, now_ns: int) -> bool:
        if slot.phase == RESTING and slot.rest_until_ns <= now_ns:
            slot.phase = IDLE
        return slot.phase == IDLE

    def _heed_requests(self, now_ns: int) -> None:
        asked = {run.id: run.asked for run in self._store.read(records.live_runs) if run.asked}
        for live in self.lives():
            what = asked.get(live.run, "")
            if what in (records.STOP, records.STOP_HARD):
                self._stop(live, BY_PERSON, "", now_ns)
                if what == records.STOP_HARD:
                    live.stop_hard_at_ns = now_ns
            elif what == records.PAUSE and not live.is_paused:
                self._pause(live, now_ns)
            elif what in (records.PAUSE, records.RESUME):
                self._resume(live, now_ns)

    def _pause(self, live: LiveRun, now_ns: int) -> None:
        live.group.send(signal.SIGSTOP)
        live.is_paused, live.paused_at_ns = True, now_ns
        records.pause(self._store, live.caller, live.run, "asked")
        self._tell(RunNews(WAITS, "paused", agent=live.slot.agent, task=live.task))

    def _resume(self, live: LiveRun, now_ns: int) -> None:
        if live.is_paused:
            live.group.send(signal.SIGCONT)
            live.is_paused = False
            live.paused_ns += now_ns - live.paused_at_ns
            live.active_ns = now_ns
        records.resume(self._store, live.caller, live.run)
        self._tell(RunNews(ACTED, "goes on", agent=live.slot.agent, task=live.task))

    def _look_around(self, now_ns: int) -> None:
        """Watch all runs together: CPU and memory, disk, leases, main; each at its own interval."""
        lives = self.lives()
        if not lives:
            return
        if now_ns >= self._census_at_ns:
            self._census_at_ns = now_ns + CENSUS_EVERY_NS
            self._take_census(lives, now_ns)
        if now_ns >= self._disk_at_ns:
            self._disk_at_ns = now_ns + DISK_EVERY_NS
            self._watch_disk(lives, now_ns)
        if now_ns >= self._renew_at_ns and "renew" not in self._jobs:
            self._renew_at_ns = now_ns + self._rules.lease_ms * 1_000_000 // 3
            self._submit("renew", lambda ports: renew(ports, lives))
        if now_ns >= self._main_at_ns and "main" not in self._jobs:
            self._main_at_ns = now_ns + MAIN_EVERY_NS
            self._submit("main", lambda ports: find_strays(ports, lives))

    def _take_census(self, lives: list[LiveRun], now_ns: int) -> None:
        used = self._host.use([live.group.pid for live in lives])
        for live in lives:
            busy_ns, live.memory_bytes = used.get(live.group.pid, (live.busy_ns, 0))
            live.memory_peak_bytes = max(live.memory_peak_bytes, live.memory_bytes)
            if (busy_ns - live.busy_ns) * 100 > BUSY_SHARE_PERCENT * (now_ns - live.busy_seen_ns):
                live.active_ns = now_ns
            live.busy_ns, live.busy_seen_ns = busy_ns, now_ns
            if live.place.tree and not self._host.is_worktree(live.place.path):
                self._stop(live, BY_STRAYING, "its worktree is gone", now_ns)

    def _watch_disk(self, lives: list[LiveRun], now_ns: int) -> None:
        """When the disk is nearly full, stop the run that uses the most of it, before others cannot write.

        Its files stay, so the next run is stopped only if free space shrinks further.
        """
        free_bytes, floor_bytes = self._host.free_disk_bytes(), self._rules.disk_floor_bytes
        if free_bytes >= floor_bytes:
            self._disk_least_bytes = floor_bytes
        elif free_bytes < self._disk_least_bytes:
            self._disk_least_bytes = free_bytes - floor_bytes // 8
            fullest = max(
                lives,
                key=lambda live: self._host.disk_use_bytes(live.place.path) + live.group.output_bytes(),
            )
            self._stop(fullest, BY_DISK, f"only {free_bytes >> 20} MiB of disk space are left", now_ns)

    # -- one run ------------------------------------------------------------------------------

    def _watch(self, live: LiveRun, now_ns: int) -> None:
        lines = live.group.new_lines()
        if lines:
            live.active_ns, live.has_spoken = now_ns, True
            for action in follow(live, lines):
                self._tell(RunNews(ACTED, action, agent=live.slot.agent, task=live.task))
        self._name(live)
        if live.is_gone():
            live.slot.phase = ENDING
            self._submit(f"end {live.slot.agent}", lambda ports: conclude(ports, live, self._rules.grace_s))
        elif live.stopped_by:
            if now_ns >= live.stop_hard_at_ns:
                live.group.send(signal.SIGKILL)
        elif not live.is_paused:
            self._judge(live, now_ns)
            self._save_if_due(live, now_ns)

    def _name(self, live: LiveRun) -> None:
        """Log the session at once, for a successor needs it to resume, and mark the prompt's messages
        read."""
        if self._is_away or not live.has_spoken:
            return
        try:
            if (live.session, live.model) != live.named:
                records.name(self._store, live.caller, live.run, live.session, live.model)
                live.named = (live.session, live.model)
            if live.letters:
                mark_read(self._store, live.caller, live.letters)
                live.letters = []
        except Refusal as refusal:
            if not passes_by_itself(refusal):
                raise

    def _judge(self, live: LiveRun, now_ns: int) -> None:
        """Stop it for the first reason that applies: budget, loop, too much output, silence."""
        over = breaches(used_now(live, self.lives(), now_ns), live.slot.limits)
        loop = live.watch.verdict() if self._rules.heeds_loops else ""
        if over:
            by = BY_MEMORY if over[0].what == MEMORY else f"{BY_BUDGET}:{over[0].what}"
            self._stop(live, by, over[0].words(), now_ns)
        elif loop:
            self._stop(live, BY_LOOP, loop, now_ns)
        elif live.group.output_bytes() > self._rules.log_bytes:
            self._stop(live, BY_DISK, f"its output grew beyond {show_bytes(self._rules.log_bytes)}", now_ns)
        elif now_ns - live.active_ns > self._rules.silence_ns:
            self._stop(live, BY_HANG, show_duration(self._rules.silence_ns // 1_000_000), now_ns)

    def _stop(self, live: LiveRun, by: str, detail: str, now_ns: int) -> None:
        """Ask it to end, and set the time for SIGKILL. The first reason stays."""
        if live.stopped_by:
            return
        live.stopped_by, live.stop_detail = by, detail
        # A run that fills the disk would keep filling it during a grace period.
        grace_s = 0 if by == BY_DISK else self._rules.grace_s
        live.stop_hard_at_ns = now_ns + int(grace_s * SECOND_NS)
        live.group.send(signal.SIGTERM)
        live.group.send(signal.SIGCONT)  # a stopped process handles SIGTERM only after SIGCONT

    def _save_if_due(self, live: LiveRun, now_ns: int) -> None:
        if live.is_saving or not live.place.tree or now_ns - live.saved_at_ns < self._rules.save_every_ns:
            return
        was_busy = live.busy_ns != live.saved_busy_ns
        if was_busy or now_ns - live.saved_at_ns > SAVE_ANYWAY_NS:
            live.is_saving, live.saved_busy_ns = True, live.busy_ns
            self._submit(f"save {live.run}", lambda ports: save(ports, live))
