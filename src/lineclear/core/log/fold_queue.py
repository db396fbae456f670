"""What the queue's events do to its tables; a part of fold.py."""

from __future__ import annotations

from lineclear.core.log.events import BrokenLog
from lineclear.core.log.tables import (
    CANDIDATE,
    CHECK_RECORD,
    LANDING,
    MODE,
    VERDICT,
    Candidate,
    CheckRecord,
    Landing,
    Mode,
    Verdict,
    join_ids,
    join_names,
)
from lineclear.core.queue.candidates import MOVES, WAITING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.core.log.events import Event
    from lineclear.core.log.fold import Fold, Ledger


def _submitted(ledger: Ledger, event: Event) -> None:
    b = event.body
    ledger.put(
        CANDIDATE,
        Candidate(
            b["id"], b["branch"], b["tip"], b["base"], b["agent"], b["task"], b["attempt"], b["priority"], 0,
            join_ids(b["after"]), WAITING, "", "", "", "", "", "", event.position, event.at_ns, 0,
        ),
    )  # fmt: skip


def _moved(ledger: Ledger, event: Event) -> None:
    """Moves a candidate to its next state; candidates.py has the table of legal moves."""
    b = event.body
    candidate = ledger.get(CANDIDATE, (b["id"],))
    if candidate is None:
        raise BrokenLog(f"event {event.position} is about a candidate that was never submitted")
    state = MOVES.get((candidate.state, event.kind))
    if state is None:
        raise BrokenLog(f"event {event.position}: {event.kind} cannot follow {candidate.state}")
    columns = _COLUMNS[event.kind](event)
    ledger.put(CANDIDATE, candidate.changed(state=state, **columns))


def _sent_back(event: Event) -> dict[str, Any]:
    b = event.body
    return {"reason": b["why"], "kind": b["kind"], "others": join_ids(b["others"]), "ended_ns": event.at_ns}


_COLUMNS: dict[str, Any] = {
    "CandidateRenewed": lambda event: {"tip": event.body["tip"], "review": "", "reviewer": "", "reason": ""},
    "CandidateReviewed": lambda event: {"review": event.body["verdict"], "reviewer": event.actor},
    "CandidateHeld": lambda event: {"reason": event.body["why"]},
    "CandidateFreed": lambda _: {"reason": ""},
    "CandidateStopped": lambda event: {"reason": event.body["why"]},
    "CandidateDelayed": lambda event: {"reason": event.body["why"]},
    "CandidateLanded": lambda event: {
        "reason": "", "commit": event.body["commit"], "ended_ns": event.at_ns,
    },
    "CandidateSentBack": _sent_back,
    "CandidateDropped": lambda event: {"reason": event.body["why"], "ended_ns": event.at_ns},
}  # fmt: skip


def _ordered(ledger: Ledger, event: Event) -> None:
    for rank, number in enumerate(event.body["ids"], 1):
        candidate = ledger.get(CANDIDATE, (number,))
        if candidate is not None:
            ledger.put(CANDIDATE, candidate.changed(rank=rank))


def _landing_began(ledger: Ledger, event: Event) -> None:
    b = event.body
    ledger.put(
        LANDING,
        Landing(
            event.position, b["old"], b["new"], join_ids(b["ids"]), join_names(b["commits"]),
            join_names(b["hows"]),
        ),
    )  # fmt: skip


def _landing_ended(ledger: Ledger, event: Event) -> None:
    ledger.delete(LANDING, (event.body["id"],))


def _check_ended(ledger: Ledger, event: Event) -> None:
    """Remembers a verdict only if the check passed: the machine may have caused a failure."""
    b = event.body
    if b["green"]:
        ledger.put(VERDICT, Verdict(b["key"], b["tree"], event.position))
    known = ledger.get(CHECK_RECORD, (b["command"],)) or CheckRecord(b["command"], 0, 0, 0, 0, 0)
    ledger.put(
        CHECK_RECORD,
        known.changed(
            runs=known.runs + 1, reds=known.reds + (not b["green"]), flakes=known.flakes + bool(b["flaky"]),
            took_ms=known.took_ms + b["took_ms"], last_ms=b["took_ms"],
        ),
    )  # fmt: skip


def _set_mode(ledger: Ledger, event: Event, name: str, value: str, note: str) -> None:
    ledger.put(MODE, Mode(name, value, note, event.actor, event.position))


QUEUE_FOLDS: dict[str, Fold] = {
    "CandidateSubmitted": _submitted,
    **dict.fromkeys(_COLUMNS, _moved),
    "QueueOrdered": _ordered,
    "QueuePaused": lambda ledger, event: _set_mode(ledger, event, "queue", "paused", event.body["why"]),
    "QueueResumed": lambda ledger, event: _set_mode(ledger, event, "queue", "open", ""),
    "LandingBegan": _landing_began,
    "LandingEnded": _landing_ended,
    "CheckEnded": _check_ended,
    "PhaseBegan": lambda ledger, event: _set_mode(
        ledger, event, "phase", event.body["phase"], event.body["note"]
    ),
}
