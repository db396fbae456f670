"""Refusals about tasks. Words only, no decision."""

from __future__ import annotations

from lineclear.core.instants import show_wall
from lineclear.core.refusals import (
    HELD,
    NOT_ALLOWED,
    NOT_FOUND,
    STALE,
    USAGE,
    Refusal,
    named,
    pasted,
    shorten,
    until,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.instants import Instant


# -- tasks ----------------------------------------------------------------------------------------


def task_taken(task: str, agent: str, until_ns: int, now: Instant) -> Refusal:
    return Refusal(
        "task.taken",
        f"{task} is taken.",
        who=f"{named(agent)} works on it {until(until_ns, now)}.",
        next_="lineclear task next",
        exit_code=HELD,
        task=task,
        holder=agent,
        expires_at=show_wall(now.wall_of(until_ns)),
    )


def task_ends_with_run(task: str, branch: str) -> Refusal:
    """An agent under a supervisor whose work is on a branch: `done` would leave the branch behind."""
    return Refusal(
        "task.run",
        f"{task} is not ended by hand: its work on {shorten(branch, 60)} would never land.",
        who="It is checked, landed and ended for you as soon as your session ends.",
        next_=f'lineclear task note {task} "done, because ..."',
        exit_code=NOT_ALLOWED,
        task=task,
        branch=branch,
    )


def task_not_yours(task: str, agent: str, until_ns: int, now: Instant) -> Refusal:
    return Refusal(
        "task.not_yours",
        f"{task} is not yours to end.",
        who=f"{named(agent)} works on it {until(until_ns, now)}.",
        next_=f"lineclear say --to {pasted(agent, 'AGENT')} TEXT",
        exit_code=HELD,
        task=task,
        holder=agent,
        expires_at=show_wall(now.wall_of(until_ns)),
    )


def task_wrong_state(task: str, state: str, verb: str) -> Refusal:
    return Refusal(
        "task.state",
        f'{task} is {state}; "{verb}" does not apply to it.',
        next_=f"lineclear task show {task}",
        exit_code=STALE,
        task=task,
        state=state,
    )


def task_not_ready(task: str, waits_for: list[str]) -> Refusal:
    return Refusal(
        "task.not_ready",
        f"{task} cannot be taken yet.",
        who=f"It comes after {shorten(', '.join(waits_for), 120)}.",
        next_="lineclear task next",
        exit_code=HELD,
        task=task,
        waits_for=waits_for,
    )


def task_cycle(cycle: list[int]) -> Refusal:
    chain = [f"T-{number}" for number in cycle]
    return Refusal(
        "task.cycle",
        f"{chain[0]} cannot come after {chain[1]}: none of them would ever be ready.",
        who=f"The circle is {shorten(' -> '.join(chain), 140)}.",
        next_=f"lineclear task show {chain[1]}",
        exit_code=USAGE,
        cycle=chain,
    )


def import_cycle(refs: list[str]) -> Refusal:
    return Refusal(
        "task.cycle",
        "The list cannot be imported: some tasks wait for each other.",
        who=f"The circle is {shorten(' -> '.join(refs), 140)}.",
        next_="lineclear task import --help",
        exit_code=USAGE,
        cycle=refs,
    )


def task_is_same(task: str, other: str) -> Refusal:
    return Refusal(
        "task.same",
        f"{task} is itself the same as {other}.",
        next_=f"lineclear task show {other}",
        exit_code=USAGE,
        task=task,
        same_as=other,
    )


def no_task(ready: int, waiting: int, busy: int) -> Refusal:
    why = [f"{ready} need skills you have not named"] if ready else []
    why += [f"{waiting} wait for others"] if waiting else []
    why += [f"{busy} are being worked on"] if busy else []
    return Refusal(
        "task.none",
        "There is no task for you now.",
        who=f"Of the unfinished ones {', '.join(why)}." if why else "The list is empty.",
        next_="lineclear task list",
        exit_code=NOT_FOUND,
        ready=ready,
        waiting=waiting,
        busy=busy,
    )


def task_needs(task: str, missing: list[str]) -> Refusal:
    return Refusal(
        "task.needs",
        f"{task} needs what you have not said you are.",
        who=f"Missing: {shorten(', '.join(missing), 120)}.",
        next_=f"lineclear task next {task} --can {pasted(missing[0], 'SKILL')}",
        exit_code=NOT_ALLOWED,
        task=task,
        missing=missing,
    )
