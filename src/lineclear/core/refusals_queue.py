"""Refusals of the queue. Words only, no decision."""

from __future__ import annotations

from lineclear.core.queue.landing import makers_of, tell_conflict
from lineclear.core.refusals import (
    FAILED,
    FINDINGS,
    HELD,
    NOT_ALLOWED,
    NOT_FOUND,
    TIMED_OUT,
    USAGE,
    Refusal,
    named,
    pasted,
    shorten,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def candidate_unknown(number: str) -> Refusal:
    return Refusal(
        "queue.unknown",
        f"There is no candidate {shorten(number, 30)}.",
        next_="lineclear queue list --all",
        exit_code=NOT_FOUND,
        candidate=shorten(number, 30),
    )


def candidate_ended(number: str, state: str, verb: str) -> Refusal:
    return Refusal(
        "queue.ended",
        f"{number} is {state}, so it is too late for {verb}.",
        next_=f"lineclear queue show {number}",
        exit_code=NOT_ALLOWED,
        candidate=number,
        state=state,
    )


def not_held(number: str, state: str) -> Refusal:
    return Refusal(
        "queue.not_held",
        f"{number} is {state}; only what is held or needs you can be tried again.",
        next_=f"lineclear queue show {number}",
        exit_code=NOT_ALLOWED,
        candidate=number,
        state=state,
    )


def already_waits(branch: str, number: str, task: str) -> Refusal:
    return Refusal(
        "queue.twice",
        f"{shorten(branch)} waits already as {number}, for {task or 'no task'}.",
        next_=f"lineclear queue show {number}",
        exit_code=HELD,
        branch=shorten(branch, 250),
        candidate=number,
    )


def breaks_order(number: str, other: str) -> Refusal:
    return Refusal(
        "queue.order",
        f"{number} cannot come before {other}: it builds on it.",
        next_=f"lineclear queue show {number}",
        exit_code=USAGE,
        candidate=number,
        other=other,
    )


def own_work(number: str, agent: str) -> Refusal:
    return Refusal(
        "queue.own",
        f"{number} is the work of {named(agent)}, who cannot approve it.",
        who="Another agent or a person has to look at it.",
        next_=f"lineclear queue show {number}",
        exit_code=NOT_ALLOWED,
        candidate=number,
        agent=agent,
    )


def changed_since(number: str, branch: str) -> Refusal:
    return Refusal(
        "queue.changed",
        f"{number} has new commits since you looked at it.",
        who=f"They are on {shorten(branch)}.",
        next_=f"lineclear queue show {number}",
        exit_code=NOT_ALLOWED,
        candidate=number,
    )


def queue_paused(who: str, why: str) -> Refusal:
    return Refusal(
        "queue.paused",
        "The queue is paused; nothing lands.",
        who=f"{named(who)} paused it" + (f": {shorten(why, 120)}." if why else "."),
        next_="lineclear queue resume",
        exit_code=TIMED_OUT,
        agent=who,
    )


def queue_runs_elsewhere(who: str) -> Refusal:
    return Refusal(
        "queue.running",
        "Another process runs the queue already.",
        who=f"It is {named(who)}; what you submit is landed there." if who else "",
        next_="lineclear queue list",
        exit_code=HELD,
        agent=who,
    )


def nothing_to_undo(agent: str) -> Refusal:
    return Refusal(
        "queue.nothing_to_undo",
        f"Nothing that {named(agent)} landed is left to be taken back.",
        next_="lineclear queue list --all",
        exit_code=NOT_FOUND,
        agent=agent,
    )


def not_landed(number: str, state: str) -> Refusal:
    return Refusal(
        "queue.not_landed",
        f"{number} is {state}, so there is no landing to take back.",
        next_=f"lineclear queue show {number}",
        exit_code=NOT_FOUND,
        candidate=number,
        state=state,
    )


def undone_already(number: str, by: str) -> Refusal:
    return Refusal(
        "queue.undone",
        f"{number} is taken back already; main holds nothing of it."
        if not by
        else f"{number} is taken back already, by {by}",
        next_=f"lineclear queue show {by or number}",
        exit_code=NOT_FOUND,
        candidate=number,
        by=by,
    )


def undo_conflicts(number: str, conflicts: Sequence[dict[str, Any]]) -> Refusal:
    first = tell_conflict(conflicts[0])
    more = f" and {len(conflicts) - 1} more" if len(conflicts) > 1 else ""
    makers = makers_of(conflicts)
    whose = f"; since then {shorten(', '.join(makers), 100)}" if makers else ""
    return Refusal(
        "queue.undo_conflicts",
        f"{number} cannot be taken back by itself: what landed since builds on it.",
        who=f"{shorten(first, 100)}{more}{whose}.",
        next_="git revert --help",
        exit_code=FINDINGS,
        candidate=number,
        conflicts=list(conflicts),
    )


# -- pull requests --------------------------------------------------------------------------------


def no_remote(remote: str) -> Refusal:
    return Refusal(
        "pr.remote",
        f'There is no remote "{shorten(remote)}" that a pull request could be opened on.',
        next_="git remote --verbose",
        exit_code=NOT_FOUND,
        remote=shorten(remote, 200),
    )


def tool_missing(tool: str, remote: str) -> Refusal:
    return Refusal(
        "pr.tool",
        f"A pull request on {shorten(remote)} is opened through `{tool}`, which is not installed.",
        who="Install it, or land the branch here.",
        next_="lineclear land",
        exit_code=FAILED,
        tool=tool,
        remote=shorten(remote, 200),
    )


def not_logged_in(tool: str, words: str) -> Refusal:
    return Refusal(
        "pr.login",
        f"`{tool}` is not logged in: {shorten(words, 140)}",
        next_=f"{tool} auth login",
        exit_code=NOT_ALLOWED,
        tool=tool,
        words=shorten(words, 500),
    )


def push_refused(remote: str, branch: str, words: str) -> Refusal:
    return Refusal(
        "pr.push",
        f"{shorten(remote, 40)} does not take {shorten(branch)}: {shorten(words, 120)}",
        next_=f"git fetch {pasted(remote, 'REMOTE')}",
        exit_code=FAILED,
        remote=shorten(remote, 200),
        branch=shorten(branch, 250),
        words=shorten(words, 500),
    )


def tool_failed(tool: str, words: str) -> Refusal:
    return Refusal(
        "pr.failed",
        f"`{tool}` could not open it: {shorten(words, 160)}",
        who="The branch is pushed; once more is harmless.",
        next_=f"{tool} auth status",
        exit_code=FAILED,
        tool=tool,
        words=shorten(words, 500),
    )
