"""One run from its start to its end. Each public function is called in a thread of its own, with its own
ports.

Whatever happens in between, a run that began is ended in the log, and its work is in a snapshot, on a branch
or on main. The steps are ordered so that being killed after any of them loses nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app import tasks
from lineclear.app.agents import heartbeat, membership
from lineclear.app.ports import Caller
from lineclear.app.runs import records
from lineclear.app.runs.following import follow
from lineclear.app.runs.prompting import gather
from lineclear.app.runs.spending import cost_of, spent_before, used_before
from lineclear.app.runs.workers import (
    HANDED_OVER,
    LANDED,
    CheckedRun,
    LandingResult,
    LiveRun,
    WorkerSlot,
    slot_of,
)
from lineclear.core.log.tables import AGENT, RUN, TASK
from lineclear.core.runs import ends, judging_ends, states
from lineclear.core.runs.budgets import spent
from lineclear.core.runs.client_events import RunEnd, Usage
from lineclear.core.runs.first_prompt import compose
from lineclear.core.runs.loops import LoopWatch
from lineclear.core.tasks.states import TAKEN, show_id
from lineclear.core.words.computed.runs import budget_spent
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from lineclear.app.ports import View
    from lineclear.app.runs.ports import RunBond, RunPorts
    from lineclear.app.runs.workers import RunPlace, RunSnapshot, SupervisorRules
    from lineclear.core.log.tables import Run, Task
    from lineclear.core.runs.first_prompt import Prompt

# After these ends the same agent continues in its worktree, and in its session if its client can resume it.
CONTINUED = frozenset((ends.INTERRUPTED, ends.LIMITED, ends.LOGIN, ends.STOPPED))

# Errors after which trying again to start a program will not help.
NOT_THERE = (FileNotFoundError, NotADirectoryError, PermissionError)

# More than a client normally writes between two reads.
LAST_WORDS_BYTES = 16 << 20


class Outcome:
    """How a run ended, for people and for the supervisor's next step."""

    def __init__(
        self, run: int, agent: str, task: int, how: str, reason: str, landing: LandingResult | None = None
    ) -> None:
        self.run, self.agent, self.task, self.how, self.reason = run, agent, task, how, reason
        self.landing, self.retry_after_s = landing, -1

    def words(self) -> str:
        if self.landing is not None and self.landing.state != HANDED_OVER:
            return f"{show_id(self.task)} {self.landing.state}" + (
                f": {self.landing.why}" if self.landing.why else ""
            )
        return f"{show_id(self.task)} {self.how}" + (f": {self.reason}" if self.reason else "")


class Recovery:
    """What a supervisor finds of its predecessor: runs without an end, and the tasks that have landed
    since."""

    def __init__(self) -> None:
        self.lives: list[LiveRun] = []
        self.landed: list[str] = []


# -- the beginning ----------------------------------------------------------------------------


def start_run(
    ports: RunPorts, slot: WorkerSlot, number: int, rules: SupervisorRules, now_ns: int
) -> LiveRun | Outcome | None:
    """Take the task, prepare its worktree and start the client. None if another agent took the task first."""
    bond_name, bond = ports.clients.hold_bond()
    tree = ports.scope + slot.agent
    caller = Caller(slot.agent, client=slot.client, tree=tree, bond=bond_name)
    try:
        return _start_held(ports, slot, number, rules, now_ns, caller, bond)
    except BaseException:
        bond.release()
        raise


def _start_held(
    ports: RunPorts,
    slot: WorkerSlot,
    number: int,
    rules: SupervisorRules,
    now_ns: int,
    caller: Caller,
    bond: RunBond,
) -> LiveRun | Outcome | None:
    try:
        taken = tasks.take(
            ports.store, ports.liveness, caller, number=number, skills=slot.labels, lease_ms=rules.lease_ms
        )["task"]
    except Refusal:
        # If the connection was lost in between, the task may have been taken for us.
        records.put_back(ports.store, caller, number, "it could not be started")
        bond.release()
        return None
    try:
        task, before = ports.store.read(
            lambda view: (view.get(TASK, (number,)), records.runs_of_task(view, number))
        )
        if task is None:
            raise RuntimeError("a task that was taken is not there")
        over = spent(used_before(ports.store.read(lambda view: spent_before(view, number, 0))), slot.limits)
        if over:
            raise budget_spent(over[0])
        place, resumed = _place(ports, slot, caller, task, before)
        tree = place.tree or f"{ports.scope}main"
        caller = Caller(slot.agent, client=slot.client, tree=tree, bond=caller.bond)
        main, returned = ports.landing.main_name(), ports.landing.returned(task, place)
        written = compose(
            ports.store.read(
                lambda view: gather(
                    view,
                    task,
                    before,
                    slot,
                    place,
                    main=main,
                    returned=returned,
                    most_bytes=rules.prompt_bytes,
                )
            )
        )
    except BaseException:
        records.put_back(ports.store, caller, number, "it could not be started")
        raise
    return _launch(ports, slot, caller, task, place, written, resumed, bond, taken["attempt"], now_ns)


def _place(
    ports: RunPorts, slot: WorkerSlot, caller: Caller, task: Task, before: list[Run]
) -> tuple[RunPlace, Run | None]:
    """(where to work, the interrupted run of this agent and task that continues there, or None)."""
    if not slot.has_worktree:
        return ports.trees.shared(), None
    last = before[-1] if before else None
    if last is not None and last.how in CONTINUED and last.agent == slot.agent:
        found = ports.trees.find(last)
        if found is not None:
            return found, last
    return ports.trees.prepare(caller, task), None


def _launch(
    ports: RunPorts, slot: WorkerSlot, caller: Caller, task: Task, place: RunPlace, written: Prompt,
    resumed: Run | None, bond: RunBond, attempt: int, now_ns: int,
) -> LiveRun | Outcome | None:  # fmt: skip
    token, token_hash = ports.clients.new_token()
    start = records.Start(
        task.id, attempt, client=slot.client, model=slot.model, tree=place.tree, branch=place.branch,
        base=place.base, token_hash=token_hash,
    )  # fmt: skip
    run = records.begin(ports.store, caller, start)
    session = _session_to_resume(ports, slot, resumed)
    try:
        group, named = ports.clients.start(slot, place, run, written.text, token, bond, session)
    except OSError as error:
        how = ends.MISSING if isinstance(error, NOT_THERE) else ends.FAILED
        reason = ports.clients.why_missing(slot, error)
        records.end(ports.store, caller, run, records.Ending(how, reason))
        bond.release()
        return Outcome(run, slot.agent, task.id, how, reason)
    used = ports.store.read(lambda view: _used_in_session(view, task.id, session)) if session else None
    reader = ports.clients.reader(slot, place, used)
    live = LiveRun(
        run, slot, caller, place, group, reader, bond,
        task=task.id, title=task.title, attempt=attempt, watch=LoopWatch(), now_ns=now_ns,
    )  # fmt: skip
    live.spent = ports.store.read(lambda view: spent_before(view, task.id, run))
    live.letters, live.session = list(written.shown_messages), named
    live.oom_kills_before = ports.traces.oom_kills()
    return live


def _session_to_resume(ports: RunPorts, slot: WorkerSlot, last: Run | None) -> str:
    """The client's session of the interrupted run; "" if it has to begin a new one."""
    if last is None or last.client != slot.client or not last.session:
        return ""
    before = ports.store.read(lambda view: records.runs_of_task(view, last.task))
    tokens = [run.tokens_out for run in before if run.session == last.session]
    return last.session if ends.has_session(last.how, tokens) else ""


def _used_in_session(view: View, task: int, session: str) -> Usage:
    """What the earlier runs of a session used: a client that resumes a session reports the totals again."""
    before = [
        run
        for run in records.runs_of_task(view, task)
        if run.session == session and run.state == states.ENDED
    ]
    return Usage(
        sum(max(0, run.tokens_in) for run in before),
        sum(max(0, run.tokens_out) for run in before),
        cost_micros=sum(max(0, run.cost_micros) for run in before),
    )


# -- meanwhile --------------------------------------------------------------------------------


def save(ports: RunPorts, live: LiveRun) -> RunSnapshot | None:
    return ports.snapshots.take(live.slot.agent, live.place, "at work", live.task)


def renew(ports: RunPorts, lives: list[LiveRun]) -> set[int]:
    """Renew their leases; returns the runs that no longer hold their task."""
    lost = set()
    for live in lives:
        ports.presence.touch(live.slot.agent, None)
        heartbeat.renew(ports.store, live.caller)
        task = ports.store.read(lambda view, number=live.task: view.get(TASK, (number,)))  # type: ignore[misc]
        if task is None or not records.is_held_by(task, live.slot.agent, live.attempt):
            lost.add(live.run)
    return lost


def find_strays(ports: RunPorts, lives: list[LiveRun], *, is_end: bool = False) -> list[LiveRun]:
    """The runs that have moved main themselves and were not known to; main has been restored."""
    told = dict(ports.landing.strays([live.slot.agent for live in lives], is_end=is_end))
    found = [live for live in lives if live.slot.agent in told and not live.strayed]
    for live in found:
        live.strayed = f"it moved main itself; {told[live.slot.agent]}"
    return found


# -- the end ----------------------------------------------------------------------------------


def conclude(ports: RunPorts, live: LiveRun, grace_s: float) -> Outcome:
    """After the client has exited: stop its leftover processes, save its work, judge and log how the run
    ended, and hand finished work to the queue."""
    left_behind = live.group.sweep(grace_s)
    follow(live, live.group.last_words(LAST_WORDS_BYTES))
    exit_code = live.group.exit_code()
    end = live.reader.finish(exit_code)
    is_there = ports.trees.is_there(live.place)
    saved, unsaved = _save_last(ports, live, is_there)
    # Before anything builds on main: it may have moved main in its last moments.
    find_strays(ports, [live], is_end=True)
    if live.strayed and not live.stopped_by:
        live.stopped_by, live.stop_detail = judging_ends.BY_STRAYING, live.strayed
    how, reason = judging_ends.judge(_facts(ports, live, end, exit_code, is_there))
    task, run = ports.store.read(lambda view: (view.get(TASK, (live.task,)), view.get(RUN, (live.run,))))
    if task is None or run is None:
        raise RuntimeError("a run that began is not there")
    checked = CheckedRun(how, reason)
    if how == ends.DONE:
        checked = ports.landing.check(live.caller, task, run, live.place)
    notes = [*unsaved, *checked.notes]
    if left_behind:
        notes.append(f"stopped the processes that it had left behind: {left_behind}")
    for text in notes:
        tasks.note(ports.store, live.caller, live.task, text[: tasks.MOST_NOTE])
    records.end(ports.store, live.caller, live.run, _ending(live, checked, exit_code, saved))
    outcome = Outcome(live.run, live.slot.agent, live.task, checked.how, checked.reason)
    outcome.retry_after_s = end.retry_after_s
    if live.bond is not None:
        live.bond.release()
    ports.clients.forget(live.run)
    if checked.how == ends.DONE:
        outcome.landing = _pass_on(ports, live, task, checked)
    return outcome


def _save_last(ports: RunPorts, live: LiveRun, is_there: bool) -> tuple[RunSnapshot | None, list[str]]:
    """(the last snapshot, notes on why the end could not be saved). A full disk must not keep a run from
    being ended; its worktree stays as it is."""
    agent, notes = live.slot.agent, []
    try:
        saved = ports.snapshots.take(agent, live.place, "the end of a run", live.task) if is_there else None
    except Refusal as refusal:
        saved, notes = None, [f"no snapshot of its end: {refusal.what}"]
    return saved or ports.snapshots.latest(agent, live.place), notes


def _facts(
    ports: RunPorts, live: LiveRun, end: RunEnd, exit_code: int | None, is_there: bool
) -> judging_ends.EndFacts:
    return judging_ends.EndFacts(
        exit_code=exit_code,
        stopped_by=live.stopped_by,
        detail=live.stop_detail,
        program=live.slot.command[0] if live.slot.command else live.slot.client,
        end_ok=end.ok,
        end_reason=end.reason,
        is_limited=end.is_limited,
        is_login=end.is_login,
        # A person's own command did start: if it exits with 127, a program inside it was missing.
        lines_read=live.watch.calls or len(live.slot.command),
        oom_kills=ports.traces.oom_kills() - live.oom_kills_before,
        peak_memory_bytes=live.memory_peak_bytes,
        memory_limit_bytes=live.slot.limits.run_memory_bytes,
        is_worktree_gone=not is_there,
        is_rebooted=live.is_of_earlier_boot,
    )


def _ending(
    live: LiveRun, checked: CheckedRun, exit_code: int | None, saved: RunSnapshot | None
) -> records.Ending:
    usage = live.usage
    return records.Ending(
        checked.how,
        checked.reason,
        exit_code=-1 if exit_code is None else exit_code,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost_micros=cost_of(live),
        snapshot=saved.commit if saved is not None else "",
        branch=checked.branch,
        result=checked.result,
    )


def _pass_on(ports: RunPorts, live: LiveRun, task: Task, checked: CheckedRun) -> LandingResult | None:
    """Hand finished work to the queue, and remove its worktree if it has landed at once."""
    landing = None
    if checked.branch:
        try:
            landing = ports.landing.land(live.caller, task, checked.branch)
        except Refusal as refusal:
            # Its branch is in the log, so it can be submitted again at any time.
            landing = LandingResult(HANDED_OVER, f"not in the queue yet: {refusal.what}", is_stranded=True)
        if landing.state == LANDED:
            ports.trees.discard(live.caller, live.place, "landed")
    membership.leave(ports.store, live.caller, live.slot.agent, "its run has ended")
    return landing


# -- after a supervisor that was killed -------------------------------------------------------


def recover(ports: RunPorts, caller: Caller, slots: list[WorkerSlot], now_ns: int) -> Recovery:
    """Find a predecessor's runs, both those that still work and those that have stopped without an end.

    Puts back tasks that were taken for a run that never began, and finishes interrupted landings.
    """
    found = Recovery()
    by_agent = {slot.agent: slot for slot in slots}
    for run in ports.store.read(records.live_runs):
        if not ports.traces.is_of_this_clone(run):
            continue
        live = _find_again(ports, run, by_agent, now_ns)
        if live.is_gone():
            live.stopped_by = _stopped_by(live, run)
        found.lives.append(live)
    busy = {live.slot.agent for live in found.lives}
    _put_back_unstarted(ports, by_agent.keys() - busy)
    found.landed = ports.landing.settle(caller)
    return found


def _find_again(ports: RunPorts, run: Run, by_agent: dict[str, WorkerSlot], now_ns: int) -> LiveRun:
    """Restore what is known about a predecessor's run; its output is read again from the beginning."""
    slot = by_agent.get(run.agent) or slot_of(run)
    task = ports.store.read(lambda view: view.get(TASK, (run.task,)))
    place = ports.trees.place_of(run)
    tree = run.tree or f"{ports.scope}main"
    caller = Caller(run.agent, client=run.client, tree=tree, bond=run.bond)
    used = ports.store.read(lambda view: _used_in_session(view, run.task, run.session))
    reader = ports.clients.reader(slot, place, used)
    live = LiveRun(
        run.id, slot, caller, place, ports.clients.find_again(run), reader, None,
        task=run.task, title=task.title if task is not None else "", attempt=run.attempt, watch=LoopWatch(),
        now_ns=now_ns - max(0, ports.traces.age_ns(run)),
    )  # fmt: skip
    live.active_ns, live.named = now_ns, (run.session, run.model)
    live.session, live.model = live.named
    live.is_paused, live.paused_at_ns = run.state == states.PAUSED, now_ns
    live.paused_ns = ports.store.read(lambda view: records.paused_ns(view, run))
    live.is_of_earlier_boot = ports.traces.is_of_earlier_boot(run)
    live.oom_kills_before = ports.traces.oom_kills()
    live.is_bond_free = lambda: ports.traces.is_bond_free(run)
    live.spent = ports.store.read(lambda view: spent_before(view, run.task, run.id))
    return live


def _stopped_by(live: LiveRun, run: Run) -> str:
    """Who stopped a run while there was no supervisor: the kill that came before its client was started, or a
    person who asked for it; "" if the client ended by itself."""
    if not live.group.was_started():
        return judging_ends.BY_INTERRUPT
    return judging_ends.BY_PERSON if run.asked in (records.STOP, records.STOP_HARD) else ""


def _put_back_unstarted(ports: RunPorts, idle: set[str]) -> None:
    """Put back tasks that our agents took for a run that a kill kept from beginning."""

    def find(view: View) -> list[tuple[Task, str]]:
        found = [task for task in view.scan(TASK, "ready", (TAKEN,)) if task.agent in idle]
        agents = [view.get(AGENT, (task.agent,)) for task in found]
        bonds = [agent.bond if agent is not None else "" for agent in agents]
        return list(zip(found, bonds, strict=True))

    for task, bond in ports.store.read(find):
        if not bond or ports.traces.is_unattended(bond):
            records.put_back(ports.store, Caller(task.agent), task.id, "its run never began")
