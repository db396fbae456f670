"""The same use cases on every engine: claims, waiting in line, taking over, answers kept for a repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lineclear.app import claims
from lineclear.app.log import audit
from lineclear.app.messages import inbox
from lineclear.app.ports import Caller
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.log.tables import CLAIM, LOG, WAIT
from tests.contract.three_engines import Engine
from tests.world import HOUR_MS, FakeClock, Graveyard, refused

if TYPE_CHECKING:
    from lineclear.app.ports import Store

ANN, BOB, PAT = Caller("ann"), Caller("bob"), Caller("pat", is_person=True)


class Desk:
    """Two stores on one repository, as two processes have them: what one writes surprises the other."""

    def __init__(self, engine: Engine, clock: FakeClock) -> None:
        self._stores = {"ann": engine.open(clock)}
        self._other = engine.open(clock)
        self.liveness = Graveyard()

    def store(self, caller: Caller) -> Store:
        return self._stores.get(caller.name, self._other)

    def ask(self, caller: Caller, *texts: str, **wanted: Any) -> dict[str, Any]:
        return claims.ask(self.store(caller), self.liveness, caller, request(caller, *texts, **wanted))

    def stand_in_line(self, caller: Caller, *texts: str, **wanted: Any) -> dict[str, Any]:
        return claims.stand_in_line(
            self.store(caller), self.liveness, caller, request(caller, *texts, **wanted)
        )

    def try_ticket(self, caller: Caller, ticket: int, *texts: str) -> dict[str, Any]:
        return claims.try_ticket(
            self.store(caller), self.liveness, caller, request(caller, *texts, ticket=ticket)
        )

    def release(self, caller: Caller, *texts: str, everything: bool = False) -> dict[str, Any]:
        resources = [parse_resource(text) for text in texts]
        return claims.release(self.store(caller), caller, resources, everything=everything)

    def findings(self) -> list[Any]:
        found: list[Any] = audit(self._other)["findings"]
        return found


def request(
    caller: Caller, *texts: str, mode: str = EXCLUSIVE, ttl_ms: int = HOUR_MS, ticket: int = 0
) -> Request:
    resources = [parse_resource(text) for text in texts]
    return Request(caller.name, caller.tree, mode, resources, ttl_ms=ttl_ms, ticket=ticket)


@pytest.fixture
def desk(engine: Engine, clock: FakeClock) -> Desk:
    return Desk(engine, clock)


def test_a_claim_blocks_the_other_and_a_release_frees_it(desk: Desk) -> None:
    first = desk.ask(ANN, "src/")
    with refused("claim.held") as caught:
        desk.ask(BOB, "src/a.py")
    assert caught.value.facts["holder"] == "ann"
    assert desk.release(ANN, "src/") == {"released": ["file:src/"]}
    second = desk.ask(BOB, "src/a.py")
    assert second["fence"] > first["fence"]
    assert desk.findings() == []


def test_several_resources_are_granted_all_or_none(desk: Desk) -> None:
    desk.ask(ANN, "b.py")
    with refused("claim.held"):
        desk.ask(BOB, "a.py", "b.py", "c.py")
    assert desk.ask(ANN, "a.py", "b.py", "c.py")["told"] == []
    assert len(desk.store(ANN).read(lambda view: view.pick(CLAIM, "key", ("ann",)))) == 3
    assert desk.release(ANN, everything=True) == {"released": ["file:a.py", "file:b.py", "file:c.py"]}
    assert desk.findings() == []


def test_asking_again_renews_without_an_event(desk: Desk, clock: FakeClock) -> None:
    first = desk.ask(ANN, "a.py", ttl_ms=60_000)
    events = desk.store(ANN).read(lambda view: view.head)
    clock.advance(30_000)
    second = desk.ask(ANN, "a.py", ttl_ms=60_000)
    assert second["fence"] == first["fence"]
    assert second["claims"][0]["seconds_left"] == 60
    assert desk.store(ANN).read(lambda view: view.head) == events


def test_a_lease_that_ran_out_is_ended_by_the_next_who_asks(desk: Desk, clock: FakeClock) -> None:
    desk.ask(ANN, "a.py", ttl_ms=60_000)
    clock.advance(60_000)
    desk.ask(BOB, "a.py")
    kinds = [entry.kind for entry in desk.store(ANN).read(lambda view: view.scan(LOG, "key"))]
    assert kinds[-2:] == ["ClaimExpired", "ClaimGranted"]
    assert desk.findings() == []


def test_a_waiter_is_served_when_the_holder_is_done(desk: Desk) -> None:
    desk.ask(ANN, "a.py")
    waiting = desk.stand_in_line(BOB, "a.py")
    assert waiting["blocker"]["agent"] == "ann"
    ticket = waiting["ticket"]
    assert desk.try_ticket(BOB, ticket, "a.py")["ticket"] == ticket
    with refused("claim.held"):
        desk.ask(Caller("cyd"), "a.py")
    desk.release(ANN, "a.py")
    with refused("claim.waiting"):
        desk.ask(ANN, "a.py")
    assert desk.try_ticket(BOB, ticket, "a.py")["claims"][0]["agent"] == "bob"
    assert desk.store(ANN).read(lambda view: view.scan(WAIT, "key")) == []
    with refused("claim.ticket"):
        desk.try_ticket(BOB, ticket, "a.py")
    assert desk.findings() == []


def test_a_wait_that_would_never_end_is_refused(desk: Desk) -> None:
    desk.ask(ANN, "a.py")
    desk.ask(BOB, "b.py")
    desk.stand_in_line(ANN, "b.py")
    with refused("claim.deadlock") as caught:
        desk.stand_in_line(BOB, "a.py")
    assert caught.value.facts["cycle"] == ["bob", "ann", "bob"]


def test_a_person_takes_over_and_the_holder_is_told(desk: Desk) -> None:
    fence = desk.ask(ANN, "a.py")["fence"]
    taken = claims.take_over(desk.store(PAT), desk.liveness, PAT, request(PAT, "a.py"))
    assert taken["fence"] > fence
    (message,) = desk.store(ANN).read(lambda view: inbox(view, "ann"))["messages"]
    assert message["text"] == f"pat has taken over file:a.py from you; your fence {fence} is void."
    with refused("claim.not_yours"):
        desk.release(ANN, "a.py")
    assert desk.findings() == []


def test_a_repeat_is_answered_from_what_was_stored(desk: Desk, clock: FakeClock) -> None:
    desk.ask(BOB, "other.py")
    once = Caller("ann", op="op-1")
    first = desk.ask(once, "a.py")
    desk.ask(BOB, "more.py")
    again = desk.ask(once, "a.py")
    assert again == first | {"replayed": True, "still_valid": True}
    desk.release(ANN, "a.py")
    assert desk.ask(once, "a.py") == first | {"replayed": True, "still_valid": False}
    with refused("operation.differs"):
        desk.ask(once, "b.py")
    grants = [
        entry for entry in desk.store(BOB).read(lambda view: view.scan(LOG, "key")) if entry.op == "op-1"
    ]
    assert [entry.kind for entry in grants].count("ClaimGranted") == 1


def test_the_stored_answer_tells_the_fence_that_the_log_tells(desk: Desk) -> None:
    for number in range(3):
        desk.ask(BOB, f"{number}.py")  # the other process's log has moved on without this one
        answer = desk.ask(Caller("ann", op=f"op-{number}"), f"mine-{number}.py")
        repeat = desk.ask(Caller("ann", op=f"op-{number}"), f"mine-{number}.py")
        newest = desk.store(BOB).read(lambda view: view.scan(LOG, "key", reverse=True, limit=1))[0]
        assert newest.kind == "ClaimGranted"
        assert answer["fence"] == repeat["fence"] == newest.position
