"""Refusals about values, copies and proposals. Words only, no decision."""

from __future__ import annotations

from lineclear.core.instants import show_wall
from lineclear.core.refusals import (
    HELD,
    NOT_ALLOWED,
    STALE,
    Refusal,
    named,
    pasted,
    proposing,
    shorten,
    until,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.core.instants import Instant
    from lineclear.core.log.tables import Claim


# -- values and proposals -------------------------------------------------------------------------


def value_stale(key: str, given: int | None, newest: int, agent: str) -> Refusal:
    by = f", written by {named(agent)}" if agent else ""
    if given is None:
        what = f'The value "{shorten(key)}" is not yours alone; say which version you read.'
    else:
        what = f'The value "{shorten(key)}" has moved on from version {given}; nothing was written.'
    return Refusal(
        "value.stale",
        what,
        who=f"Version {newest} is current{by}.",
        next_=f"lineclear value get {pasted(key, 'KEY')}" if key else "lineclear value list",
        exit_code=STALE,
        key=key,
        given=given,
        version=newest,
        holder=agent,
    )


def value_exists(key: str, version: int, agent: str) -> Refusal:
    return Refusal(
        "value.exists",
        f'The value "{shorten(key)}" exists already; nothing was written.',
        who=f"{named(agent)} wrote version {version}.",
        next_=f"lineclear value get {pasted(key, 'KEY')}",
        exit_code=STALE,
        key=key,
        version=version,
        holder=agent,
    )


def write_held(resource: str, claim: Claim, now: Instant) -> Refusal:
    return Refusal(
        "write.held",
        f"{shorten(resource)} is not yours to write.",
        who=f"{named(claim.agent)} holds {shorten(claim.resource)} {until(claim.until_ns, now)}.",
        next_=proposing(resource),
        exit_code=HELD,
        resource=resource,
        holder=claim.agent,
        expires_at=show_wall(now.wall_of(claim.until_ns)),
    )


def lock_first(resource: str) -> Refusal:
    return Refusal(
        "write.unlocked",
        f"{shorten(resource)} is shared by locking; you do not hold it.",
        next_=f"lineclear claim {pasted(resource)} --mode exclusive",
        exit_code=NOT_ALLOWED,
        resource=resource,
    )


def read_only(resource: str) -> Refusal:
    return Refusal(
        "write.read_only",
        f"{shorten(resource)} is read-only for agents.",
        who="lineclear.toml says so.",
        next_=f"lineclear who {pasted(resource)}",
        exit_code=NOT_ALLOWED,
        resource=resource,
    )


def not_the_writer(resource: str, owner: str) -> Refusal:
    return Refusal(
        "write.not_owner",
        f"{shorten(resource)} has a single writer, and it is not you.",
        who=f"{named(owner)} writes it." if owner else "Nobody owns it now.",
        next_=proposing(resource) if owner else f"lineclear claim {pasted(resource)} --mode exclusive",
        exit_code=NOT_ALLOWED,
        resource=resource,
        holder=owner,
    )


def not_the_owner(resource: str, owner: str) -> Refusal:
    return Refusal(
        "proposal.not_owner",
        f"Deciding about {shorten(resource)} is not yours.",
        who=f"{named(owner)} decides." if owner else "Nobody owns it now; a person may decide.",
        next_="lineclear proposal list",
        exit_code=NOT_ALLOWED,
        resource=resource,
        holder=owner,
    )


def proposal_decided(number: int, state: str, by: str) -> Refusal:
    return Refusal(
        "proposal.decided",
        f"Proposal {number} is decided: {state}.",
        who=f"{named(by)} decided it.",
        next_=f"lineclear proposal show {number}",
        exit_code=STALE,
        proposal=number,
        state=state,
        holder=by,
    )


def proposal_out_of_order(number: int, first: int, resource: str) -> Refusal:
    return Refusal(
        "proposal.order",
        f"Proposal {number} cannot be accepted yet.",
        who=f"Proposal {first} for {shorten(resource)} is older and still open.",
        next_=f"lineclear proposal show {first}",
        exit_code=HELD,
        proposal=number,
        first=first,
    )


def proposal_stale(number: int, resource: str, base: int, newest: int) -> Refusal:
    return Refusal(
        "proposal.stale",
        f"Proposal {number} is based on an old version; nothing was written.",
        who=f"It starts from version {base} of {shorten(resource, 48)}, {newest} is current.",
        next_=f"lineclear proposal reject {number} --reason 'based on an old version'",
        exit_code=STALE,
        proposal=number,
        base=base,
        version=newest,
    )


def copy_exists(copy: str) -> Refusal:
    return Refusal(
        "copy.exists",
        f'There is a copy "{shorten(copy)}" already.',
        next_=f"lineclear value merge {pasted(copy, 'COPY')}",
        exit_code=STALE,
        copy=copy,
    )


def copy_not_yours(copy: str, agent: str) -> Refusal:
    return Refusal(
        "copy.not_yours",
        f'The copy "{shorten(copy)}" is not yours.',
        who=f"{named(agent)} made it.",
        next_="lineclear value list",
        exit_code=NOT_ALLOWED,
        copy=copy,
        holder=agent,
    )


def copy_conflicts(copy: str, conflicts: list[dict[str, Any]]) -> Refusal:
    first = ", ".join(f"{c['key']} at {c['pointer'] or 'the whole value'}" for c in conflicts[:3])
    return Refusal(
        "copy.conflict",
        f'The copy "{shorten(copy)}" cannot be merged: both sides changed the same things. '
        "Nothing was written.",
        who=f"{len(conflicts)} in conflict: {shorten(first, 120)}.",
        next_=f"lineclear value get {pasted(str(conflicts[0]['key']), 'KEY')}",
        exit_code=STALE,
        copy=copy,
        conflicts=conflicts,
    )
