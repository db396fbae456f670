"""Refusals about tasks and messages: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.row import HELD, NOT_ALLOWED, NOT_FOUND, STALE, TIMED_OUT, USAGE, Row

ROWS = {
    "task.run": Row(
        NOT_ALLOWED,
        "Cannot end {task} by hand: its work on {branch} would never land.",
        who="lineclear checks it, lands it and ends the task when your session ends.",
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
        "{task} cannot come after {before}: they would wait for each other.",
        who="The cycle is {chain:140}.",
        next="lineclear task show {before}",
        words=("before", "chain", "task"),
    ),
    "task.same": Row(
        USAGE, "{task} is itself a duplicate of {same_as}.", next="lineclear task show {same_as}"
    ),
    "task.taken": Row(
        HELD,
        "{task} is taken.",
        who="{holder:32} holds it {until}.",
        next="lineclear task next",
        words=("until",),
    ),
    "task.not_yours": Row(
        HELD,
        "Cannot end {task}: it is not yours.",
        who="{holder:32} holds it {until}.",
        next="lineclear say --to {holder:AGENT} TEXT",
        words=("until",),
    ),
    "task.cycle/import": Row(
        USAGE,
        "The list cannot be imported: some tasks wait for each other.",
        who="The cycle is {cycle:140}.",
        next="lineclear task import --help",
    ),
    "task.none": Row(
        NOT_FOUND,
        "There is no task for you now.",
        who=("Unfinished tasks: {why:160}.", "{state}"),
        next="lineclear task list",
        words=("state", "why"),
    ),
    "task.none/empty": Row(
        NOT_FOUND,
        "There is no task for you now.",
        who="The list is empty.",
        next="lineclear task add TITLE",
    ),
    "task.needs": Row(
        NOT_ALLOWED,
        "{task} needs skills that you have not named.",
        who="Missing: {missing:120}.",
        next="lineclear task next {task} --can {first:SKILL}",
        words=("first",),
    ),
    "task.timeout": Row(
        TIMED_OUT,
        "{what:100} Nothing changed in {waited_ms:duration}.",
        who="{who:120}",
        next="lineclear task list",
        words=("what", "who"),
    ),
    "inbox.timeout": Row(
        TIMED_OUT, "No message came within {waited_ms:duration}.", next="lineclear task next"
    ),
}
