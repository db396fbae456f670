"""Heartbeats: signs of life that put off the ends of leases, without an event."""

from __future__ import annotations

import pytest

from lineclear.app import tasks
from lineclear.app.agents.heartbeat import BEAT_EVERY_NS, beat, renew
from lineclear.app.ports import Caller
from lineclear.core.claims.granting import INTENT
from lineclear.core.instants import NS_PER_MS
from lineclear.core.log.tables import CLAIM, TASK
from lineclear.core.tasks.lists import TaskDraft
from tests.world import HOUR_MS, MINUTE_MS, World

ANN = Caller("ann")
BEAT_MS = BEAT_EVERY_NS // NS_PER_MS


@pytest.fixture
def world() -> World:
    return World()


def left_ms(world: World, agent: str, text: str) -> int:
    claim = world.store.read(lambda view: view.get(CLAIM, (agent, text)))
    assert claim is not None
    return world.clock().ms_until(claim.until_ns)


def test_a_beat_renews_claims_and_taken_tasks_of_its_agent_only(world: World) -> None:
    for title in ("a", "b"):
        tasks.add(world.store, Caller("pat"), TaskDraft("1", title))
    for caller in (ANN, Caller("bob")):
        world.ask(caller.name, caller.name, ttl_ms=10 * MINUTE_MS)
        tasks.take(world.store, world.liveness, caller, lease_ms=10 * MINUTE_MS)
    world.clock.advance(MINUTE_MS)
    before = world.events()
    assert renew(world.store, ANN) == 2
    assert world.events() == before
    assert (left_ms(world, "ann", "file:ann"), left_ms(world, "bob", "file:bob")) == (
        10 * MINUTE_MS,
        9 * MINUTE_MS,
    )
    until = [task.until_ns for task in world.store.read(lambda view: view.scan(TASK, "key"))]
    assert until[0] - until[1] == MINUTE_MS * NS_PER_MS
    assert world.findings() == []


def test_a_lease_that_ran_out_is_not_brought_back(world: World) -> None:
    world.ask("ann", "a", ttl_ms=MINUTE_MS)
    tasks.add(world.store, Caller("pat"), TaskDraft("1", "a"))
    tasks.take(world.store, world.liveness, ANN, lease_ms=MINUTE_MS)
    world.clock.advance(MINUTE_MS)
    assert renew(world.store, ANN) == 0
    assert world.ask("bob", "a")["claims"]
    assert tasks.take(world.store, world.liveness, Caller("bob"))["task"]["attempt"] == 2


def test_a_renewal_never_shortens(world: World) -> None:
    world.ask("ann", "a", ttl_ms=HOUR_MS)
    world.ask("ann", "a", ttl_ms=MINUTE_MS)
    renew(world.store, ANN)
    assert left_ms(world, "ann", "file:a") == HOUR_MS


def test_announced_work_that_somebody_waits_for_is_not_renewed(world: World) -> None:
    world.ask("ann", "a", mode=INTENT, ttl_ms=MINUTE_MS)
    world.ask("ann", "b", mode=INTENT, ttl_ms=MINUTE_MS)
    world.ask("ann", "row:users/1", mode=INTENT, ttl_ms=MINUTE_MS)
    world.stand_in_line("bob", "a")
    world.stand_in_line("cat", "row:users/1", tree="other")
    world.clock.advance(5_000)
    assert renew(world.store, ANN) == 1
    assert left_ms(world, "ann", "file:a") == left_ms(world, "ann", "row:users/1") == MINUTE_MS - 5_000
    assert left_ms(world, "ann", "file:b") == MINUTE_MS


def test_a_waiter_in_another_worktree_or_one_that_fell_silent_stops_no_renewal(world: World) -> None:
    world.ask("ann", "a", mode=INTENT, ttl_ms=MINUTE_MS)
    world.ask("cat", "a", mode=INTENT, tree="w1", ttl_ms=MINUTE_MS)
    world.stand_in_line("bob", "a", tree="w1")
    assert renew(world.store, ANN) == 1
    assert renew(world.store, Caller("cat", tree="w1")) == 0
    world.clock.advance(20_000)
    assert renew(world.store, Caller("cat", tree="w1")) == 1


def test_the_first_beat_renews_and_the_next_ones_wait_for_their_time(world: World) -> None:
    world.ask("ann", "a", ttl_ms=10 * MINUTE_MS)
    assert beat(world.store, world.presence, ANN) == 1
    world.clock.advance(BEAT_MS - 1)
    assert beat(world.store, world.presence, ANN) == 0
    world.clock.advance(1)
    assert beat(world.store, world.presence, ANN) == 1


def test_an_agent_that_acts_all_the_time_keeps_its_leases(world: World) -> None:
    world.ask("ann", "a", ttl_ms=2 * MINUTE_MS)
    for _ in range(600):
        world.clock.advance(1_000)
        world.presence.touch("ann", 1)
        beat(world.store, world.presence, ANN)
    assert world.holders("a") == ["ann"]


def test_every_beat_is_a_sign_of_life(world: World) -> None:
    for _ in range(3):
        beat(world.store, world.presence, ANN)
        world.clock.advance(1_000)
    assert world.presence.idle_ns("ann") == 1_000 * NS_PER_MS
