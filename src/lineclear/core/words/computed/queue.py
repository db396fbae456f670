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
    words = words.strip()
    return refuse("git.failed", command=command, words=words, cause=words.rpartition("\n")[2])


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
