"""When does a claim end? At its deadline, or with the process that it is bound to.

The decision that notices an ended lease ends it with an event, so that a replay needs no clock. Whether a
process is dead comes as an argument; host/bonds.py finds it out.
"""

from __future__ import annotations

from lineclear.core.log.events import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lineclear.core.instants import Instant
    from lineclear.core.log.tables import Claim, Wait


def is_over(until_ns: int, now: Instant) -> bool:
    return until_ns <= now.tick_ns


def is_live(claim: Claim | Wait, now: Instant, is_dead: Callable[[str], bool]) -> bool:
    """Is it before its deadline, and is the process that it is bound to alive?"""
    return not is_over(claim.until_ns, now) and not (claim.bond and is_dead(claim.bond))


def end_lapsed(
    claims: Iterable[Claim], now: Instant, is_dead: Callable[[str], bool], ended: list[Draft]
) -> list[Claim]:
    """The claims that are still held; for each other one, an event is added to `ended`."""
    live = []
    for claim in claims:
        if is_live(claim, now, is_dead):
            live.append(claim)
        elif is_over(claim.until_ns, now):
            ended.append(claim_expired(claim))
        else:
            ended.append(claim_released(claim, "gone"))
    return live


def end_dead_tickets(
    waits: Iterable[Wait], now: Instant, is_dead: Callable[[str], bool], ended: list[Draft]
) -> list[Wait]:
    """The tickets whose owners still wait; for each other one, an event is added to `ended`."""
    live = []
    for wait in waits:
        if is_live(wait, now, is_dead):
            live.append(wait)
        else:
            ended.append(Draft("WaitEnded", f"wait:{wait.ticket}", ticket=wait.ticket, why="gone"))
    return live


def claim_expired(claim: Claim) -> Draft:
    return Draft("ClaimExpired", claim.resource, agent=claim.agent, resource=claim.resource)


def claim_released(claim: Claim, why: str) -> Draft:
    return Draft("ClaimReleased", claim.resource, agent=claim.agent, resource=claim.resource, why=why)


def claim_taken_over(claim: Claim) -> Draft:
    return Draft("ClaimTakenOver", claim.resource, agent=claim.agent, resource=claim.resource)
