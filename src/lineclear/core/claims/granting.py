"""Is a claim granted? Which claims exclude each other, who goes first, and which waits would deadlock.

Only `exclusive` excludes. If every agent has its own copy of a file (its own worktree), an exclusive claim
is granted over the intents of others, who get a message; in one shared tree, and for things that exist only
once, it waits for them. A request goes behind every earlier waiter that it would exclude, so waiting is
first come, first served. A request that would close a cycle of waiting agents is refused at once. When a
claim ends is decided in leases.py.
"""

from __future__ import annotations

from lineclear.core.agents.names import is_family, is_main_tree
from lineclear.core.claims.leases import end_dead_tickets, end_lapsed
from lineclear.core.claims.resources import overlaps, resource_of
from lineclear.core.claims.strategies import ISOLATED, strategy_for
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import split_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lineclear.core.claims.resources import Resource
    from lineclear.core.claims.strategies import Rule
    from lineclear.core.instants import Instant
    from lineclear.core.log.tables import Claim, Wait

SHARED, INTENT, EXCLUSIVE = "shared", "intent", "exclusive"
MODES = (SHARED, INTENT, EXCLUSIVE)
STRENGTH = {SHARED: 0, INTENT: 1, EXCLUSIVE: 2}


class Request:
    """One agent asks for resources, all or none."""

    __slots__ = (
        "agent",
        "bond",
        "mode",
        "note",
        "resources",
        "task",
        "ticket",
        "ticket_bond",
        "tree",
        "ttl_ms",
    )

    def __init__(
        self,
        agent: str,
        tree: str,
        mode: str,
        resources: list[Resource],
        *,
        ttl_ms: int,
        note: str = "",
        task: int = 0,
        bond: str = "",
        ticket: int = 0,
        ticket_bond: str = "",
    ) -> None:
        """`bond`: the claim ends with that process. `ticket_bond`: only the place in the line does."""
        self.agent, self.tree, self.mode = agent, tree, mode
        self.resources = list(dict.fromkeys(resources))
        self.ttl_ms, self.note, self.task = ttl_ms, note, task
        self.bond, self.ticket, self.ticket_bond = bond, ticket, ticket_bond


class Blocker:
    """Why a resource cannot be claimed now: a held claim, or an earlier ticket in the line."""

    __slots__ = ("agent", "mode", "note", "resource", "task", "ticket", "until_ns", "wanted")

    def __init__(self, wanted: Resource, held: Claim | Wait, resource: str, ticket: int) -> None:
        self.wanted, self.resource, self.ticket = wanted, resource, ticket
        self.agent, self.mode, self.until_ns = held.agent, held.mode, held.until_ns
        self.note, self.task = held.note, held.task


class Answer:
    """The decision: `ended` leases, `grants` to append if there are no `blockers`, `kept` claims to renew,
    and the claims of agents that must be told."""

    __slots__ = ("blockers", "ended", "grants", "kept", "told")

    def __init__(self) -> None:
        self.ended: list[Draft] = []
        self.grants: list[Draft] = []
        self.kept: list[Claim] = []
        self.told: list[Claim] = []
        self.blockers: list[Blocker] = []


def has_copies(resource: Resource) -> bool:
    """Does each worktree have its own copy? Only of files and symbols; everything else exists once."""
    return resource.scheme in ("file", "symbol")


def usual_mode(resources: Iterable[Resource], rules: list[Rule], *, is_person: bool, tree: str) -> str:
    """The mode of a claim that names none.

    An agent in a worktree of its own announces what it has its own copy of, because an exclusive claim would
    stop others in their worktrees. In the main tree there are no copies to merge. A person's claim means
    "leave this to me".
    """
    if is_person or is_main_tree(tree):
        return EXCLUSIVE
    is_isolated = all(strategy_for(resource, rules).strategy == ISOLATED for resource in resources)
    return INTENT if is_isolated else EXCLUSIVE


def excludes(asked: str, asked_tree: str, held: str, held_tree: str, *, copies: bool) -> bool:
    """Must `asked` wait until `held` ends? `copies`: each worktree has its own copy of the resource."""
    if asked != EXCLUSIVE and held != EXCLUSIVE:
        return False
    goes_over_copies = copies and asked == EXCLUSIVE and held == INTENT and asked_tree != held_tree
    return not goes_over_copies


def decide_claim(
    request: Request, near: Iterable[Claim], waits: list[Wait], now: Instant, is_dead: Callable[[str], bool]
) -> Answer:
    """Grant, renew, or name the blockers. `near` is any superset of the claims that could overlap."""
    answer = Answer()
    live = end_lapsed(near, now, is_dead, answer.ended)
    others = [wait for wait in waits if wait.ticket != request.ticket]
    waiting = end_dead_tickets(others, now, is_dead, answer.ended)
    ahead = [wait for wait in waiting if not request.ticket or wait.ticket < request.ticket]
    for resource in request.resources:
        _decide_one(request, resource, live, ahead, now, answer)
    return answer


def _decide_one(
    request: Request, resource: Resource, live: list[Claim], ahead: list[Wait], now: Instant, answer: Answer
) -> None:
    copies = has_copies(resource)
    mine: Claim | None = None
    told: list[Claim] = []
    for claim in live:
        if claim.agent == request.agent:
            if claim.resource == resource.text:
                mine = claim
            continue
        if is_family(claim.agent, request.agent) or not overlaps(resource, resource_of(claim.resource)):
            continue
        if excludes(request.mode, request.tree, claim.mode, claim.tree, copies=copies):
            answer.blockers.append(Blocker(resource, claim, claim.resource, 0))
        elif request.mode == EXCLUSIVE:
            told.append(claim)
    keeps = mine is not None and STRENGTH[mine.mode] >= STRENGTH[request.mode]
    for wait in ahead:
        delayed = _delayed_resource(request, resource, wait, copies)
        if delayed and not (keeps and mine is not None and _may_renew(mine, wait, copies)):
            answer.blockers.append(Blocker(resource, wait, delayed, wait.ticket))
    if keeps and mine is not None:
        answer.kept.append(mine)
    else:
        answer.grants.append(_granted(request, resource, now))
        already = {id(claim) for claim in answer.told}
        answer.told.extend(claim for claim in told if id(claim) not in already)


def _delayed_resource(request: Request, resource: Resource, wait: Wait, copies: bool) -> str:
    """The resource that an earlier ticket would have to wait for longer if this request were granted, or
    ""."""
    if is_family(wait.agent, request.agent):
        return ""
    if not excludes(wait.mode, wait.tree, request.mode, request.tree, copies=copies):
        return ""
    for text in split_names(wait.resources):
        if overlaps(resource, resource_of(text)):
            return text
    return ""


def _may_renew(mine: Claim, wait: Wait, copies: bool) -> bool:
    """A held claim may be renewed ahead of a waiter, except an intent that the waiter is waiting for."""
    return not (mine.mode == INTENT and excludes(wait.mode, wait.tree, INTENT, mine.tree, copies=copies))


def _granted(request: Request, resource: Resource, now: Instant) -> Draft:
    return Draft(
        "ClaimGranted",
        resource.text,
        resource=resource.text,
        node=resource.node,
        mode=request.mode,
        tree=request.tree,
        note=request.note,
        task=request.task,
        ttl_ms=request.ttl_ms,
        bond=request.bond,
        until_ns=now.in_ms(request.ttl_ms),
    )


def find_cycle(
    request: Request, blockers: list[Blocker], waits: list[Wait], blockers_of: Callable[[Wait], list[Blocker]]
) -> list[Blocker]:
    """The chain of blockers that leads from this request back to its own agent; [] if there is none.

    Each step says who holds what, or waits for it ahead of others; the last blocker is the asking agent.
    """
    by_agent: dict[str, list[Wait]] = {}
    for wait in waits:
        by_agent.setdefault(wait.agent, []).append(wait)
    seen: set[str] = set()
    paths: list[list[Blocker]] = [[blocker] for blocker in blockers]
    while paths:
        path = paths.pop()
        agent = path[-1].agent
        if is_family(agent, request.agent):
            return path
        if agent in seen:
            continue
        seen.add(agent)
        for wait in by_agent.get(agent, ()):
            paths.extend([*path, step] for step in blockers_of(wait))
    return []
