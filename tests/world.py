"""A small world for tests of rules: a memory store, a clock the test moves, agents, the dead, heartbeats."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from lineclear.app import claims
from lineclear.app.log import audit
from lineclear.app.ports import Caller
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import Resource, parse_resource
from lineclear.core.instants import NS_PER_MS, Instant
from lineclear.core.log.codec import decode_body
from lineclear.core.log.tables import LOG
from lineclear.core.words.refusals import Refusal
from lineclear.store.memory import MemoryStore

NOON_NS = 1_767_268_800 * 1_000_000_000  # 2026-01-01T12:00:00Z
MINUTE_MS, HOUR_MS = 60_000, 3_600_000


class FakeClock:
    """Stands still until it is moved. The tick does not begin at the wall time, as on a real host."""

    def __init__(self) -> None:
        self.passed_ms = 0
        self.boot = "memory"

    def __call__(self) -> Instant:
        return Instant((1_000 + self.passed_ms) * NS_PER_MS, self.boot, NOON_NS + self.passed_ms * NS_PER_MS)

    def advance(self, duration_ms: int) -> None:
        self.passed_ms += duration_ms


class Graveyard:
    """Liveness: bonds are dead when the test says so."""

    def __init__(self) -> None:
        self.dead: set[str] = set()

    def is_dead(self, bond: str, /) -> bool:
        return bond in self.dead


class Heartbeats:
    """Presence by the fake clock."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._touched_ms: dict[str, int] = {}
        self._seen: dict[str, int] = {}

    def touch(self, agent: str, seen: int | None = None, /) -> None:
        self._touched_ms[agent] = self._clock.passed_ms
        self._seen[agent] = max(self._seen.get(agent, 0), seen or 0)

    def seen(self, agent: str, /) -> int:
        return self._seen.get(agent, 0)

    def idle_ns(self, agent: str, /) -> int | None:
        touched_ms = self._touched_ms.get(agent)
        return None if touched_ms is None else (self._clock.passed_ms - touched_ms) * NS_PER_MS


class World:
    """One repository's store with everything around it; each verb acts in an agent's name."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore(clock=self.clock)
        self.liveness = Graveyard()
        self.presence = Heartbeats(self.clock)

    def request(
        self,
        agent: str,
        *texts: str,
        mode: str = EXCLUSIVE,
        tree: str = "main",
        ttl_ms: int = HOUR_MS,
        note: str = "",
        bond: str = "",
        ticket: int = 0,
        ticket_bond: str = "",
    ) -> Request:
        return Request(
            agent, tree, mode, [parse_resource(text) for text in texts], ttl_ms=ttl_ms, note=note, bond=bond,
            ticket=ticket, ticket_bond=ticket_bond,
        )  # fmt: skip

    def ask(self, agent: str, *texts: str, op: str = "", **wanted: Any) -> dict[str, Any]:
        request = self.request(agent, *texts, **wanted)
        return claims.ask(self.store, self.liveness, Caller(agent, tree=request.tree, op=op), request)

    def stand_in_line(self, agent: str, *texts: str, op: str = "", **wanted: Any) -> dict[str, Any]:
        request = self.request(agent, *texts, **wanted)
        return claims.stand_in_line(
            self.store, self.liveness, Caller(agent, tree=request.tree, op=op), request
        )

    def try_ticket(self, agent: str, ticket: int, *texts: str, op: str = "", **wanted: Any) -> dict[str, Any]:
        request = self.request(agent, *texts, ticket=ticket, **wanted)
        return claims.try_ticket(self.store, self.liveness, Caller(agent, tree=request.tree, op=op), request)

    def release(self, agent: str, *texts: str, everything: bool = False) -> list[str]:
        resources = [parse_resource(text) for text in texts]
        released: list[str] = claims.release(self.store, Caller(agent), resources, everything=everything)[
            "released"
        ]
        return released

    def holders(self, text: str) -> list[str]:
        resource = parse_resource(text)
        return sorted(claim.agent for claim in self.store.read(lambda view: claims.holders(view, resource)))

    def events(self, *kinds: str) -> list[tuple[str, dict[str, Any]]]:
        """(kind, body) of everything in the log, or of some kinds only, oldest first."""
        entries = self.store.read(lambda view: view.scan(LOG, "key"))
        return [
            (entry.kind, decode_body(entry.body)) for entry in entries if not kinds or entry.kind in kinds
        ]

    def findings(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = audit(self.store)["findings"]
        return found


def resource(text: str) -> Resource:
    return parse_resource(text)


@contextmanager
def refused(code: str) -> Iterator[pytest.ExceptionInfo[Refusal]]:
    """What is done inside is refused with exactly this code."""
    with pytest.raises(Refusal) as caught:
        yield caught
    assert caught.value.code == code
