"""Refusals whose words are computed; their sentences are in sentences/queue.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.queue.landing_results import makers_of, one_line, tell_conflict
from lineclear.core.words.refusals import (
    refuse,
    shorten,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from lineclear.core.words.refusals import Refusal


def not_as_asked(task: str, reason: str) -> Refusal:
    return refuse("land.rejected", task=task, reason=reason, line=one_line(reason))


def git_failed(command: str, words: str) -> Refusal:
    return refuse("git.failed", command=command, words=words.strip(), cause=cause_of(words))


# Git says this after the program that it asked, such as ssh, has named the cause.
_AFTER_THE_CAUSE = "fatal: Could not read from remote repository."


def cause_of(words: str) -> str:
    """The line of git's error output that names the cause: its first error, else its last line."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    at = next((at for at, line in enumerate(lines) if line.startswith(("fatal:", "error:"))), len(lines) - 1)
    if at > 0 and lines[at] == _AFTER_THE_CAUSE:
        at -= 1
    return lines[at].removeprefix("fatal:").removeprefix("error:").strip() if lines else "it gave no reason"


def not_integrated(open_count: int, waiting: int) -> Refusal:
    """`open_count` proposals are undecided; `waiting` of them are candidates in the queue."""
    return refuse(
        "phase.unfinished/queued" if waiting else "phase.unfinished", open=open_count, waiting=waiting
    )


def full_check_unsettled(commit: str, why: str) -> Refusal:
    return refuse("phase.unsettled", commit=commit, short=commit[:12], why=why)


def undo_conflicts(number: str, conflicts: Sequence[dict[str, Any]]) -> Refusal:
    more = f" and {len(conflicts) - 1} more" if len(conflicts) > 1 else ""
    where = shorten(tell_conflict(conflicts[0]), 100) + more
    makers = makers_of(conflicts)
    return refuse(
        "queue.undo_conflicts", candidate=number, conflicts=list(conflicts), where=where, makers=makers
    )
