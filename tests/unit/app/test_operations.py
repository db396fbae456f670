"""Once is enough: effects are stored and repeated, refusals are not, other arguments are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lineclear.app.operations import once
from lineclear.app.ports import Caller
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import LOG, OPERATION
from lineclear.core.words.refusals import refuse
from lineclear.core.words.row import USAGE
from tests.world import HOUR_MS, World, refused

if TYPE_CHECKING:
    from lineclear.app.ports import Tx, View

KEEP_MS = 24 * HOUR_MS


@pytest.fixture
def world() -> World:
    return World()


def note(
    world: World,
    op: str = "op-1",
    *,
    text: str = "hello",
    agent: str = "ann",
    verb: str = "note",
    fails: bool = False,
) -> dict[str, Any]:
    """A command whose effect is one event."""

    def work(tx: Tx) -> dict[str, Any]:
        position = tx.append(Draft("TaskNoted", "T-1", id=1, text=text)).position
        if fails:
            raise refuse("input.bad", name="note", given=text, why="it is refused")
        return {"position": position, "text": text}

    def still_valid(view: View, caller: Caller, result: dict[str, Any]) -> bool:
        return (
            view.now.tick_ns < 2 * HOUR_MS * 1_000_000 and caller.name == "ann" and result["text"] == "hello"
        )

    caller = Caller(agent, op=op, keep_ms=KEEP_MS)
    return once(world.store, caller, verb, {"text": text}, work, still_valid)


def count(world: World) -> int:
    return len(world.events("TaskNoted"))


def test_without_an_operation_id_every_command_has_its_effect(world: World) -> None:
    first, second = note(world, ""), note(world, "")
    assert "replayed" not in first | second
    assert count(world) == 2
    assert world.store.read(lambda view: view.scan(OPERATION, "key")) == []


def test_a_repeat_has_the_effect_of_the_first_and_says_so(world: World) -> None:
    first = note(world)
    assert "replayed" not in first
    for _ in range(3):
        assert note(world) == first | {"replayed": True, "still_valid": True}
    assert count(world) == 1


def test_a_repeat_says_whether_the_grant_still_holds(world: World) -> None:
    note(world)
    world.clock.advance(2 * HOUR_MS)
    assert note(world)["still_valid"] is False


def test_a_command_that_grants_nothing_says_nothing_about_it(world: World) -> None:
    caller = Caller("ann", op="op-1")
    for expected in ({"done": 1}, {"done": 1, "replayed": True}):
        assert once(world.store, caller, "verb", {}, lambda tx: {"done": 1}) == expected


def test_a_refusal_is_not_stored_and_leaves_nothing(world: World) -> None:
    with refused("input.bad"):
        note(world, fails=True)
    assert world.events() == []
    assert world.store.read(lambda view: view.get(OPERATION, ("op-1",))) is None
    assert "replayed" not in note(world)
    assert count(world) == 1


@pytest.mark.parametrize(
    "other", [{"text": "other"}, {"agent": "bob"}, {"agent": "ann/one"}, {"verb": "other"}]
)
def test_the_same_id_with_other_arguments_verb_or_agent_is_refused(
    world: World, other: dict[str, Any]
) -> None:
    first = note(world)
    with refused("operation.differs") as caught:
        note(world, **other)
    assert caught.value.exit_code == USAGE
    assert (count(world), note(world)["position"]) == (1, first["position"])


def test_another_id_is_another_command(world: World) -> None:
    assert note(world, "op-1")["position"] != note(world, "op-2")["position"]


def test_every_event_carries_the_id_of_its_command(world: World) -> None:
    note(world, "op-7")
    assert [entry.op for entry in world.store.read(lambda view: view.scan(LOG, "key"))][-1] == "op-7"


def test_a_ticket_is_not_yet_an_effect(world: World) -> None:
    caller = Caller("ann", op="op-1")
    for _ in range(2):
        assert once(world.store, caller, "claim", {}, lambda tx: {"ticket": 9}) == {"ticket": 9}


def test_an_id_is_forgotten_after_its_time_and_not_before(world: World) -> None:
    note(world)
    world.clock.advance(KEEP_MS)
    assert note(world)["replayed"] is True
    world.clock.advance(1)
    again = note(world)
    assert ("replayed" in again, count(world)) == (False, 2)
    assert note(world)["position"] == again["position"]


def test_old_answers_are_dropped_a_few_at_a_time(world: World) -> None:
    for number in range(30):
        note(world, f"old-{number:02}")
    world.clock.advance(KEEP_MS + 1)

    def kept() -> list[str]:
        return [row.key for row in world.store.read(lambda view: view.scan(OPERATION, "key"))]

    note(world, "new-1")
    assert kept() == ["new-1", *(f"old-{number:02}" for number in range(3, 30))]
    for number in range(2, 11):
        note(world, f"new-{number}")
    assert sorted(kept()) == sorted(f"new-{number}" for number in range(1, 11))
