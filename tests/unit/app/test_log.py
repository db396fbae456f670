"""Use cases around the log: its newest or next events, filtered; the order of two; the audit of all."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.app import log, tasks
from lineclear.app.ports import Caller
from lineclear.core.log.causality import AFTER, BEFORE, CONCURRENT, SAME
from lineclear.core.tasks.lists import TaskDraft
from tests.world import MINUTE_MS, NOON_NS, World, refused


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """Claims of ann and bob a minute apart; batches are small, so that reading crosses their ends."""
    monkeypatch.setattr(log, "BATCH", 2)
    world = World()
    for agent in ("ann", "bob"):
        world.ask(agent, f"{agent}.py")
        world.clock.advance(MINUTE_MS)
    world.release("ann", "ann.py")
    return world


def positions(world: World, **wanted: Any) -> list[int]:
    return [shown["position"] for shown in world.store.read(lambda view: log.tail(view, **wanted))]


def test_the_newest_events_are_shown_oldest_first(world: World) -> None:
    assert positions(world) == [1, 2, 3, 4, 5, 6]
    assert positions(world, limit=2) == [5, 6]
    assert positions(world, limit=0) == [1, 2, 3, 4, 5, 6]


def test_what_follows_a_position_is_shown_from_there(world: World) -> None:
    assert positions(world, after=3) == [4, 5, 6]
    assert positions(world, after=0, limit=2) == [1, 2]
    assert positions(world, after=6) == []


def test_events_are_filtered_by_agent_kind_subject_and_time(world: World) -> None:
    assert positions(world, agent="ann") == [1, 2, 3, 6]
    assert positions(world, kind="claim") == [3, 5, 6]
    assert positions(world, kind="ClaimReleased") == [6]
    assert positions(world, subject="file:ann.py") == [3, 6]
    assert positions(world, subject="file:ann.py", after=3) == [6]
    a_minute_in = NOON_NS + MINUTE_MS * 1_000_000
    assert (
        positions(world, since_ns=a_minute_in) == positions(world, since_ns=a_minute_in, after=0) == [4, 5, 6]
    )


def test_an_event_is_shown_with_everything_it_says(world: World) -> None:
    (shown,) = world.store.read(lambda view: log.tail(view, limit=1))
    assert shown == {
        "position": 6,
        "at": "2026-01-01T12:02:00Z",
        "actor": "ann",
        "kind": "ClaimReleased",
        "subject": "file:ann.py",
        "seen": 0,
        "op": "",
        "body": {"agent": "ann", "resource": "file:ann.py", "why": "released"},
    }


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(3, 6, BEFORE), (6, 3, AFTER), (3, 5, CONCURRENT), (3, 3, SAME), (3, 7, BEFORE)],
)
def test_two_events_are_put_in_order(world: World, first: int, second: int, expected: str) -> None:
    tasks.add(world.store, Caller("bob", seen=6), TaskDraft("1", "next"))
    assert world.store.read(lambda view: log.order_of(view, first, second))["relation"] == expected


def test_an_event_that_never_was_is_not_found(world: World) -> None:
    with refused("event.unknown"):
        world.store.read(lambda view: log.order_of(view, 3, 99))


def test_the_audit_counts_what_it_read(world: World) -> None:
    assert log.audit(world.store) == {"events": 6, "head": 6, "findings": [], "missed": 0}
