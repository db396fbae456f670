"""Refusals of the queue. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import (
    HELD,
    NOT_ALLOWED,
    NOT_FOUND,
    TIMED_OUT,
    USAGE,
    Refusal,
    named,
    shorten,
)


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
