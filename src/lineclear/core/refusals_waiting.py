"""Refusals of those who waited in vain. Words only, no decision."""

from __future__ import annotations

from lineclear.core.instants import show_duration
from lineclear.core.refusals import TIMED_OUT, Refusal


def no_task_came(waited_ms: int, last: Refusal) -> Refusal:
    """`last` is the answer that was given again and again while waiting."""
    return Refusal(
        "task.timeout",
        f"{last.what} {show_duration(waited_ms)} of waiting did not change that.",
        who=last.who,
        next_="lineclear task list",
        exit_code=TIMED_OUT,
        waited_ms=waited_ms,
        reason=last.code,
    )


def no_message_came(waited_ms: int) -> Refusal:
    return Refusal(
        "inbox.timeout",
        f"No message came within {show_duration(waited_ms)}.",
        next_="lineclear task next",
        exit_code=TIMED_OUT,
        waited_ms=waited_ms,
    )
