"""Use cases for proposals: only the owner writes; everybody else proposes, and the owner decides in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.claims import holders
from lineclear.app.free_text import check_words
from lineclear.app.operations import once
from lineclear.app.queue.phases import candidate_of, phase_of
from lineclear.app.write_facts import refuse_write
from lineclear.core.agents.names import is_family
from lineclear.core.claims.granting import EXCLUSIVE
from lineclear.core.claims.resources import resource_of
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
    """Who decides about the resource: the owner in lineclear.toml, else its exclusive holder, else ""."""
    sharing = strategy_for(resource, rules)
    if sharing.owner:
        return sharing.owner
    return next((claim.agent for claim in holders(view, resource) if claim.mode == EXCLUSIVE), "")


def propose(
    store: Store, caller: Caller, rules: list[Rule], resource: Resource, payload: str, *, note: str = "",
    version: int | None = None, supersedes: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """Propose a change and notify the owner. `version`: the one that the proposal is based on."""
    json = canonical(parse_json(payload))
    check_words("note", note, MOST_NOTE)

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        base = version
        if base is None:
            value = tx.get(VALUE, (resource.path,)) if resource.scheme == "value" else None
            base = value.version if value is not None else 0
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
    """Accept the oldest open proposal for a resource; for a value, also write the new version."""

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        proposal = _decidable(tx, caller, rules, number)
        rows = tx.scan(PROPOSAL, "resource", (proposal.resource,))
        first = next(row for row in rows if row.state == OPEN)
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


def _decidable(tx: Tx, caller: Caller, rules: list[Rule], number: int) -> Proposal:
    proposal = _known(tx, number)
    if proposal.state != OPEN:
        raise refuse("proposal.decided", proposal=number, state=proposal.state, holder=proposal.decided_by)
    owner = owner_of(tx, resource_of(proposal.resource), rules)
    if not caller.is_person and not (owner and is_family(owner, caller.name)):
        raise refuse("proposal.not_owner", resource=proposal.resource, holder=owner)
    return proposal


def _write_value(tx: Tx, liveness: Liveness, caller: Caller, rules: list[Rule], proposal: Proposal) -> int:
    """Write a proposed value; returns its new version, 0 if the resource is not a value. Refuses if the value
    has changed since, or if somebody holds it."""
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
    """End the proposal and tell its author. Drops its candidate unless it is accepted."""
    tx.append(Draft("ProposalDecided", proposal.resource, id=proposal.id, state=state, reason=reason))
    if state != ACCEPTED:
        _drop_candidate(tx, proposal.id, f"its proposal is {state}")
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
    _drop_candidate(tx, number, "its author has replaced the proposal")


def _drop_candidate(tx: Tx, number: int, why: str) -> None:
    waits = candidate_of(tx, number)
    if waits is not None:
        tx.append(Draft("CandidateDropped", show_number(waits.id), id=waits.id, why=why))


def _tell(tx: Tx, name: str, text: str) -> None:
    tx.append(Draft("MessageSent", f"agent:{name}", audience=f"agent:{name}", urgent=0, text=text))
