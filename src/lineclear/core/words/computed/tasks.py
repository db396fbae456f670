"""Refusals whose words are computed; their sentences are in sentences/tasks.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.words.refusals import (
    lease,
    refuse,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.core.instants import Instant
    from lineclear.core.words.refusals import Refusal


def task_taken(task: str, agent: str, until_ns: int, now: Instant) -> Refusal:
    return refuse("task.taken", task=task, holder=agent, **lease(until_ns, now))


def task_not_yours(task: str, agent: str, until_ns: int, now: Instant) -> Refusal:
    return refuse("task.not_yours", task=task, holder=agent, **lease(until_ns, now))


def task_cycle(cycle: list[int]) -> Refusal:
    tasks = [f"T-{number}" for number in cycle]
    return refuse("task.cycle", task=tasks[0], before=tasks[1], chain=" -> ".join(tasks), cycle=tasks)


def no_task(
    ready: int, waiting: int, busy: int, *, needs: Sequence[str] = (), is_new: bool = False
) -> Refusal:
    """`ready` tasks need skills that the agent has not named, the first ones as `needs` tells; `is_new`:
    there has never been a task."""
    named = f" ({', '.join(needs)})" if needs else ""
    why = [f"{ready} for skills you have not named{named}"] if ready else []
    why += [f"{waiting} waiting for other tasks"] if waiting else []
    why += [f"{busy} in progress"] if busy else []
    if is_new:
        return refuse("task.none/empty", ready=0, waiting=0, busy=0, needs=[])
    return refuse(
        "task.none",
        why=", ".join(why),
        state="" if why else "All tasks have ended or wait to land.",
        ready=ready,
        waiting=waiting,
        busy=busy,
        needs=list(needs),
    )


def task_needs(task: str, missing: list[str]) -> Refusal:
    return refuse("task.needs", task=task, missing=missing, first=missing[0])


def no_task_came(waited_ms: int, last: Refusal) -> Refusal:
    """`last` is the refusal that came again and again while waiting."""
    return refuse("task.timeout", what=last.what, who=last.who, waited_ms=waited_ms, reason=last.code)
