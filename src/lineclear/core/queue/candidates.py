"""Candidates: their states, the one table of legal moves, why one is sent back. order.py has their order."""

from __future__ import annotations

WAITING, HELD, STOPPED = "waiting", "held", "needs you"
LANDED, SENT_BACK, DROPPED = "landed", "sent back", "dropped"
STATES = (WAITING, HELD, STOPPED, LANDED, SENT_BACK, DROPPED)
LIVE = (WAITING, HELD, STOPPED)

MOVES: dict[tuple[str, str], str] = {
    (WAITING, "CandidateHeld"): HELD,
    (STOPPED, "CandidateHeld"): HELD,
    (HELD, "CandidateFreed"): WAITING,
    (STOPPED, "CandidateFreed"): WAITING,
    (WAITING, "CandidateFreed"): WAITING,
    (WAITING, "CandidateDelayed"): WAITING,
    (STOPPED, "CandidateDelayed"): WAITING,
    (WAITING, "CandidateStopped"): STOPPED,
    (STOPPED, "CandidateStopped"): STOPPED,
    **{(state, "CandidateRenewed"): WAITING if state == STOPPED else state for state in LIVE},
    **{(state, "CandidateReviewed"): state for state in LIVE},
    **{(state, "CandidateLanded"): LANDED for state in LIVE},
    **{(state, "CandidateSentBack"): SENT_BACK for state in LIVE},
    **{(state, "CandidateDropped"): DROPPED for state in LIVE},
}

# Why a candidate was sent back.
BY_CONFLICT, BY_CHECK, BY_REVIEW, BY_GATE, BY_GONE = "conflict", "check", "review", "gate", "gone"

APPROVED, REJECTED = "approved", "rejected"


def show_number(candidate: int) -> str:
    return f"Q-{candidate}"
