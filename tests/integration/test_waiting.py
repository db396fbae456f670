"""Waiting in line: nobody is forgotten, nobody waits for ever, nobody waits for the dead."""

from __future__ import annotations

import signal
from collections.abc import Callable
from itertools import chain
from statistics import quantiles

import pytest

from lineclear.app.log import audit
from tests import racers
from tests.actors import acting
from tests.engines import Place
from tests.racing import race
from tests.sampling import some

LONG_ENOUGH_MS = 60_000
# PostgreSQL's bell rings at most 20 times a second for each process, so that it does not slow writers down.
HANDOVERS = {"sqlite": some(10_000), "postgres": some(600)}


@pytest.mark.slow
@pytest.mark.serial
@pytest.mark.timeout(600)
def test_no_wake_up_is_lost_when_two_processes_hand_a_resource_over(
    place: Place, record_property: Callable[[str, object], None]
) -> None:
    count = HANDOVERS[place.engine]
    first, second = race(place, racers.handing_over, racers=2, rounds=0, extra=count // 2)
    assert (first[2], second[2]) == (0, 0), "a bell that was not heard"
    given = list(chain(*zip(first[0], second[0], strict=True)))
    had = list(chain(*zip(first[1], second[1], strict=True)))
    assert given == sorted(given), "they did not take turns"
    waits_us = [(got - gave) / 1000 for gave, got in zip(given, had[1:], strict=False)]
    p50, p99 = quantiles(waits_us, n=100)[49], quantiles(waits_us, n=100)[98]
    record_property(
        "told",
        f"{place.engine}: {count} handovers, 0 lost; release to grant p50 {p50:.0f} us, p99 {p99:.0f} us",
    )
    store = place.open()
    assert audit(store)["findings"] == []
    store.close()


def test_waiters_are_served_in_the_order_they_came(place: Place) -> None:
    with acting(place, "holder", "first", "second", "third") as (holder, first, second, third):
        holder.do("claim", "holder", "api:shop")
        for actor, line in (
            (first, ["first"]),
            (second, ["first", "second"]),
            (third, ["first", "second", "third"]),
        ):
            actor.begin("claim", actor.name, "api:shop", wait_ms=LONG_ENOUGH_MS)
            holder.do("await_line", *line)
        before = holder
        for actor in (first, second, third):
            before.do("release", before.name, "api:shop")
            assert actor.answer()["claims"][0]["agent"] == actor.name
            before = actor
        assert holder.do("tickets") == []
        assert holder.do("audit")["findings"] == []


def test_a_newcomer_does_not_jump_the_line(place: Place) -> None:
    with acting(place, "holder", "waiter", "newcomer") as (holder, waiter, newcomer):
        holder.do("claim", "holder", "api:shop")
        waiter.do("sleep_in_line")
        waiter.begin("claim", "waiter", "api:shop", wait_ms=LONG_ENOUGH_MS)
        waiter.await_stop()
        holder.do("release", "holder", "api:shop")
        assert newcomer.refused("claim", "newcomer", "api:shop")["refusal"] == "claim.waiting"
        waiter.wake()
        assert waiter.answer()["claims"][0]["agent"] == "waiter"


def test_a_dead_waiter_is_skipped_at_once(place: Place) -> None:
    with acting(place, "holder", "dead", "behind") as (holder, dead, behind):
        holder.do("claim", "holder", "api:shop")
        dead.do("be_forgetful", 3_600_000)  # its ticket alone would be good for an hour
        bond = dead.do("hold_bond", "wait-1")
        dead.begin("claim", "dead", "api:shop", wait_ms=LONG_ENOUGH_MS, ticket_bond=bond)
        holder.do("await_line", "dead")
        behind.begin("claim", "behind", "api:shop", wait_ms=LONG_ENOUGH_MS)
        holder.do("await_line", "dead", "behind")
        dead.kill()
        holder.do("release", "holder", "api:shop")
        assert behind.answer()["claims"][0]["agent"] == "behind"
        assert holder.do("tickets") == []
        assert holder.do("audit")["findings"] == []


def test_two_processes_that_would_wait_for_each_other_are_told_so(place: Place) -> None:
    with acting(place, "ann", "bob") as (ann, bob):
        ann.do("claim", "ann", "api:one")
        bob.do("claim", "bob", "api:two")
        ann.begin("claim", "ann", "api:two", wait_ms=LONG_ENOUGH_MS)
        bob.do("await_line", "ann")
        refused = bob.refused("claim", "bob", "api:one", wait_ms=LONG_ENOUGH_MS)
        assert (refused["refusal"], refused["exit_code"]) == ("claim.deadlock", 3)
        assert refused["facts"]["cycle"] == ["bob", "ann", "bob"]
        bob.do("release", "bob", "api:two")
        assert ann.answer()["claims"][0]["resource"] == "api:two"


def test_three_processes_in_a_circle_are_told_so(place: Place) -> None:
    with acting(place, "ann", "bob", "cy") as (ann, bob, cy):
        for actor, held in ((ann, "api:one"), (bob, "api:two"), (cy, "api:three")):
            actor.do("claim", actor.name, held)
        ann.begin("claim", "ann", "api:two", wait_ms=LONG_ENOUGH_MS)
        cy.do("await_line", "ann")
        bob.begin("claim", "bob", "api:three", wait_ms=LONG_ENOUGH_MS)
        cy.do("await_line", "ann", "bob")
        refused = cy.refused("claim", "cy", "api:one", wait_ms=LONG_ENOUGH_MS)
        assert refused["refusal"] == "claim.deadlock"
        assert refused["facts"]["cycle"] == ["cy", "ann", "bob", "cy"]
        cy.do("release", "cy", "api:three")
        assert bob.answer()["claims"][0]["resource"] == "api:three"
        bob.do("release", "bob", "api:two")
        assert ann.answer()["claims"][0]["resource"] == "api:two"
        assert ann.do("audit")["findings"] == []


def test_a_waiter_whose_time_is_over_leaves_no_ticket(place: Place) -> None:
    with acting(place, "holder", "waiter") as (holder, waiter):
        holder.do("claim", "holder", "api:shop")
        refused = waiter.refused("claim", "waiter", "api:shop", wait_ms=50)
        assert (refused["refusal"], refused["exit_code"]) == ("claim.timeout", 8)
        assert refused["facts"]["holder"] == "holder"
        assert holder.do("tickets") == []
        holder.do("release", "holder", "api:shop")
        assert waiter.do("claim", "waiter", "api:shop")["claims"]


def test_a_waiter_that_is_interrupted_leaves_no_ticket(place: Place) -> None:
    with acting(place, "holder", "waiter") as (holder, waiter):
        holder.do("claim", "holder", "api:shop")
        waiter.do("sleep_in_line")
        waiter.begin("claim", "waiter", "api:shop", wait_ms=LONG_ENOUGH_MS)
        waiter.await_stop()
        assert holder.do("tickets") == ["waiter"]
        waiter.send(signal.SIGINT)
        waiter.wake()
        holder.do("await_line")
        assert holder.do("audit")["findings"] == []
