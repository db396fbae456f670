"""What an actor can do to a store: one short call of a use case each, with plain arguments and answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lineclear.app import claims, messages, proposals, tasks, values
from lineclear.app.log import audit
from lineclear.app.ports import Caller
from lineclear.app.waiting_in_line import claim_or_wait
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.log.tables import WAIT
from lineclear.core.tasks.lists import TaskDraft
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from lineclear.app.ports import Liveness, Store

HOUR_MS = 3_600_000
Answer = dict[str, Any]


class Desk:
    """A store as one process has it open. Every verb is a method; who calls is always said."""

    def __init__(self, store: Store, liveness: Liveness) -> None:
        self.store, self.liveness = store, liveness

    def do(self, verb: str, *arguments: Any, **options: Any) -> Answer:
        """{"answer": ...}, or what a refusal says: its code, exit code and facts."""
        act: Callable[..., Any] = getattr(self, verb)
        try:
            return {"answer": act(*arguments, **options)}
        except Refusal as refusal:
            return {"refusal": refusal.code, "exit_code": refusal.exit_code, "facts": refusal.facts}

    # -- claims ---------------------------------------------------------------------------------

    def claim(
        self, agent: str, *resources: str, mode: str = EXCLUSIVE, ttl_ms: int = HOUR_MS, wait_ms: int = 0,
        op: str = "", ticket_bond: str = "",
    ) -> Answer:  # fmt: skip
        request = request_of(agent, resources, mode, ttl_ms, ticket_bond)
        return claim_or_wait(self.store, self.liveness, Caller(agent, op=op), request, wait_ms)

    def release(self, agent: str, *resources: str, op: str = "") -> Answer:
        wanted = [parse_resource(text) for text in resources]
        return claims.release(self.store, Caller(agent, op=op), wanted)

    def take_over(self, person: str, *resources: str, op: str = "") -> Answer:
        caller = Caller(person, is_person=True, op=op)
        return claims.take_over(
            self.store, self.liveness, caller, request_of(person, resources, EXCLUSIVE, HOUR_MS)
        )

    def tickets(self) -> list[str]:
        """Who stands in line, in order."""
        return self.store.read(lambda view: [wait.agent for wait in view.scan(WAIT, "key")])

    def await_waiter(self, agent: str) -> None:
        """Come back when this one stands in line, whoever else does."""
        with self.store.listen() as bell:
            while agent not in self.tickets():
                bell.wait(0.25)

    def await_line(self, *agents: str) -> None:
        """Come back when exactly these stand in line, in this order."""
        with self.store.listen() as bell:
            while self.tickets() != list(agents):
                bell.wait(0.25)

    # -- tasks ----------------------------------------------------------------------------------

    def add_task(self, agent: str, title: str, op: str = "", attempts_max: int = 3) -> Answer:
        return tasks.add(self.store, Caller(agent, op=op), TaskDraft("", title), attempts_max=attempts_max)

    def take_task(
        self, agent: str, number: int = 0, lease_ms: int = HOUR_MS, skills: tuple[str, ...] = (), op: str = ""
    ) -> Answer:
        caller, has = Caller(agent, op=op), frozenset(skills)
        return tasks.take(self.store, self.liveness, caller, number=number, skills=has, lease_ms=lease_ms)

    def finish_task(self, agent: str, number: int, op: str = "") -> Answer:
        return tasks.finish(self.store, Caller(agent, op=op), number, result="done")

    def fail_task(self, agent: str, number: int, op: str = "") -> Answer:
        return tasks.fail(self.store, Caller(agent, op=op), number, "it did not work")

    # -- values and proposals -------------------------------------------------------------------

    def put(
        self,
        agent: str,
        key: str,
        json: str,
        version: int | None = None,
        fence: int = 0,
        copy: str = "",
        op: str = "",
    ) -> Answer:
        caller = Caller(agent, op=op)
        return values.put(
            self.store, self.liveness, caller, [], key, json, version=version, fence=fence, copy=copy
        )

    def get(self, key: str) -> Answer:
        return self.store.read(lambda view: values.get(view, key))

    def delete(self, agent: str, key: str, version: int, op: str = "") -> Answer:
        return values.delete(self.store, self.liveness, Caller(agent, op=op), [], key, version=version)

    def fork(self, agent: str, copy: str, *keys: str, op: str = "") -> Answer:
        return values.fork(self.store, Caller(agent, op=op), copy, list(keys))

    def merge(self, agent: str, copy: str, op: str = "") -> Answer:
        return values.merge(self.store, self.liveness, Caller(agent, op=op), [], copy)

    def propose(self, agent: str, resource: str, json: str, op: str = "") -> Answer:
        return proposals.propose(self.store, Caller(agent, op=op), [], parse_resource(resource), json)

    def accept(self, agent: str, number: int, op: str = "") -> Answer:
        return proposals.accept(self.store, self.liveness, Caller(agent, op=op), [], number)

    # -- messages and the whole -----------------------------------------------------------------

    def say(self, agent: str, text: str, to: str = "", op: str = "") -> Answer:
        return messages.say(self.store, Caller(agent, op=op), text, to=to)

    def read_inbox(self, agent: str) -> Answer:
        """Everything unread is marked as read; gives how many were marked."""
        news = self.store.read(lambda view: messages.inbox(view, agent))["messages"]
        return {"read": messages.mark_read(self.store, Caller(agent), [message["id"] for message in news])}

    def audit(self) -> Answer:
        return {**audit(self.store), "damage": self.store.check()}


def request_of(
    agent: str,
    resources: tuple[str, ...],
    mode: str = EXCLUSIVE,
    ttl_ms: int = HOUR_MS,
    ticket_bond: str = "",
) -> Request:
    wanted = [parse_resource(text) for text in resources]
    return Request(agent, "main", mode, wanted, ttl_ms=ttl_ms, ticket_bond=ticket_bond)
