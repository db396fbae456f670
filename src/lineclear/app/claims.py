"""Use cases for claims: ask, wait in line, release, take over, renew, show."""

from __future__ import annotations

from lineclear.app.agents.dead_agents import free_agent
from lineclear.app.agents.membership import ensure_agent
from lineclear.app.free_text import check_words
from lineclear.app.operations import once
from lineclear.core.agents.names import is_family
from lineclear.core.claims.granting import (
    EXCLUSIVE,
    INTENT,
    MODES,
    SHARED,
    Request,
    decide_claim,
    excludes,
    find_cycle,
    has_copies,
)
from lineclear.core.claims.leases import claim_expired, claim_released, claim_taken_over, is_over
from lineclear.core.claims.resources import ancestors, overlap_with, overlaps, resource_of
from lineclear.core.claims.strategies import SINGLE_WRITER, strategy_for
from lineclear.core.instants import show_wall
from lineclear.core.log.events import Draft
from lineclear.core.log.fold import granted_claim
from lineclear.core.log.queries import any_of, around, by_index, by_key
from lineclear.core.log.tables import AGENT, CLAIM, FENCE, LOG, TASK, WAIT, join_names, split_names
from lineclear.core.words.computed.claims import claim_deadlock, claim_held, claim_not_held, claim_not_yours
from lineclear.core.words.refusals import not_found, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from lineclear.app.ports import Caller, Liveness, Store, Tx, View
    from lineclear.core.claims.granting import Answer, Blocker
    from lineclear.core.claims.resources import Resource
    from lineclear.core.claims.strategies import Rule, Sharing
    from lineclear.core.log.queries import Question
    from lineclear.core.log.tables import Claim, Fence, Wait

LEAST_TTL_MS, MOST_TTL_MS = 1_000, 24 * 3_600_000
MOST_RESOURCES, MOST_NOTE = 100, 500
# A waiter renews its ticket at a third of this time; one that stops is skipped after it.
TICKET_TTL_MS = 15_000


def near_claims(resources: Iterable[Resource]) -> Iterator[Question]:
    """The questions of `claims_near`, to prefetch."""
    for resource in resources:
        yield from around(CLAIM, "node", *_nodes(resource))


def near_request(request: Request) -> Iterator[Question]:
    """The questions of a decision on a request, to prefetch."""
    yield from near_claims(request.resources)
    yield by_index(WAIT, "key")
    if request.task:
        yield by_key(TASK, request.task)
    if request.ticket:
        yield by_key(WAIT, request.ticket)


def claims_near(view: View, resource: Resource) -> list[Claim]:
    """Every claim that overlaps the resource: above it, on it, or below it."""
    test = overlap_with(resource)
    return view.sift(CLAIM, "node", *_nodes(resource), lambda entry: test(entry[2]))


def fences_near(view: View, resource: Resource) -> list[Fence]:
    test = overlap_with(resource)
    return view.sift(FENCE, "key", *_nodes(resource), lambda entry: test(entry[1]))


def _nodes(resource: Resource) -> tuple[list[str], str, str]:
    """(the nodes above and at the resource, the lower and upper bound of those below it)."""
    return ancestors(resource.node), resource.node + "/", resource.node + "0"


def near_all(view: View, resources: Iterable[Resource]) -> list[Claim]:
    found: dict[tuple[str, str], Claim] = {}
    resources = list(resources)
    view.prefetch(*near_claims(resources))
    for resource in resources:
        for claim in claims_near(view, resource):
            found[claim.agent, claim.resource] = claim
    return list(found.values())


def ask(store: Store, liveness: Liveness, caller: Caller, request: Request) -> dict[str, Any]:
    """Grant or renew all resources, or refuse and name the blocker. Never waits."""
    _check(request)
    return once(
        store, caller, "claim", _arguments(request), lambda tx: ask_in(tx, liveness, caller, request),
        _still_holds, near_request(request),
    )  # fmt: skip


def ask_in(tx: Tx, liveness: Liveness, caller: Caller, request: Request) -> dict[str, Any]:
    """`ask` inside another transaction."""
    _check(request)
    ensure_agent(tx, caller)
    answer = _decide_now(tx, request, liveness)
    if answer.blockers:
        raise claim_held(answer.blockers[0], request, tx.now, len(answer.blockers))
    return _grant(tx, caller, request, answer)


def refuse_owned(rules: list[Rule], caller: Caller, request: Request) -> None:
    """Refuse to claim a resource with a named writer for anybody else but a person: it would block the
    writer."""
    if caller.is_person or request.mode == SHARED:
        return
    for resource in request.resources:
        sharing = strategy_for(resource, rules)
        if sharing.strategy == SINGLE_WRITER and sharing.owner and not _is_writer(sharing, caller.name):
            raise refuse("write.not_owner", resource=resource.text, holder=sharing.owner)


def _is_writer(sharing: Sharing, name: str) -> bool:
    # Imported here because hooks load this module and do not need it.
    from lineclear.core.queue.phases import admits_integrator

    return is_family(sharing.owner, name) or admits_integrator(sharing, name)


def stand_in_line(store: Store, liveness: Liveness, caller: Caller, request: Request) -> dict[str, Any]:
    """Like `ask`, but take a ticket if something blocks: {"ticket": N, "blocker": ...}.

    Refuses at once if waiting would close a cycle of agents that wait for each other.
    """
    _check(request)

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        answer = _decide_now(tx, request, liveness)
        if not answer.blockers:
            return _grant(tx, caller, request, answer)
        _refuse_deadlock(tx, request, answer, liveness)
        for draft in answer.ended:
            tx.append(draft)
        return {"ticket": _take_ticket(tx, request), "blocker": show_blocker(answer.blockers[0], tx)}

    return once(store, caller, "claim", _arguments(request), work, _still_holds, near_request(request))


def try_ticket(store: Store, liveness: Liveness, caller: Caller, request: Request) -> dict[str, Any]:
    """If it is the waiter's turn, grant and end the ticket; else renew the ticket and name the blocker."""

    def work(tx: Tx) -> dict[str, Any]:
        if _ticket_of(tx, caller, request.ticket) is None:
            raise refuse("claim.ticket", ticket=request.ticket)
        answer = _decide_now(tx, request, liveness)
        if answer.blockers:
            for draft in answer.ended:
                tx.append(draft)
            # The decision may have ended the ticket.
            wait = tx.get(WAIT, (request.ticket,))
            if wait is not None:
                tx.put(WAIT, wait.changed(until_ns=tx.now.in_ms(TICKET_TTL_MS)))
            return {"ticket": request.ticket, "blocker": show_blocker(answer.blockers[0], tx)}
        tx.append(Draft("WaitEnded", f"wait:{request.ticket}", ticket=request.ticket, why="granted"))
        return _grant(tx, caller, request, answer)

    return once(store, caller, "claim", _arguments(request), work, _still_holds, near_request(request))


def is_my_turn(store: Store, liveness: Liveness, request: Request) -> tuple[bool, int]:
    """(is it worth trying now?, ms until the first blocking lease ends). Only reads."""

    def look(view: View) -> tuple[bool, int]:
        if view.get(WAIT, (request.ticket,)) is None:
            return True, 0
        answer = _decide(view, request, liveness)
        if _dead_among(view, answer, liveness):
            return True, 0
        lapse = min((view.now.ms_until(b.until_ns) for b in answer.blockers), default=0)
        return not answer.blockers, lapse

    return store.read(look)


def leave_line(store: Store, caller: Caller, ticket: int, why: str) -> bool:
    """Give a ticket back; False if it has ended already or is not the caller's."""

    def work(tx: Tx) -> bool:
        if _ticket_of(tx, caller, ticket) is None:
            return False
        tx.append(Draft("WaitEnded", f"wait:{ticket}", ticket=ticket, why=why))
        return True

    return store.transact(caller, work)


def release(
    store: Store, caller: Caller, resources: list[Resource], *, everything: bool = False
) -> dict[str, Any]:
    """Release claims of the caller. Refuses a resource that it does not hold, and names the holder."""

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        mine = tx.pick(CLAIM, "key", (caller.name,)) if everything else _mine(tx, caller, resources)
        for claim in mine:
            lapsed = is_over(claim.until_ns, tx.now)
            tx.append(claim_expired(claim) if lapsed else claim_released(claim, "released"))
        return {"released": [claim.resource for claim in mine]}

    arguments = {"resources": [resource.text for resource in resources], "everything": everything}
    near = (
        [any_of(CLAIM, "key", caller.name)]
        if everything
        else (by_key(CLAIM, caller.name, resource.text) for resource in resources)
    )
    return once(store, caller, "release", arguments, work, near=near)


def take_over(store: Store, liveness: Liveness, caller: Caller, request: Request) -> dict[str, Any]:
    """Take resources away from their holders, who get a message. For people only."""
    if not caller.is_person:
        raise refuse("person.only", what="take over a claim", agent=caller.name)
    _check(request)

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        answer = _decide_now(tx, request, liveness)
        by_name = {(claim.agent, claim.resource): claim for claim in near_all(tx, request.resources)}
        # Agents that only wait keep their other claims and their place in line.
        taken = [by_name[b.agent, b.resource] for b in answer.blockers if not b.ticket]
        for claim in dict.fromkeys(taken):
            tx.append(claim_taken_over(claim))
            text = (
                f"{caller.name} has taken over {claim.resource} from you; your fence {claim.fence} is void."
            )
            tx.append(
                Draft(
                    "MessageSent",
                    f"agent:{claim.agent}",
                    audience=f"agent:{claim.agent}",
                    urgent=1,
                    text=text,
                )
            )
        return _grant(tx, caller, request, answer)

    return once(store, caller, "take over", _arguments(request), work, _still_holds, near_request(request))


def renew_exactly(store: Store, caller: Caller, fences: dict[str, int]) -> bool:
    """Renew these claims if every one is still held under its fence; False, and none renewed, if one is
    lost."""

    def work(tx: Tx) -> bool:
        held = [tx.get(CLAIM, (caller.name, text)) for text in fences]
        for claim in held:
            if claim is None or claim.fence != fences[claim.resource] or is_over(claim.until_ns, tx.now):
                return False
        waits = live_waits(tx)
        for claim in held:
            if claim is not None and not makes_way(claim, waits):
                tx.put(CLAIM, claim.changed(until_ns=max(claim.until_ns, tx.now.in_ms(claim.ttl_ms))))
        return True

    near = [by_key(CLAIM, caller.name, text) for text in fences]
    return store.transact(caller, work, [*near, by_index(WAIT, "key")])


def holders(view: View, resource: Resource) -> list[Claim]:
    """Live claims that overlap the resource."""
    return [claim for claim in claims_near(view, resource) if not is_over(claim.until_ns, view.now)]


def live_waits(view: View) -> list[Wait]:
    """The tickets in line, without those that have run out."""
    return [wait for wait in view.scan(WAIT, "key") if not is_over(wait.until_ns, view.now)]


def grants_near(view: View, resource: Resource, names: tuple[str, ...], fence: int) -> list[Fence]:
    """The newest exclusive grant of each resource near this one. If that is a grant to the family after
    `fence`, also the earlier grants since the fence, which it hides."""
    near = fences_near(view, resource)
    hidden = []
    for mark in near if fence else ():
        if mark.fence > fence and any(is_family(mark.agent, name) for name in names):
            hidden += _grants_since(view, mark, fence)
    return near + hidden


def _grants_since(view: View, mark: Fence, fence: int) -> list[Fence]:
    """Every exclusive grant of the mark's resource after a fence, from the log."""
    from lineclear.core.log.codec import decode_body

    return [
        mark.changed(agent=entry.actor, fence=entry.position)
        for entry in view.scan(LOG, "subject", (mark.resource,), low=fence)
        if entry.kind == "ClaimGranted" and decode_body(entry.body)["mode"] == EXCLUSIVE
    ]


def show_claim(claim: Claim, view: View) -> dict[str, Any]:
    return {
        "agent": claim.agent,
        "resource": claim.resource,
        "mode": claim.mode,
        "fence": claim.fence,
        "tree": claim.tree,
        "note": claim.note,
        "task": f"T-{claim.task}" if claim.task else "",
        "until_at": show_wall(view.now.wall_of(claim.until_ns)),
        "seconds_left": view.now.ms_until(claim.until_ns) // 1000,
    }


def show_blocker(blocker: Blocker, view: View) -> dict[str, Any]:
    return {
        "agent": blocker.agent,
        "resource": blocker.resource,
        "mode": blocker.mode,
        "waits": bool(blocker.ticket),
        "until_at": show_wall(view.now.wall_of(blocker.until_ns)),
    }


# -- inside one transaction -------------------------------------------------------------------


def _check(request: Request) -> None:
    if request.mode not in MODES:
        raise refuse(
            "input.bad", name="mode", given=request.mode, why=f"it must be one of {', '.join(MODES)}"
        )
    if not 1 <= len(request.resources) <= MOST_RESOURCES:
        count = str(len(request.resources))
        raise refuse(
            "input.bad", name="number of resources", given=count, why=f"ask for 1 to {MOST_RESOURCES} at once"
        )
    if not LEAST_TTL_MS <= request.ttl_ms <= MOST_TTL_MS:
        raise refuse("input.bad", name="ttl", given=f"{request.ttl_ms} ms", why="a lease lasts 1 s to 24 h")
    check_words("note", request.note, MOST_NOTE)


def _arguments(request: Request) -> dict[str, Any]:
    return {
        "mode": request.mode,
        "resources": sorted(resource.text for resource in request.resources),
        "ttl_ms": request.ttl_ms,
        "note": request.note,
        "task": request.task,
    }


def _decide(view: View, request: Request, liveness: Liveness) -> Answer:
    near = (
        near_all(view, request.resources)
        if len(request.resources) > 1
        else claims_near(view, request.resources[0])
    )
    return decide_claim(request, near, view.scan(WAIT, "key"), view.now, liveness.is_dead)


def _decide_now(tx: Tx, request: Request, liveness: Liveness) -> Answer:
    """Decide; if agents block whose process has died, free them and decide again."""
    if request.task and tx.get(TASK, (request.task,)) is None:
        raise not_found("task", f"T-{request.task}", "lineclear task list")
    answer = _decide(tx, request, liveness)
    dead = _dead_among(tx, answer, liveness)
    for name in dead:
        free_agent(tx, name, "gone")
    return _decide(tx, request, liveness) if dead else answer


def _dead_among(view: View, answer: Answer, liveness: Liveness) -> list[str]:
    agents = [view.get(AGENT, (name,)) for name in sorted({blocker.agent for blocker in answer.blockers})]
    return [
        agent.name for agent in agents if agent is not None and agent.bond and liveness.is_dead(agent.bond)
    ]


def _grant(tx: Tx, caller: Caller, request: Request, answer: Answer) -> dict[str, Any]:
    for draft in answer.ended:
        tx.append(draft)
    held = [_keep(tx, request, claim) for claim in answer.kept]
    held += [granted_claim(tx.append(draft)) for draft in answer.grants]
    told = sorted({claim.agent for claim in answer.told})
    for claim in answer.told:
        _tell(tx, caller, request, claim)
    claims = [show_claim(claim, tx) for claim in held]
    return {"claims": claims, "fence": max(claim["fence"] for claim in claims), "told": told}


def _keep(tx: Tx, request: Request, claim: Claim) -> Claim:
    """Renew a claim that was asked for again: the later end counts, and a new note replaces the old one."""
    if request.note and request.note != claim.note:
        tx.append(Draft("ClaimNoted", claim.resource, resource=claim.resource, note=request.note))
        claim = claim.changed(note=request.note)
    until_ns = max(claim.until_ns, tx.now.in_ms(request.ttl_ms))
    kept = claim.changed(until_ns=until_ns, ttl_ms=request.ttl_ms)
    tx.put(CLAIM, kept)
    return kept


def _tell(tx: Tx, caller: Caller, request: Request, claim: Claim) -> None:
    note = f' ("{request.note}")' if request.note else ""
    wanted = ", ".join(resource.text for resource in request.resources[:3])
    text = (
        f"{caller.name} now holds {wanted} exclusively{note}, which overlaps your {claim.resource}. "
        "You keep your own copy, but its work comes first when both are merged."
    )
    audience = f"agent:{claim.agent}"
    tx.append(Draft("MessageSent", audience, audience=audience, urgent=0, text=text))


def _take_ticket(tx: Tx, request: Request) -> int:
    event = tx.append(
        Draft(
            "WaitBegan",
            f"agent:{request.agent}",
            resources=join_names([resource.text for resource in request.resources]),
            mode=request.mode,
            tree=request.tree,
            note=request.note,
            task=request.task,
            ttl_ms=request.ttl_ms,
            bond=request.ticket_bond,
            until_ns=tx.now.in_ms(TICKET_TTL_MS),
        )
    )
    return event.position


def _ticket_of(view: View, caller: Caller, ticket: int) -> Wait | None:
    wait = view.get(WAIT, (ticket,))
    return wait if wait is not None and wait.agent == caller.name else None


def _refuse_deadlock(tx: Tx, request: Request, answer: Answer, liveness: Liveness) -> None:
    # Tickets that this decision ends do not wait any more.
    gone = {draft.body["ticket"] for draft in answer.ended if draft.kind == "WaitEnded"}
    waits = [wait for wait in tx.scan(WAIT, "key") if wait.ticket not in gone]

    def blockers_of(wait: Wait) -> list[Blocker]:
        resources = [resource_of(text) for text in split_names(wait.resources)]
        theirs = Request(wait.agent, wait.tree, wait.mode, resources, ttl_ms=wait.ttl_ms, ticket=wait.ticket)
        return _decide(tx, theirs, liveness).blockers

    cycle = find_cycle(request, answer.blockers, waits, blockers_of)
    if cycle:
        raise claim_deadlock(request.agent, request.resources[0].text, cycle)


def _mine(tx: Tx, caller: Caller, resources: list[Resource]) -> list[Claim]:
    mine = []
    for resource in dict.fromkeys(resources):
        claim = tx.get(CLAIM, (caller.name, resource.text))
        if claim is not None:
            mine.append(claim)
            continue
        inside = [c for c in holders(tx, resource) if c.agent == caller.name]
        others = [c for c in holders(tx, resource) if c.agent != caller.name]
        if others:
            raise claim_not_yours(resource.text, others[0], tx.now)
        raise claim_not_held(resource.text, [c.resource for c in inside])
    return mine


def makes_way(claim: Claim, waits: list[Wait]) -> bool:
    """Must the claim run out because an exclusive request waits for it? Only an intent in a shared tree, or
    on a thing that exists once."""
    if claim.mode != INTENT:
        return False
    mine = resource_of(claim.resource)
    copies = has_copies(mine)
    return any(
        excludes(wait.mode, wait.tree, INTENT, claim.tree, copies=copies)
        and not is_family(wait.agent, claim.agent)
        and any(overlaps(mine, resource_of(text)) for text in split_names(wait.resources))
        for wait in waits
    )


def _still_holds(view: View, caller: Caller, result: dict[str, Any]) -> bool:
    for shown in result.get("claims", ()):
        claim = view.get(CLAIM, (caller.name, shown["resource"]))
        if claim is None or claim.fence != shown["fence"] or is_over(claim.until_ns, view.now):
            return False
    return "claims" in result
