"""Use cases around proposals: one owner writes, everybody else asks, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.claims import holders
from lineclear.app.operations import once
from lineclear.app.queue.phases import candidate_of, phase_of
from lineclear.app.words import check_words
from lineclear.app.writing import refuse_write
from lineclear.core.agents.names import is_family
from lineclear.core.claims.rules import EXCLUSIVE, resource_of
from lineclear.core.claims.strategies import strategy_for
from lineclear.core.claims.write_rule import ACCEPTANCE, Write
from lineclear.core.json_text import canonical, parse_json
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import PROPOSAL, VALUE
from lineclear.core.queue.candidates import show_number
from lineclear.core.words.refusals import not_found, refuse

if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller, Liveness, Store, Tx, View
    from lineclear.core.claims.resources import Resource
    from lineclear.core.claims.strategies import Rule
    from lineclear.core.log.tables import Proposal

ACCEPTED, REJECTED, SUPERSEDED, OPEN = "accepted", "rejected", "superseded", "open"
MOST_NOTE = 2_000


def owner_of(view: View, resource: Resource, rules: list[Rule]) -> str:
    """Who decides: the owner that lineclear.toml names, else its exclusive holder."""
    sharing = strategy_for(resource, rules)
    if sharing.owner:
        return sharing.owner
    return next((claim.agent for claim in holders(view, resource) if claim.mode == EXCLUSIVE), "")


def propose(
    store: Store, caller: Caller, rules: list[Rule], resource: Resource, payload: str, *, note: str = "",
    version: int | None = None, supersedes: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """Ask the owner for a change and notify the owner. `version` is what the proposal is based on."""
    json = canonical(parse_json(payload))
    check_words("note", note, MOST_NOTE)

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        base = _current_version(tx, resource) if version is None else version
        if supersedes:
            _supersede(tx, caller, supersedes, resource)
        made = tx.append(
            Draft(
                "ProposalMade",
                resource.text,
                resource=resource.text,
                base_version=base,
                payload=json,
                note=note,
            )
        )
        owner = owner_of(tx, resource, rules)
        if owner and owner != caller.name:
            _tell(tx, owner, f"{caller.name} proposes a change to {resource.text}: proposal {made.position}.")
        bound = strategy_for(resource, rules).phase
        shown = show_proposal(_known(tx, made.position))
        return {"proposal": shown, "owner": owner, "bound": bound, "phase": phase_of(tx)}

    arguments = {
        "resource": resource.text,
        "payload": json,
        "note": note,
        "version": version,
        "supersedes": supersedes,
    }
    return once(store, caller, "propose", arguments, work)


def accept(
    store: Store, liveness: Liveness, caller: Caller, rules: list[Rule], number: int
) -> dict[str, Any]:
    """The owner takes the oldest open proposal; for a value the new version is written with it."""

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        proposal = _decidable(tx, caller, rules, number)
        first = _oldest_open(tx, proposal.resource)
        if first.id != number:
            raise refuse("proposal.order", proposal=number, first=first.id, resource=proposal.resource)
        version = _write_value(tx, liveness, caller, rules, proposal)
        decide(tx, caller, proposal, ACCEPTED, "")
        return {"proposal": show_proposal(_known(tx, number)), "version": version}

    return once(store, caller, "proposal accept", {"number": number}, work)


def reject(store: Store, caller: Caller, rules: list[Rule], number: int, reason: str) -> dict[str, Any]:
    check_words("reason", reason, MOST_NOTE)

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        proposal = _decidable(tx, caller, rules, number)
        decide(tx, caller, proposal, REJECTED, reason)
        return {"proposal": show_proposal(_known(tx, number))}

    return once(store, caller, "proposal reject", {"number": number, "reason": reason}, work)


def list_proposals(view: View, *, resource: str = "", state: str = OPEN) -> list[dict[str, Any]]:
    rows = view.scan(PROPOSAL, "resource", (resource,)) if resource else view.scan(PROPOSAL, "key")
    return [show_proposal(row) for row in rows if state in ("all", row.state)]


def show(view: View, number: int) -> dict[str, Any]:
    return show_proposal(_known(view, number))


def show_proposal(proposal: Proposal) -> dict[str, Any]:
    shown: dict[str, Any] = proposal.as_dict()
    shown["payload"] = parse_json(proposal.payload)
    return shown


# -- inside one transaction -------------------------------------------------------------------


def _known(view: View, number: int) -> Proposal:
    proposal = view.get(PROPOSAL, (number,))
    if proposal is None:
        raise not_found("proposal", str(number), "lineclear proposal list")
    return proposal


def _current_version(view: View, resource: Resource) -> int:
    if resource.scheme != "value":
        return 0
    value = view.get(VALUE, (resource.path,))
    return value.version if value is not None else 0


def _decidable(tx: Tx, caller: Caller, rules: list[Rule], number: int) -> Proposal:
    proposal = _known(tx, number)
    if proposal.state != OPEN:
        raise refuse("proposal.decided", proposal=number, state=proposal.state, holder=proposal.decided_by)
    owner = owner_of(tx, resource_of(proposal.resource), rules)
    if not caller.is_person and not (owner and is_family(owner, caller.name)):
        raise refuse("proposal.not_owner", resource=proposal.resource, holder=owner)
    return proposal


def _oldest_open(view: View, resource: str) -> Proposal:
    return next(row for row in view.scan(PROPOSAL, "resource", (resource,)) if row.state == OPEN)


def _write_value(tx: Tx, liveness: Liveness, caller: Caller, rules: list[Rule], proposal: Proposal) -> int:
    """For values the acceptance is the write; it is refused when the value has moved on, or is held."""
    resource = resource_of(proposal.resource)
    if resource.scheme != "value" or resource.kind != "name":
        return 0
    owner = owner_of(tx, resource, rules)
    write = Write(resource, caller.name, ACCEPTANCE, names=(owner,), is_person=caller.is_person)
    refuse_write(tx, liveness, rules, write)
    key = resource.path
    value = tx.get(VALUE, (key,))
    newest = value.version if value is not None else 0
    if newest != proposal.base_version:
        raise refuse(
            "proposal.stale",
            proposal=proposal.id,
            resource=proposal.resource,
            base=proposal.base_version,
            version=newest,
        )
    tx.append(
        Draft("ValuePut", proposal.resource, key=key, version=newest + 1, base=newest, json=proposal.payload)
    )
    return newest + 1


def decide(tx: Tx, caller: Caller, proposal: Proposal, state: str, reason: str) -> None:
    """The proposal's end, told to its author."""
    tx.append(Draft("ProposalDecided", proposal.resource, id=proposal.id, state=state, reason=reason))
    if state != ACCEPTED:
        _call_off(tx, proposal.id, f"its proposal is {state}")
    why = f': "{reason}"' if reason else ""
    if proposal.author != caller.name:
        _tell(
            tx,
            proposal.author,
            f"{caller.name} has {state} proposal {proposal.id} for {proposal.resource}{why}",
        )


def _supersede(tx: Tx, caller: Caller, number: int, resource: Resource) -> None:
    old = _known(tx, number)
    if old.author != caller.name or old.resource != resource.text:
        raise refuse("proposal.not_owner", resource=f"proposal {number}", holder=old.author)
    if old.state != OPEN:
        raise refuse("proposal.decided", proposal=number, state=old.state, holder=old.decided_by)
    tx.append(
        Draft("ProposalDecided", resource.text, id=number, state=SUPERSEDED, reason="replaced by its author")
    )
    _call_off(tx, number, "its author has replaced the proposal")


def _call_off(tx: Tx, number: int, why: str) -> None:
    """What is no longer wanted does not land either."""
    waits = candidate_of(tx, number)
    if waits is not None:
        tx.append(Draft("CandidateDropped", show_number(waits.id), id=waits.id, why=why))


def _tell(tx: Tx, name: str, text: str) -> None:
    tx.append(Draft("MessageSent", f"agent:{name}", audience=f"agent:{name}", urgent=0, text=text))
