"""Use cases for runs: begin one, ask it to stop, pause or resume, and end it. A run is one start of a client
on one task.

A run's end and its task's next state are one transaction, so no task is left without an owner.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from lineclear.app.agents.dead_agents import free_agent
from lineclear.app.agents.membership import ensure_agent
from lineclear.core.instants import show_wall
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import AGENT, LOG, RUN, TASK
from lineclear.core.runs.ends import DONE, LOST, counts_as_attempt
from lineclear.core.runs.states import ENDED, PAUSED, RUNNING
from lineclear.core.tasks.states import TAKEN, give_back, show_id
from lineclear.core.words.computed.tasks import task_not_yours
from lineclear.core.words.refusals import not_found

if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.core.log.tables import Run, Task

STOP, STOP_HARD, PAUSE, RESUME = "stop", "stop hard", "pause", "resume"
LIVE = (RUNNING, PAUSED)


@dataclass(frozen=True, slots=True)
class Start:
    """What is known when a client starts. `token_hash`: of the token that identifies the run's agent."""

    task: int
    attempt: int
    _: KW_ONLY
    client: str
    model: str = ""
    tree: str = ""
    branch: str = ""
    base: str = ""
    token_hash: str = ""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended, and what it used (-1 for unknown). With a `branch` its task is handed over, without
    one it is accepted with the `result`."""

    how: str
    reason: str = ""
    _: KW_ONLY
    exit_code: int = -1
    tokens_in: int = -1
    tokens_out: int = -1
    cost_micros: int = -1
    snapshot: str = ""
    branch: str = ""
    result: str = ""


def begin(store: Store, caller: Caller, start: Start) -> int:
    """Log the start of a run; returns its id. The caller is the agent, with the bond of the process to be
    started. Calling it again with the same bond has no effect."""

    def work(tx: Tx) -> int:
        begun = live_run_of(tx, caller.name)
        if begun is not None and caller.bond and begun.bond == caller.bond:
            return begun.id
        ensure_agent(tx, caller)
        task = tx.get(TASK, (start.task,))
        if task is None or not is_held_by(task, caller.name, start.attempt):
            holder, until_ns = (task.agent, task.until_ns) if task is not None else ("", 0)
            raise task_not_yours(show_id(start.task), holder, until_ns, tx.now)
        event = tx.append(
            Draft(
                "RunStarted", show_id(start.task), agent=caller.name, task=start.task, attempt=start.attempt,
                client=start.client, model=start.model, tree=start.tree, branch=start.branch, base=start.base,
                bond=caller.bond, token_hash=start.token_hash,
            )
        )  # fmt: skip
        return event.position

    return store.transact(caller, work)


def name(store: Store, caller: Caller, number: int, session: str, model: str) -> None:
    """Log the client's session and model, when the client reports them."""

    def work(tx: Tx) -> None:
        run = _live(tx, number)
        if (run.session, run.model) != (session, model or run.model):
            tx.append(Draft("RunNamed", show_id(run.task), id=number, session=session, model=model))

    store.transact(caller, work)


def ask(store: Store, caller: Caller, agent: str, what: str) -> dict[str, Any]:
    """Ask an agent's live run to stop, pause or resume; its supervisor acts on it."""

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        run = live_run_of(tx, agent)
        if run is None:
            raise not_found("running agent", agent, "lineclear")
        tx.append(Draft("RunAsked", show_id(run.task), id=run.id, what=what))
        return {"run": show_run(run), "asked": what}

    return store.transact(caller, work)


def pause(store: Store, caller: Caller, number: int, why: str) -> None:
    def work(tx: Tx) -> None:
        run = _live(tx, number)
        tx.append(Draft("RunPaused", show_id(run.task), id=number, why=why))

    store.transact(caller, work)


def resume(store: Store, caller: Caller, number: int) -> None:
    def work(tx: Tx) -> None:
        run = _live(tx, number)
        tx.append(Draft("RunResumed", show_id(run.task), id=number))

    store.transact(caller, work)


def end(store: Store, caller: Caller, number: int, ending: Ending) -> dict[str, Any]:
    """End a run and move its task to its next state. Ending it again has no effect."""

    def work(tx: Tx) -> dict[str, Any]:
        run = _known(tx, number)
        if run.state == ENDED:
            return {"run": show_run(run), "ended_before": True}
        tx.append(
            Draft(
                "RunEnded", show_id(run.task), id=number, how=ending.how, reason=ending.reason,
                exit_code=ending.exit_code, tokens_in=ending.tokens_in, tokens_out=ending.tokens_out,
                cost_micros=ending.cost_micros, snapshot=ending.snapshot,
            )
        )  # fmt: skip
        task = tx.get(TASK, (run.task,))
        if task is not None and is_held_by(task, run.agent, run.attempt) and ending.how != LOST:
            tx.append(_follow(task, ending))
        if ending.how != DONE:
            # Sub-agents ran in the process that has ended, too.
            for row in tx.scan(AGENT, "key"):
                if row.state == "here" and (row.name == run.agent or row.name.startswith(run.agent + "/")):
                    free_agent(tx, row.name, ending.how)
        return {"run": show_run(_known(tx, number)), "ended_before": False}

    return store.transact(caller, work)


def put_back(store: Store, caller: Caller, number: int, why: str) -> None:
    """Reopen a task that was taken for a run that never started; it does not count as an attempt."""

    def work(tx: Tx) -> None:
        task = tx.get(TASK, (number,))
        if task is not None and task.state == TAKEN and task.agent == caller.name:
            tx.append(Draft("TaskPutBack", show_id(number), id=number, why=why))

    store.transact(caller, work)


def _follow(task: Task, ending: Ending) -> Draft:
    """The task's next state: handed over, accepted, given back for its next attempt, or just open again."""
    subject = show_id(task.id)
    if ending.how == DONE and ending.branch:
        return Draft("TaskHandedOver", subject, id=task.id, branch=ending.branch)
    if ending.how == DONE:
        return Draft("TaskAccepted", subject, id=task.id, result=ending.result)
    if counts_as_attempt(ending.how):
        return give_back(task, f"{ending.how}: {ending.reason}")
    return Draft("TaskPutBack", subject, id=task.id, why=f"{ending.how}: {ending.reason}")


# -- reading ----------------------------------------------------------------------------------


def is_held_by(task: Task, agent: str, attempt: int) -> bool:
    return task.state == TAKEN and task.agent == agent and task.attempt == attempt


def live_runs(view: View) -> list[Run]:
    return [run for state in LIVE for run in view.scan(RUN, "state", (state,))]


def live_run_of(view: View, agent: str) -> Run | None:
    return next((run for run in live_runs(view) if run.agent == agent), None)


def runs_of_task(view: View, task: int) -> list[Run]:
    """Oldest first."""
    return view.scan(RUN, "task", (task,))


def paused_ns(view: View, run: Run) -> int:
    """How long the run has been paused so far, including a pause that still lasts."""
    passed_ns = from_ns = 0
    for entry in view.scan(LOG, "subject", (show_id(run.task),)):
        if entry.position > run.id and entry.kind == "RunPaused":
            from_ns = from_ns or entry.at_ns
        elif entry.position > run.id and entry.kind == "RunResumed" and from_ns:
            passed_ns, from_ns = passed_ns + entry.at_ns - from_ns, 0
    return passed_ns + (view.now.wall_ns - from_ns if from_ns else 0)


def show_run(run: Run) -> dict[str, Any]:
    """The run as data; unknown numbers are null, never 0."""
    return {
        "id": run.id,
        "agent": run.agent,
        "task": show_id(run.task),
        "attempt": run.attempt,
        "client": run.client,
        "model": run.model,
        "branch": run.branch,
        "session": run.session,
        "state": run.state,
        "how": run.how,
        "reason": run.reason,
        "exit_code": _or_none(run.exit_code),
        "tokens_in": _or_none(run.tokens_in),
        "tokens_out": _or_none(run.tokens_out),
        "cost_usd": None if run.cost_micros < 0 else run.cost_micros / 1_000_000,
        "snapshot": run.snapshot,
        "started_at": show_wall(run.started_ns),
        "ended_at": show_wall(run.ended_ns) if run.ended_ns else None,
    }


def _or_none(number: int) -> int | None:
    return None if number < 0 else number


def _known(view: View, number: int) -> Run:
    run = view.get(RUN, (number,))
    if run is None:
        raise not_found("run", str(number), "lineclear log")
    return run


def _live(view: View, number: int) -> Run:
    run = _known(view, number)
    if run.state == ENDED:
        raise not_found("live run", str(number), "lineclear log")
    return run
