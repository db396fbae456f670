"""Refusals about tasks and messages: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.refusals import (
    HELD,
    NOT_ALLOWED,
    NOT_FOUND,
    STALE,
    TIMED_OUT,
    USAGE,
    Row,
    lease,
    refuse,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.instants import Instant
    from lineclear.core.words.refusals import Refusal

ROWS = {
    "task.run": Row(
        NOT_ALLOWED,
        "{task} is not ended by hand: its work on {branch} would never land.",
        who="It is checked, landed and ended for you as soon as your session ends.",
        next='lineclear task note {task} "done, because ..."',
    ),
    "task.state": Row(
        STALE,
        '{task} is {state}; "{verb}" does not apply to it.',
        next="lineclear task show {task}",
        words=("verb",),
    ),
    "task.not_ready": Row(
        HELD, "{task} cannot be taken yet.", who="It comes after {waits_for:120}.", next="lineclear task next"
    ),
    "task.cycle": Row(
        USAGE,
        "{task} cannot come after {before}: none of them would ever be ready.",
        who="The circle is {chain:140}.",
        next="lineclear task show {before}",
        words=("before", "chain", "task"),
    ),
    "task.same": Row(USAGE, "{task} is itself the same as {same_as}.", next="lineclear task show {same_as}"),
    "task.taken": Row(
        HELD,
        "{task} is taken.",
        who="{holder:32} works on it {until}.",
        next="lineclear task next",
        words=("until",),
    ),
    "task.not_yours": Row(
        HELD,
        "{task} is not yours to end.",
        who="{holder:32} works on it {until}.",
        next="lineclear say --to {holder:AGENT} TEXT",
        words=("until",),
    ),
    "task.cycle/import": Row(
        USAGE,
        "The list cannot be imported: some tasks wait for each other.",
        who="The circle is {cycle:140}.",
        next="lineclear task import --help",
    ),
    "task.none": Row(
        NOT_FOUND,
        "There is no task for you now.",
        who=("Of the unfinished ones {why:160}.", "The list is empty."),
        next="lineclear task list",
        words=("why",),
    ),
    "task.needs": Row(
        NOT_ALLOWED,
        "{task} needs what you have not said you are.",
        who="Missing: {missing:120}.",
        next="lineclear task next {task} --can {first:SKILL}",
        words=("first",),
    ),
    "task.timeout": Row(
        TIMED_OUT,
        "{what:100} {waited_ms:duration} of waiting did not change that.",
        who="{who:120}",
        next="lineclear task list",
        words=("what", "who"),
    ),
    "inbox.timeout": Row(
        TIMED_OUT, "No message came within {waited_ms:duration}.", next="lineclear task next"
    ),
}


def task_taken(task: str, agent: str, until_ns: int, now: Instant) -> Refusal:
    return refuse("task.taken", task=task, holder=agent, **lease(until_ns, now))


def task_not_yours(task: str, agent: str, until_ns: int, now: Instant) -> Refusal:
    return refuse("task.not_yours", task=task, holder=agent, **lease(until_ns, now))


def task_cycle(cycle: list[int]) -> Refusal:
    tasks = [f"T-{number}" for number in cycle]
    return refuse("task.cycle", task=tasks[0], before=tasks[1], chain=" -> ".join(tasks), cycle=tasks)


def no_task(ready: int, waiting: int, busy: int) -> Refusal:
    why = [f"{ready} need skills you have not named"] if ready else []
    why += [f"{waiting} wait for others"] if waiting else []
    why += [f"{busy} are being worked on"] if busy else []
    return refuse("task.none", why=", ".join(why), ready=ready, waiting=waiting, busy=busy)


def task_needs(task: str, missing: list[str]) -> Refusal:
    return refuse("task.needs", task=task, missing=missing, first=missing[0])


def no_task_came(waited_ms: int, last: Refusal) -> Refusal:
    """`last` is the answer that was given again and again while waiting."""
    return refuse("task.timeout", what=last.what, who=last.who, waited_ms=waited_ms, reason=last.code)
