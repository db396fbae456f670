"""Refusals whose words are computed; their sentences are in sentences/claims.py."""

from __future__ import annotations

from lineclear.core.words.refusals import (
    lease,
    named,
    pasted,
    quote,
    refuse,
    shorten,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.claims.granting import Blocker, Request
    from lineclear.core.instants import Instant
    from lineclear.core.log.tables import Claim
    from lineclear.core.words.refusals import Refusal


def claim_held(blocker: Blocker, request: Request, now: Instant, count: int) -> Refusal:
    """Another agent's claim, or its earlier place in the line, blocks the request."""
    wanted = blocker.wanted.text
    every = " ".join(quote(resource.text) for resource in request.resources)
    note = f', "{shorten(blocker.note, 20)}"' if blocker.note else ""
    task = f"T-{blocker.task}" if blocker.task else ""
    return refuse(
        "claim.waiting" if blocker.ticket else "claim.held",
        resource=wanted,
        asked=request.mode,
        holder=blocker.agent,
        held=blocker.resource,
        mode=blocker.mode,
        about=(f" for {task}" if task else "") + note,
        every=every if len(every) <= 80 else pasted(wanted),
        task=task,
        note=blocker.note,
        blockers=count,
        **lease(blocker.until_ns, now),
    )


def claim_deadlock(agent: str, wanted: str, cycle: list[Blocker]) -> Refusal:
    waiting = [agent, *(blocker.agent for blocker in cycle)]
    chain = "; ".join(
        f"{named(who)} would wait for {named(blocker.agent)} ({shorten(blocker.wanted.text, 40)})"
        for who, blocker in zip(waiting, cycle, strict=False)
    )
    return refuse("claim.deadlock", resource=wanted, cycle=waiting, chain=chain)


def claim_timed_out(wanted: str, waited_ms: int, holder: str, until_at: str) -> Refusal:
    clock = until_at[11:16]
    return refuse(
        "claim.timeout", resource=wanted, waited_ms=waited_ms, holder=holder, expires_at=until_at, clock=clock
    )


def claim_not_yours(resource: str, claim: Claim, now: Instant) -> Refusal:
    plea = quote(f"please release {shorten(resource, 28)}")
    return refuse(
        "claim.not_yours",
        resource=resource,
        holder=claim.agent,
        held=claim.resource,
        plea=plea,
        **lease(claim.until_ns, now),
    )


def claim_not_held(resource: str, inside: list[str]) -> Refusal:
    return refuse("claim.not_held", resource=resource, inside=inside, yours=inside[0] if inside else "")


def write_held(resource: str, claim: Claim, now: Instant) -> Refusal:
    lasts = lease(claim.until_ns, now)
    return refuse("write.held", resource=resource, holder=claim.agent, held=claim.resource, **lasts)


def other_phase(resource: str, bound: str, now: str, owner: str) -> Refusal:
    writer = owner or ("the integrator" if bound == "integrate" else "")
    return refuse("write.phase", resource=resource, phase=now, bound=bound, holder=owner, writer=writer)
