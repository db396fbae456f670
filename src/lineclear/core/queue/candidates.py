"""Candidates: their states, the one table of legal moves, and in which order they come to main."""

from __future__ import annotations

from lineclear.core.log.tables import split_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.core.log.tables import Candidate

WAITING, HELD, STOPPED = "waiting", "held", "needs you"
LANDED, SENT_BACK, DROPPED = "landed", "sent back", "dropped"
STATES = (WAITING, HELD, STOPPED, LANDED, SENT_BACK, DROPPED)
LIVE = (WAITING, HELD, STOPPED)

MOVES: dict[tuple[str, str], str] = {
    (WAITING, "CandidateHeld"): HELD,
    (STOPPED, "CandidateHeld"): HELD,
    (HELD, "CandidateFreed"): WAITING,
    (STOPPED, "CandidateFreed"): WAITING,
    (WAITING, "CandidateStopped"): STOPPED,
    (STOPPED, "CandidateStopped"): STOPPED,
    **{(state, "CandidateRenewed"): WAITING if state == STOPPED else state for state in LIVE},
    **{(state, "CandidateReviewed"): state for state in LIVE},
    **{(state, "CandidateLanded"): LANDED for state in LIVE},
    **{(state, "CandidateSentBack"): SENT_BACK for state in LIVE},
    **{(state, "CandidateDropped"): DROPPED for state in LIVE},
}

# Why a candidate went back.
BY_CONFLICT, BY_CHECK, BY_REVIEW, BY_GATE, BY_GONE = "conflict", "check", "review", "gate", "gone"

APPROVED, REJECTED = "approved", "rejected"


def show_number(candidate: int) -> str:
    return f"Q-{candidate}"


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Dependencies first, then what a person put first, then priority, then age.

    What waits for a candidate that is not among these comes after all that it can follow; a circle of
    dependencies cannot be submitted.
    """
    by_wish = sorted(candidates, key=lambda row: (row.rank or 1 << 40, row.priority, row.id))
    here = {row.id for row in by_wish}
    placed: set[int] = set()
    order: list[Candidate] = []
    while by_wish:
        following = next(
            (row for row in by_wish if all(dep in placed or dep not in here for dep in split_ids(row.after))),
            by_wish[0],
        )
        by_wish.remove(following)
        placed.add(following.id)
        order.append(following)
    return order


def moved_first(order: Iterable[Candidate], number: int, before: int) -> list[int]:
    """The whole order with one candidate put before another; before 0: at the end."""
    ids = [row.id for row in order if row.id != number]
    at = ids.index(before) if before in ids else len(ids)
    return [*ids[:at], number, *ids[at:]]
