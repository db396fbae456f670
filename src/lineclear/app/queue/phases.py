"""Use cases for phases: show the current one, begin another, and list its proposals.

Cheap to import: hooks load it where a resource is bound to a phase.

integrating.py does the work of `integrate`, full_checks.py that of `test`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.operations import once
from lineclear.core.claims.resources import resource_of
from lineclear.core.claims.strategies import strategy_for
from lineclear.core.instants import show_wall
from lineclear.core.log.codec import decode_body
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import CANDIDATE, LOG, MODE, PROPOSAL
from lineclear.core.queue.candidates import LIVE
from lineclear.core.queue.phases import INTEGRATE, PARALLEL, TEST, branch_of, check_move
from lineclear.core.words.computed.queue import not_integrated
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.core.claims.strategies import Rule
    from lineclear.core.log.tables import Candidate, Proposal

NAME = "phase"
_OPEN = "open"


def phase_of(view: View) -> str:
    row = view.get(MODE, (NAME,))
    return row.value if row is not None else PARALLEL


def began(view: View) -> int:
    """The log position at which the phase began; 0 if none was ever begun."""
    row = view.get(MODE, (NAME,))
    return row.since if row is not None else 0


def begin(store: Store, caller: Caller, rules: list[Rule], phase: str, note: str = "") -> dict[str, Any]:
    """Begin a phase; has no effect if it is the current one. For people only."""

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        if not caller.is_person:
            raise refuse("person.only", what="start a phase", agent=caller.name)
        now = phase_of(tx)
        if now != phase:
            check_move(now, phase)
            undecided = frozen_proposals(tx, rules) if phase == TEST else []
            if undecided:
                waiting = sum(candidate_of(tx, row.id) is not None for row in undecided)
                raise not_integrated(len(undecided), waiting)
            tx.append(Draft("PhaseBegan", NAME, phase=phase, note=note))
        return {**show_brief(tx), "began": now != phase}

    return once(store, caller, "phase", {"phase": phase, "note": note}, work)


# -- look -----------------------------------------------------------------------------------------


def show_brief(view: View) -> dict[str, Any]:
    row = view.get(MODE, (NAME,))
    if row is None:
        return {"phase": PARALLEL, "since": "", "by": "", "note": ""}
    entry = view.get(LOG, (row.since,))
    since = show_wall(entry.at_ns) if entry is not None else ""
    return {"phase": row.value, "since": since, "by": row.agent, "note": row.note}


def show(view: View, rules: list[Rule]) -> dict[str, Any]:
    """The phase, and the resources that are bound to one, each with its open proposals."""
    proposals = [(row, strategy_for(resource_of(row.resource), rules)) for row in _open(view)]
    bound = [
        {
            "resource": rule.resource.text,
            "phase": rule.phase,
            "owner": rule.owner,
            "proposals": [row.id for row, sharing in proposals if sharing.origin == rule.origin],
        }
        for rule in rules
        if rule.phase
    ]
    return {**show_brief(view), "bound": bound, "progress": _progress(view, rules)}


def _progress(view: View, rules: list[Rule]) -> dict[str, int]:
    """How many proposals are queued, undecided, accepted and rejected; empty outside `integrate`."""
    if phase_of(view) != INTEGRATE:
        return {}
    undecided = frozen_proposals(view, rules)
    queued = sum(candidate_of(view, row.id) is not None for row in undecided)
    events = view.scan(LOG, "key", low=began(view))
    states = [decode_body(entry.body)["state"] for entry in events if entry.kind == "ProposalDecided"]
    return {
        "queued": queued,
        "undecided": len(undecided) - queued,
        "accepted": states.count("accepted"),
        "rejected": states.count("rejected"),
    }


def frozen_proposals(view: View, rules: list[Rule]) -> list[Proposal]:
    """The open proposals for resources bound to `integrate` that were made before it began. Later ones wait
    for the next time, or the phase would never end."""
    began_at = began(view)
    return [
        row
        for row in _open(view)
        if row.id < began_at and strategy_for(resource_of(row.resource), rules).phase == INTEGRATE
    ]


def candidate_of(view: View, proposal: int) -> Candidate | None:
    """The live candidate that brings a proposal to main, if there is one."""
    rows = view.scan(CANDIDATE, "branch", (branch_of(proposal),))
    return next((row for row in rows if row.state in LIVE), None)


def _open(view: View) -> list[Proposal]:
    return [row for row in view.scan(PROPOSAL, "key") if row.state == _OPEN]
