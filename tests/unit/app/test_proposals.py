"""Use cases around proposals: everybody asks, the owner decides in order, the author is told."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.app import proposals, values
from lineclear.app.messages import inbox
from lineclear.app.ports import Caller
from lineclear.core.claims.strategies import SINGLE_WRITER, Rule
from lineclear.core.words.row import HELD, NOT_ALLOWED, STALE
from tests.world import World, refused, resource

ANN, BOB, CAT, PAT = Caller("ann"), Caller("bob"), Caller("cat"), Caller("pat", is_person=True)
OWNED = [
    Rule(resource("value:plan"), SINGLE_WRITER, "ann"),
    Rule(resource("src/api.py"), SINGLE_WRITER, "ann"),
]


@pytest.fixture
def world() -> World:
    return World()


def propose(world: World, caller: Caller, payload: str = "1", text: str = "value:plan", **how: Any) -> int:
    rules = how.pop("rules", OWNED)
    answer = proposals.propose(world.store, caller, rules, resource(text), payload, **how)
    number: int = answer["proposal"]["id"]
    return number


def accept(world: World, caller: Caller, number: int, rules: list[Rule] | None = None) -> dict[str, Any]:
    return proposals.accept(world.store, world.liveness, caller, OWNED if rules is None else rules, number)


def reject(world: World, caller: Caller, number: int, reason: str = "") -> dict[str, Any]:
    return proposals.reject(world.store, caller, OWNED, number, reason)


def state(world: World, number: int) -> str:
    shown: str = world.store.read(lambda view: proposals.show(view, number))["state"]
    return shown


def told(world: World, name: str) -> list[str]:
    shown = world.store.read(lambda view: inbox(view, name))["messages"]
    return [message["text"] for message in shown]


def value(world: World, key: str = "plan") -> tuple[int, Any]:
    shown = world.store.read(lambda view: values.get(view, key))
    return shown["version"], shown["value"]


def test_a_proposal_is_kept_open_and_its_owner_is_told(world: World) -> None:
    number = propose(world, BOB, '{"a": 1}', note="please")
    assert world.store.read(lambda view: proposals.show(view, number)) == {
        "id": number,
        "resource": "value:plan",
        "author": "bob",
        "base_version": 0,
        "payload": {"a": 1},
        "note": "please",
        "state": "open",
        "decided_by": "",
        "reason": "",
    }
    assert told(world, "ann") == [f"bob proposes a change to value:plan: proposal {number}."]


def test_an_accepted_proposal_is_the_new_version_and_its_author_is_told(world: World) -> None:
    values.put(world.store, world.liveness, ANN, OWNED, "plan", "0")
    number = propose(world, BOB, '{"a": 1}')
    assert accept(world, ANN, number)["version"] == 2
    assert value(world) == (2, {"a": 1})
    assert (state(world, number), told(world, "bob")) == (
        "accepted",
        [f"ann has accepted proposal {number} for value:plan"],
    )
    assert world.findings() == []


def test_a_rejected_proposal_writes_nothing_and_its_author_learns_why(world: World) -> None:
    number = propose(world, BOB)
    reject(world, ANN, number, "too early")
    assert told(world, "bob") == [f'ann has rejected proposal {number} for value:plan: "too early"']
    with refused("value.unknown"):
        value(world)


@pytest.mark.parametrize("caller", [BOB, CAT, Caller("anna")])
def test_only_the_owner_decides(world: World, caller: Caller) -> None:
    number = propose(world, BOB)
    for verb in (accept, reject):
        with refused("proposal.not_owner") as caught:
            verb(world, caller, number)
        assert (caught.value.exit_code, caught.value.facts["holder"]) == (NOT_ALLOWED, "ann")
    assert state(world, number) == "open"


@pytest.mark.parametrize("caller", [ANN, Caller("ann/one"), PAT])
def test_the_owner_its_family_and_a_person_decide(world: World, caller: Caller) -> None:
    accept(world, caller, propose(world, BOB))
    assert value(world) == (1, 1)


def test_without_a_named_owner_whoever_holds_the_resource_decides(world: World) -> None:
    number = propose(world, BOB, rules=[])
    with refused("proposal.not_owner") as caught:
        accept(world, ANN, number, [])
    assert caught.value.facts["holder"] == ""
    world.ask("ann", "value:plan")
    accept(world, ANN, number, [])
    assert value(world) == (1, 1)


def test_a_person_decides_in_place_of_the_holder(world: World) -> None:
    world.ask("ann", "value:plan")
    accept(world, PAT, propose(world, BOB, rules=[]), [])
    assert value(world) == (1, 1)


def test_nothing_is_accepted_while_a_stranger_holds_the_value(world: World) -> None:
    number = propose(world, BOB)
    world.ask("cat", "value:plan")
    for caller in (ANN, PAT):
        with refused("write.held") as caught:
            accept(world, caller, number)
        assert (caught.value.exit_code, caught.value.facts["holder"]) == (HELD, "cat")
    world.release("cat", "value:plan")
    accept(world, ANN, number)


def test_a_dead_holder_does_not_keep_a_proposal_from_being_accepted(world: World) -> None:
    number = propose(world, BOB)
    world.ask("cat", "value:plan", bond="host/with-1")
    world.liveness.dead.add("host/with-1")
    accept(world, ANN, number)


def test_proposals_are_accepted_in_the_order_they_came(world: World) -> None:
    first, second = propose(world, BOB, "1"), propose(world, CAT, "2")
    with refused("proposal.order") as caught:
        accept(world, ANN, second)
    assert caught.value.facts["first"] == first
    reject(world, ANN, first)
    accept(world, ANN, second)
    assert value(world) == (1, 2)


def test_a_later_one_may_be_rejected_first(world: World) -> None:
    first, second = propose(world, BOB, "1"), propose(world, CAT, "2")
    reject(world, ANN, second)
    accept(world, ANN, first)
    assert (state(world, first), state(world, second)) == ("accepted", "rejected")


def test_proposals_for_other_resources_are_not_in_the_way(world: World) -> None:
    propose(world, BOB, "1", "src/api.py")
    accept(world, ANN, propose(world, BOB, "2"))


def test_what_is_based_on_an_old_version_is_refused_when_accepted(world: World) -> None:
    number = propose(world, BOB, "1")
    values.put(world.store, world.liveness, ANN, OWNED, "plan", "0")
    with refused("proposal.stale") as caught:
        accept(world, ANN, number)
    assert (caught.value.exit_code, caught.value.facts["base"], caught.value.facts["version"]) == (
        STALE,
        0,
        1,
    )
    assert (value(world), state(world, number)) == ((1, 0), "open")


def test_the_base_version_may_be_said(world: World) -> None:
    values.put(world.store, world.liveness, ANN, OWNED, "plan", "0")
    stale, fresh = propose(world, BOB, "1", version=0), propose(world, BOB, "2", version=1)
    with refused("proposal.stale"):
        accept(world, ANN, stale)
    reject(world, ANN, stale)
    accept(world, ANN, fresh)


def test_a_decision_is_final(world: World) -> None:
    number = propose(world, BOB)
    reject(world, ANN, number)
    for verb in (accept, reject):
        with refused("proposal.decided") as caught:
            verb(world, ANN, number)
        assert (caught.value.facts["state"], caught.value.facts["holder"]) == ("rejected", "ann")


def test_an_author_replaces_its_own_open_proposal(world: World) -> None:
    first = propose(world, BOB, "1")
    second = propose(world, BOB, "2", supersedes=first)
    assert (state(world, first), state(world, second)) == ("superseded", "open")
    accept(world, ANN, second)
    assert value(world) == (1, 2)
    with refused("proposal.decided"):
        propose(world, BOB, "3", supersedes=first)


def test_nobody_replaces_anothers_proposal_or_one_for_something_else(world: World) -> None:
    first = propose(world, BOB, "1")
    with refused("proposal.not_owner"):
        propose(world, CAT, "2", supersedes=first)
    with refused("proposal.not_owner"):
        propose(world, BOB, "2", "src/api.py", supersedes=first)
    with refused("proposal.unknown"):
        propose(world, BOB, "2", supersedes=first + 100)
    assert state(world, first) == "open"


def test_accepting_a_change_to_a_file_is_a_word_and_not_a_write(world: World) -> None:
    number = propose(world, BOB, '"add a parameter"', "src/api.py")
    assert accept(world, ANN, number)["version"] == 0
    assert world.events("ValuePut") == []


def test_a_key_with_a_star_is_written_under_its_own_name(world: World) -> None:
    number = propose(world, BOB, "1", "value:a\\*", rules=[])
    accept(world, PAT, number, [])
    assert value(world, "a*") == (1, 1)


def test_an_owner_that_proposes_or_decides_for_itself_is_not_told(world: World) -> None:
    number = propose(world, ANN)
    accept(world, ANN, number)
    assert world.events("MessageSent") == []


def test_lists_show_open_ones_or_a_state_or_all(world: World) -> None:
    first, second = propose(world, BOB, "1"), propose(world, BOB, "2", "src/api.py")
    reject(world, ANN, first)

    def ids(**wanted: Any) -> list[int]:
        return [row["id"] for row in world.store.read(lambda view: proposals.list_proposals(view, **wanted))]

    assert ids() == [second]
    assert ids(state="rejected") == [first]
    assert ids(state="all") == [first, second]
    assert ids(state="all", resource="value:plan") == [first]


@pytest.mark.parametrize("bad", [{"payload": "{"}, {"note": "x" * 2_001}, {"note": "\udcff"}])
def test_what_cannot_be_proposed_is_refused(world: World, bad: dict[str, Any]) -> None:
    with refused("input.bad"):
        propose(world, BOB, **bad)
    assert world.events() == []


def test_a_reason_is_bounded(world: World) -> None:
    number = propose(world, BOB)
    with refused("input.bad"):
        reject(world, ANN, number, "x" * 2_001)


def test_a_repeated_acceptance_writes_once(world: World) -> None:
    number = propose(world, BOB)
    once = Caller("ann", op="op-1")
    first = accept(world, once, number)
    assert accept(world, once, number) == first | {"replayed": True}
    assert value(world) == (1, 1)
