"""Refusals around phases, and around files that are proposed. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import FINDINGS, HELD, NOT_ALLOWED, USAGE, Refusal, named, proposing, shorten


def other_phase(resource: str, bound: str, now: str, owner: str) -> Refusal:
    by = f" by {named(owner)}" if owner else " by the integrator" if bound == "integrate" else ""
    return Refusal(
        "write.phase",
        f"{shorten(resource)} is not written in the phase {now}.",
        who=f"It is written{by} once a person begins the phase {bound}; until then it is proposed.",
        next_=proposing(resource),
        exit_code=NOT_ALLOWED,
        resource=resource,
        phase=now,
        bound=bound,
        holder=owner,
    )


def only_integrated(resource: str) -> Refusal:
    return Refusal(
        "write.integrated",
        f"{shorten(resource)} is being integrated and not yours to write.",
        who="The integrator writes it, until a person ends the phase integrate.",
        next_=proposing(resource),
        exit_code=NOT_ALLOWED,
        resource=resource,
    )


def phase_not_next(now: str, wanted: str, following: str) -> Refusal:
    return Refusal(
        "phase.order",
        f"{wanted} does not follow {now}.",
        who="The order is parallel, integrate, test; back to parallel from anywhere.",
        next_=f"lineclear phase {following}",
        exit_code=USAGE,
        phase=now,
        wanted=wanted,
    )


def not_integrated(open_count: int, waiting: int) -> Refusal:
    """`open_count` proposals are undecided; `waiting` of them are candidates in the queue."""
    told = "1 proposal is" if open_count == 1 else f"{open_count} proposals are"
    return Refusal(
        "phase.unfinished",
        f"Integration is not done: {told} undecided.",
        who=f"{waiting} of them in the queue." if waiting else "Their owners decide, or a person.",
        next_="lineclear queue run --once" if waiting else "lineclear proposal list",
        exit_code=HELD,
        open=open_count,
        waiting=waiting,
    )


def phase_busy() -> Refusal:
    return Refusal(
        "phase.busy",
        "Another process is at work on this phase already.",
        next_="lineclear phase",
        exit_code=HELD,
    )


def no_full_check() -> Refusal:
    return Refusal(
        "phase.no_check",
        "There is no command that runs all tests, so there is nothing to do in the phase test.",
        who="lineclear.toml on main states none as checks.full.",
        next_="lineclear config show",
        exit_code=USAGE,
    )


def full_check_unsettled(commit: str, why: str) -> Refusal:
    return Refusal(
        "phase.unsettled",
        f"All tests could not be run on {shorten(commit[:12])}: {shorten(why, 140)}.",
        next_="lineclear phase test",
        exit_code=FINDINGS,
        commit=commit,
    )


# -- files that are proposed ----------------------------------------------------------------------


def not_a_file(resource: str) -> Refusal:
    return Refusal(
        "proposal.not_a_file",
        f"{shorten(resource)} is not one file, so no content can be proposed for it.",
        next_="lineclear propose --help",
        exit_code=USAGE,
        resource=resource,
    )


def nothing_proposed(resource: str, why: str) -> Refusal:
    return Refusal(
        "proposal.nothing",
        f"Nothing is proposed for {shorten(resource)}: {shorten(why, 120)}.",
        next_="lineclear propose --help",
        exit_code=USAGE,
        resource=resource,
    )
