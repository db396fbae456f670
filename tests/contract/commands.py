"""Random commands for the stateful test: what can be asked of a repository, by whom, with what.

To add one, write a function that takes a `Door` and the drawn arguments, and enter it in its group with
the strategies of its arguments. What later commands need to know of its answer goes into `History`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from lineclear.app import claims, messages, proposals, tasks, values
from lineclear.app.agents import heartbeat, membership
from lineclear.app.agents.dead_agents import free_dead_agents
from lineclear.app.log import order_of
from lineclear.app.ports import Caller
from lineclear.app.radar.findings import everything, mute, record
from lineclear.app.radar.telling import findings_for, mark_told
from lineclear.core.claims.granting import EXCLUSIVE, INTENT, SHARED, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.claims.strategies import SINGLE_WRITER, Rule
from lineclear.core.radar.findings import Finding
from lineclear.core.tasks.lists import TaskDraft
from tests.world import Graveyard

if TYPE_CHECKING:
    from lineclear.app.ports import Store

MINUTE_MS = 60_000
OWNED = "value:owned"
RULES = [Rule(parse_resource(OWNED), SINGLE_WRITER, "ann")]


@dataclass
class History:
    """Numbers that earlier answers gave, and that later commands may name."""

    tickets: list[tuple[str, int, list[str], str]] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    proposals: list[int] = field(default_factory=list)


@dataclass
class Door:
    """Through which one agent reaches one engine."""

    store: Store
    liveness: Graveyard
    caller: Caller
    history: History

    def request(
        self, texts: list[str], mode: str, *, ttl_ms: int = 5 * MINUTE_MS, ticket: int = 0
    ) -> Request:
        resources = [parse_resource(text) for text in texts]
        name, tree = self.caller.name, self.caller.tree
        return Request(
            name, tree, mode, resources, ttl_ms=ttl_ms, note="busy", bond=self.caller.bond, ticket=ticket
        )


@dataclass(frozen=True)
class Command:
    """`weight`: how often it is chosen, compared with the others of its group."""

    run: Callable[..., Any]
    arguments: dict[str, st.SearchStrategy[Any]]
    weight: int = 1


# -- claims -----------------------------------------------------------------------------------


def ask(door: Door, texts: list[str], mode: str, ttl_ms: int) -> Any:
    return claims.ask(door.store, door.liveness, door.caller, door.request(texts, mode, ttl_ms=ttl_ms))


def stand_in_line(door: Door, texts: list[str], mode: str) -> Any:
    return claims.stand_in_line(door.store, door.liveness, door.caller, door.request(texts, mode))


def try_ticket(door: Door, which: int) -> Any:
    if not door.history.tickets:
        return None
    name, ticket, texts, mode = door.history.tickets[which % len(door.history.tickets)]
    caller = Caller(name, tree=door.caller.tree)
    waiting = Door(door.store, door.liveness, caller, door.history)
    return claims.try_ticket(door.store, door.liveness, caller, waiting.request(texts, mode, ticket=ticket))


def leave_line(door: Door, which: int) -> Any:
    if not door.history.tickets:
        return None
    name, ticket, _, _ = door.history.tickets[which % len(door.history.tickets)]
    return claims.leave_line(door.store, Caller(name, tree=door.caller.tree), ticket, "gave up")


def is_my_turn(door: Door, which: int) -> Any:
    if not door.history.tickets:
        return None
    _, ticket, texts, mode = door.history.tickets[which % len(door.history.tickets)]
    return claims.is_my_turn(door.store, door.liveness, door.request(texts, mode, ticket=ticket))


def release(door: Door, texts: list[str]) -> Any:
    return claims.release(door.store, door.caller, [parse_resource(text) for text in texts])


def release_all(door: Door) -> Any:
    return claims.release(door.store, door.caller, [], everything=True)


def take_over(door: Door, texts: list[str], mode: str) -> Any:
    person = Door(door.store, door.liveness, Caller("pat", is_person=True), door.history)
    return claims.take_over(door.store, door.liveness, person.caller, person.request(texts, mode))


def renew(door: Door) -> Any:
    return heartbeat.renew(door.store, door.caller)


def holders(door: Door, text: str) -> Any:
    found = door.store.read(lambda view: claims.holders(view, parse_resource(text)))
    return sorted((claim.agent, claim.resource, claim.fence) for claim in found)


def leave(door: Door) -> Any:
    return membership.leave(door.store, door.caller, door.caller.name, "left")


def bury(door: Door) -> Any:
    return sorted(free_dead_agents(door.store, door.caller, door.liveness))


# -- values, proposals ------------------------------------------------------------------------


def put_value(door: Door, key: str, json: str, version: int | None) -> Any:
    return values.put(door.store, door.liveness, door.caller, RULES, key, json, version=version)


def delete_value(door: Door, key: str) -> Any:
    return values.delete(door.store, door.liveness, door.caller, RULES, key)


def fork(door: Door, copy: str, keys: list[str]) -> Any:
    return values.fork(door.store, door.caller, copy, keys)


def change_copy(door: Door, copy: str, key: str, json: str) -> Any:
    return values.put(door.store, door.liveness, door.caller, RULES, key, json, copy=copy)


def merge(door: Door, copy: str) -> Any:
    return values.merge(door.store, door.liveness, door.caller, RULES, copy)


def propose(door: Door, json: str) -> Any:
    return proposals.propose(door.store, door.caller, RULES, parse_resource(OWNED), json)


def decide(door: Door, which: int, accepts: bool) -> Any:
    if not door.history.proposals:
        return None
    number = door.history.proposals[which % len(door.history.proposals)]
    if accepts:
        return proposals.accept(door.store, door.liveness, door.caller, RULES, number)
    return proposals.reject(door.store, door.caller, RULES, number, "no")


# -- tasks, messages, the log -----------------------------------------------------------------


def add_task(door: Door, title: str, priority: int, after: list[str]) -> Any:
    draft = TaskDraft(
        "new", title, priority=priority, scope=["file:src/"], produces=["dist/é.js", "b"], after=after
    )
    answer = tasks.add(door.store, door.caller, draft)
    # Each engine has its own notion of similar words.
    return {"task": answer["task"]}


def take_task(door: Door, number: int, lease_ms: int) -> Any:
    return tasks.take(door.store, door.liveness, door.caller, number=number, lease_ms=lease_ms)


def finish_task(door: Door, number: int, branch: str) -> Any:
    return tasks.finish(door.store, door.caller, number, branch=branch)


def fail_task(door: Door, number: int) -> Any:
    return tasks.fail(door.store, door.caller, number, "too hard")


def reopen_task(door: Door, number: int) -> Any:
    return tasks.reopen(door.store, door.caller, number, "")


def same_task(door: Door, number: int, same_as: int) -> Any:
    return tasks.mark_same(door.store, door.caller, number, same_as)


def say(door: Door, to: str, topic: str, urgent: bool) -> Any:
    return messages.say(door.store, door.caller, "hello é", to=to, topic=topic, urgent=urgent)


def join_topic(door: Door, topic: str) -> Any:
    return messages.join_topic(door.store, door.caller, topic)


def read_messages(door: Door, count: int) -> Any:
    shown = door.store.read(lambda view: messages.inbox(view, door.caller.name))["messages"]
    ids = [message["id"] for message in shown[:count]]
    return shown, messages.mark_read(door.store, door.caller, ids)


def order_events(door: Door, first: int, second: int) -> Any:
    if not door.history.positions:
        return None
    one, two = (door.history.positions[which % len(door.history.positions)] for which in (first, second))
    return door.store.read(lambda view: order_of(view, one, two))


# -- findings ---------------------------------------------------------------------------------


def look(door: Door, symbols: list[str], new: str, is_partial: bool) -> Any:
    found = [
        Finding(kind=kind, agents=agents, files=("src/é.py",), symbol=symbol, new=new, interrupts=True)
        for symbol in symbols
        for kind, agents in (("signature", ("ann", "bob")), ("removed", ("main", "cyd")))
    ]
    scope = (lambda agents: "cyd" in agents) if is_partial else everything
    return record(door.store, door.caller, found, scope)


def hear(door: Door) -> Any:
    heard = [row.id for row in door.store.read(lambda view: findings_for(view, door.caller.name))]
    mark_told(door.store, door.caller, heard)
    return heard


def silence(door: Door, kind: str, path: str, muted: bool) -> Any:
    return mute(door.store, door.caller, kind, path, muted=muted)


RESOURCES = ("src/", "src/a.py", "src/é.py", "**/*.py", "symbol:src/a.py#Login", "value:k1", "port:3000")
texts = st.lists(st.sampled_from(RESOURCES), min_size=1, max_size=2, unique=True)
modes = st.sampled_from((EXCLUSIVE, EXCLUSIVE, INTENT, SHARED))
leases = st.sampled_from((MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS))
which = st.integers(0, 5)
keys = st.sampled_from(("k1", "k2", "owned"))
jsons = st.sampled_from(("1", '{"a":1}', '{"a":2,"b":[]}', '{"é":"𝄞\\n"}'))
versions = st.one_of(st.none(), st.integers(0, 3))
copies = st.sampled_from(("mine", "yours"))
numbers = st.integers(1, 3)
titles = st.sampled_from(("login", "logout", "naïve"))
dependencies = st.sampled_from(([], [], ["T-1"], ["T-1", "T-2"]))
names = st.sampled_from(("", "ann", "bob"))
topics = st.sampled_from(("", "auth"))

CLAIMS = {
    "ask": Command(ask, {"texts": texts, "mode": modes, "ttl_ms": leases}, weight=6),
    "stand in line": Command(stand_in_line, {"texts": texts, "mode": modes}, weight=5),
    "try ticket": Command(try_ticket, {"which": which}, weight=3),
    "leave line": Command(leave_line, {"which": which}),
    "is my turn": Command(is_my_turn, {"which": which}),
    "release": Command(release, {"texts": texts}),
    "release all": Command(release_all, {}),
    "take over": Command(take_over, {"texts": texts, "mode": modes}),
    "renew": Command(renew, {}),
    "holders": Command(holders, {"text": st.sampled_from(RESOURCES)}),
    "leave": Command(leave, {}),
    "bury": Command(bury, {}),
}
VALUES = {
    "put value": Command(put_value, {"key": keys, "json": jsons, "version": versions}, weight=4),
    "delete value": Command(delete_value, {"key": keys}),
    "fork": Command(fork, {"copy": copies, "keys": st.lists(keys, min_size=1, max_size=2)}),
    "change copy": Command(change_copy, {"copy": copies, "key": keys, "json": jsons}),
    "merge": Command(merge, {"copy": copies}),
    "propose": Command(propose, {"json": jsons}),
    "decide": Command(decide, {"which": which, "accepts": st.booleans()}),
}
TASKS = {
    "add task": Command(
        add_task, {"title": titles, "priority": st.integers(0, 9), "after": dependencies}, weight=3
    ),
    "take task": Command(take_task, {"number": st.integers(0, 3), "lease_ms": leases}, weight=3),
    "finish task": Command(finish_task, {"number": numbers, "branch": st.sampled_from(("", "topic"))}),
    "fail task": Command(fail_task, {"number": numbers}),
    "reopen task": Command(reopen_task, {"number": numbers}),
    "same task": Command(same_task, {"number": numbers, "same_as": numbers}),
}
MESSAGES = {
    "say": Command(say, {"to": names, "topic": topics, "urgent": st.booleans()}, weight=3),
    "join topic": Command(join_topic, {"topic": st.just("auth")}),
    "read messages": Command(read_messages, {"count": st.integers(1, 3)}),
    "order events": Command(order_events, {"first": which, "second": which}),
}
FINDINGS = {
    "look": Command(
        look,
        {
            "symbols": st.lists(st.sampled_from(("f", "g")), unique=True),
            "new": st.sampled_from(("f(a)", "f(é)")),
            "is_partial": st.booleans(),
        },
        weight=4,
    ),
    "hear": Command(hear, {}, weight=2),
    "silence": Command(
        silence,
        {
            "kind": st.sampled_from(("signature", "sginature")),
            "path": st.sampled_from(("src", "src/é.py", "lib")),
            "muted": st.booleans(),
        },
    ),
}
GROUPS: dict[str, dict[str, Command]] = {
    "claims": CLAIMS,
    "values": VALUES,
    "tasks": TASKS,
    "messages": MESSAGES,
    "findings": FINDINGS,
    "everything": CLAIMS | VALUES | TASKS | MESSAGES | FINDINGS,
}


def remember(history: History, name: str, caller: Caller, arguments: dict[str, Any], answer: Any) -> None:
    """Keep what later commands need of an answer."""
    if name == "stand in line" and "ticket" in answer:
        history.tickets.append((caller.name, answer["ticket"], arguments["texts"], arguments["mode"]))
    if name == "propose":
        history.proposals.append(answer["proposal"]["id"])
    if name == "say":
        history.positions.append(answer["id"])
