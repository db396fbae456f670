"""Choose which tasks start now: read the ready tasks and the free workers, and ask the rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.radar.troubled_files import troubled_files
from lineclear.core.claims.granting import EXCLUSIVE
from lineclear.core.claims.leases import is_over
from lineclear.core.log.tables import CLAIM, RUN, TASK, TASK_DEP, split_names
from lineclear.core.runs.ends import counts_as_attempt
from lineclear.core.tasks.assignment import TaskWorker, blocked_forever, can_do, choose_starts, not_now
from lineclear.core.tasks.states import OPEN, TAKEN, show_id
from lineclear.core.words.refusals import until

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.app.ports import View
    from lineclear.app.runs.workers import WorkerSlot


@dataclass(frozen=True, slots=True)
class StartPlan:
    """`starts`: which slot begins which task. `is_waiting`: a task is ready that one of the slots could
    do."""

    starts: list[tuple[WorkerSlot, int]]
    is_waiting: bool


def choose(
    view: View, slots: list[WorkerSlot], free: list[WorkerSlot], only: frozenset[int], aside: set[int]
) -> StartPlan:
    """Which of the `free` slots begin which tasks. `only`: consider just these tasks, if any are given;
    `aside`: tasks to leave alone."""
    ready = [
        task
        for task in view.scan(TASK, "ready", (OPEN, 0))
        if task.id not in aside and (not only or task.id in only)
    ]
    everybody = [worker_of(slot) for slot in slots]
    doable = [task for task in ready if any(can_do(worker, task) for worker in everybody)]
    if not doable or not free:
        return StartPlan([], bool(doable))
    claims = [claim for claim in view.scan(CLAIM, "key") if not is_over(claim.until_ns, view.now)]
    taken = view.scan(TASK, "ready", (TAKEN,))
    starts = choose_starts(
        workers=[worker_of(slot) for slot in free],
        ready=doable,
        busy_scopes=[
            *(text for task in taken for text in split_names(task.scope)),
            *(claim.resource for claim in claims),
        ],
        exclusive=[(claim.agent, claim.resource) for claim in claims if claim.mode == EXCLUSIVE],
        avoid={task.id: name for task in doable if (name := _failed_last(view, task.id))},
        troubled=troubled_files(view),
    )
    by_name = {slot.agent: slot for slot in free}
    return StartPlan([(by_name[start.worker], start.task_id) for start in starts], True)


def worker_of(slot: WorkerSlot) -> TaskWorker:
    return TaskWorker(name=slot.agent, client=slot.client, labels=slot.labels, has_worktree=slot.has_worktree)


def _failed_last(view: View, task: int) -> str:
    """The agent that tried last and failed; "" if none. Another agent may see what it did not."""
    last = view.scan(RUN, "task", (task,), reverse=True, limit=1)
    return last[0].agent if last and last[0].how and counts_as_attempt(last[0].how) else ""


def why_blocked(view: View, slots: Iterable[WorkerSlot], only: frozenset[int]) -> list[str]:
    """For a person: why the tasks that have not ended do not start, now or ever."""
    tasks = view.scan(TASK, "key")
    deps: dict[int, list[int]] = {}
    for link in view.scan(TASK_DEP, "key"):
        deps.setdefault(link.task, []).append(link.dep)
    stuck = blocked_forever(tasks=tasks, workers=[worker_of(slot) for slot in slots], deps=deps)
    exclusive = [
        (claim.agent, claim.resource, until(claim.until_ns, view.now))
        for claim in view.scan(CLAIM, "key")
        if claim.mode == EXCLUSIVE and not is_over(claim.until_ns, view.now)
    ]
    waiting = not_now(tasks=tasks, deps=deps, exclusive=exclusive, only=only)
    reasons = {found.task_id: found for found in (*waiting, *stuck)}
    return [
        f"{show_id(number)}: {found.reason}"
        for number, found in sorted(reasons.items())
        if not only or number in only
    ]
