"""Use cases around values: versions, stale writes, fences, strategies, history, and copies merged back."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from lineclear.app import values
from lineclear.app.agents.membership import ensure_agent
from lineclear.app.ports import Caller
from lineclear.core.claims.strategies import LOCKED, OPTIMISTIC, READ_ONLY, SINGLE_WRITER, Rule
from lineclear.core.words.refusals import Refusal
from lineclear.core.words.row import HELD, NOT_ALLOWED, NOT_FOUND, STALE
from tests.world import MINUTE_MS, World, refused, resource

ANN, BOB, PAT = Caller("ann"), Caller("bob"), Caller("pat", is_person=True)


@pytest.fixture
def world() -> World:
    return World()


def rule(strategy: str, text: str = "value:plan", owner: str = "") -> list[Rule]:
    return [Rule(resource(text), strategy, owner, "lineclear.toml")]


def ensure(world: World, caller: Caller) -> None:
    world.store.transact(caller, lambda tx: ensure_agent(tx, caller))


def put(world: World, caller: Caller, json: str, key: str = "plan", **how: Any) -> dict[str, Any]:
    return values.put(world.store, world.liveness, caller, how.pop("rules", []), key, json, **how)


def delete(world: World, caller: Caller, key: str = "plan", **how: Any) -> dict[str, Any]:
    return values.delete(world.store, world.liveness, caller, how.pop("rules", []), key, **how)


def get(world: World, key: str = "plan", copy: str = "") -> dict[str, Any]:
    return world.store.read(lambda view: values.get(view, key, copy=copy))


# -- versions ---------------------------------------------------------------------------------


def test_the_first_version_is_one(world: World) -> None:
    answer = put(world, ANN, '{"b": 1, "a": [true, null]}')
    assert (answer["version"], answer["value"], answer["by"]) == (1, {"b": 1, "a": [True, None]}, "ann")
    assert get(world) == answer


def test_a_write_on_the_version_that_was_read_makes_the_next_one(world: World) -> None:
    put(world, ANN, "1")
    assert put(world, BOB, "2", version=1)["version"] == 2
    assert put(world, ANN, "3", version=2)["version"] == 3
    assert get(world)["value"] == 3


@pytest.mark.parametrize("version", [1, 3, 99, -1])
def test_a_write_on_any_other_version_is_refused_and_changes_nothing(world: World, version: int) -> None:
    put(world, ANN, "1")
    put(world, ANN, "2")
    before = world.events()
    with refused("value.stale") as caught:
        put(world, BOB, "3", version=version)
    assert caught.value.exit_code == STALE
    facts = caught.value.facts
    assert (facts["key"], facts["given"], facts["version"], facts["holder"]) == ("plan", version, 2, "ann")
    assert world.events() == before


def test_a_write_on_a_version_of_what_never_was_names_the_value(world: World) -> None:
    with refused("value.stale") as caught:
        put(world, ANN, "1", version=3)
    assert (caught.value.facts["key"], caught.value.facts["version"]) == ("plan", 0)


def test_version_zero_means_only_if_it_does_not_exist(world: World) -> None:
    assert put(world, ANN, "1", version=0)["version"] == 1
    for caller in (ANN, BOB):
        with refused("value.exists") as caught:
            put(world, caller, "2", version=0)
        assert (caught.value.exit_code, caught.value.facts["holder"]) == (STALE, "ann")


def test_without_a_version_one_may_only_follow_oneself(world: World) -> None:
    put(world, ANN, "1")
    assert put(world, ANN, "2")["version"] == 2
    with refused("value.stale") as caught:
        put(world, BOB, "3")
    assert caught.value.facts["given"] is None
    put(world, BOB, "3", version=2)
    with refused("value.stale"):
        put(world, ANN, "4")


def test_a_deleted_value_is_gone_and_its_versions_count_on(world: World) -> None:
    put(world, ANN, "1")
    assert delete(world, ANN) == {"key": "plan", "version": 2, "deleted": True}
    for missing in (get, lambda world: delete(world, ANN)):
        with refused("value.unknown") as caught:
            missing(world)
        assert caught.value.exit_code == NOT_FOUND
    assert put(world, BOB, "2", version=0)["version"] == 3
    assert world.findings() == []


def test_after_a_deletion_anybody_may_write_without_a_version_and_old_ones_are_stale(world: World) -> None:
    put(world, ANN, "1")
    delete(world, ANN)
    with refused("value.stale"):
        put(world, BOB, "2", version=1)
    assert put(world, BOB, "2")["version"] == 3


def test_deleting_on_a_stale_version_is_refused(world: World) -> None:
    put(world, ANN, "1")
    put(world, ANN, "2")
    with refused("value.stale"):
        delete(world, ANN, version=1)
    with refused("value.stale"):
        delete(world, BOB)
    assert delete(world, BOB, version=2)["version"] == 3


def test_a_key_has_one_spelling(world: World) -> None:
    put(world, ANN, "1", key="team/plan")
    assert get(world, "team//plan/")["value"] == 1
    assert put(world, ANN, "2", key="./team/plan")["version"] == 2
    assert [shown["key"] for shown in world.store.read(values.list_values)] == ["team/plan"]


def test_a_key_with_a_star_is_one_key(world: World) -> None:
    put(world, ANN, "1", key="a*")
    put(world, ANN, "2", key="ab")
    assert (get(world, "a*")["value"], get(world, "ab")["value"]) == (1, 2)


@pytest.mark.parametrize("key", ["", "/", "..", "a\nb", "k" * 201])
def test_what_cannot_be_a_key_is_refused(world: World, key: str) -> None:
    with pytest.raises(Refusal):
        put(world, ANN, "1", key=key)


@pytest.mark.parametrize("json", ["", "{", "NaN", '{"a":1,"a":2}', '"\\ud800"'])
def test_what_is_not_json_is_refused(world: World, json: str) -> None:
    with refused("input.bad"):
        put(world, ANN, json)


def test_deleted_values_are_not_listed(world: World) -> None:
    for key in ("a", "b"):
        put(world, ANN, "1", key=key)
    delete(world, ANN, key="a")
    assert [shown["key"] for shown in world.store.read(values.list_values)] == ["b"]


# -- history ----------------------------------------------------------------------------------


def history(world: World, **how: Any) -> list[tuple[int, Any, str, bool]]:
    shown = world.store.read(lambda view: values.history(view, "plan", **how))
    return [(entry["version"], entry["value"], entry["by"], entry["deleted"]) for entry in shown]


def test_history_has_every_version_newest_first(world: World) -> None:
    put(world, ANN, "1")
    put(world, BOB, "2", version=1)
    delete(world, BOB)
    expected = [(3, None, "bob", True), (2, 2, "bob", False), (1, 1, "ann", False)]
    assert history(world) == expected
    assert history(world, limit=2) == expected[:2]


def test_claims_of_a_value_do_not_push_versions_out_of_its_history(world: World) -> None:
    put(world, ANN, "1")
    for _ in range(5):
        world.ask("ann", "value:plan")
        world.release("ann", "value:plan")
    assert history(world, limit=2) == [(1, 1, "ann", False)]


# -- update -----------------------------------------------------------------------------------


def test_update_reads_changes_and_writes(world: World) -> None:
    def add_one(value: Any) -> Any:
        return (value or 0) + 1

    for _ in range(3):
        values.update(world.store, world.liveness, ANN, [], "count", add_one)
    assert (get(world, "count")["value"], get(world, "count")["version"]) == (3, 3)


def test_update_begins_again_when_somebody_was_faster(world: World) -> None:
    put(world, ANN, "1")
    seen = []

    def change(value: Any) -> Any:
        seen.append(value)
        if len(seen) < 3:
            put(world, BOB, str(value * 10), version=len(seen))
        return value + 1

    assert values.update(world.store, world.liveness, ANN, [], "plan", change)["value"] == 101
    assert seen == [1, 10, 100]


def test_update_gives_up_after_its_tries(world: World) -> None:
    put(world, ANN, "0")

    def outrun(value: Any) -> Any:
        put(world, BOB, str(value + 1), version=value + 1)
        return -1

    with refused("value.stale"):
        values.update(world.store, world.liveness, ANN, [], "plan", outrun, tries=4)
    assert get(world)["value"] == 4


def test_update_does_not_repeat_what_is_refused_for_another_reason(world: World) -> None:
    calls: list[Any] = []
    with refused("write.read_only"):
        values.update(world.store, world.liveness, ANN, rule(READ_ONLY), "plan", calls.append)
    assert calls == [None]


def test_no_increment_of_four_threads_is_lost(world: World) -> None:
    def increment(name: str) -> None:
        for _ in range(50):
            values.update(
                world.store,
                world.liveness,
                Caller(name),
                [],
                "count",
                lambda value: (value or 0) + 1,
                tries=10_000,
            )

    threads = [threading.Thread(target=increment, args=(f"agent-{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (get(world, "count")["value"], get(world, "count")["version"]) == (200, 200)
    assert world.findings() == []


# -- claims and fences ------------------------------------------------------------------------


def test_nobody_writes_what_another_holds_exclusively(world: World) -> None:
    world.ask("ann", "value:plan")
    with refused("write.held") as caught:
        put(world, BOB, "1")
    assert (caught.value.exit_code, caught.value.facts["holder"]) == (HELD, "ann")
    assert put(world, ANN, "1")["version"] == 1
    assert put(world, Caller("ann/one"), "2", version=1)["version"] == 2


def test_a_holder_whose_process_has_died_stops_no_write(world: World) -> None:
    world.ask("ann", "value:plan", bond="host/with-1")
    with refused("write.held"):
        put(world, BOB, "1")
    world.liveness.dead.add("host/with-1")
    assert put(world, BOB, "1")["version"] == 1


def test_what_an_agent_holds_stops_no_write_once_its_own_process_has_died(world: World) -> None:
    ensure(world, Caller("ann", bond="host/agent-1"))
    world.ask("ann", "value:plan")
    with refused("write.held"):
        put(world, BOB, "1")
    world.liveness.dead.add("host/agent-1")
    assert put(world, BOB, "1")["version"] == 1


def test_a_claim_of_another_mode_or_one_that_ran_out_stops_no_write(world: World) -> None:
    world.ask("ann", "value:plan", mode="intent")
    world.ask("ann", "value:other", ttl_ms=MINUTE_MS)
    world.clock.advance(MINUTE_MS)
    assert put(world, BOB, "1")["version"] == 1
    assert put(world, BOB, "1", key="other")["version"] == 1


def test_a_write_under_a_fence_that_was_passed_is_refused(world: World) -> None:
    old = world.ask("ann", "value:plan", ttl_ms=MINUTE_MS)["fence"]
    assert put(world, ANN, "1", fence=old)["version"] == 1
    world.clock.advance(MINUTE_MS)
    world.ask("bob", "value:plan")
    world.release("bob", "value:plan")
    with refused("fence.stale") as caught:
        put(world, ANN, "2", fence=old)
    assert (caught.value.exit_code, caught.value.facts["holder"]) == (STALE, "bob")
    with refused("fence.stale"):
        delete(world, ANN, fence=old)


def test_an_old_fence_stays_stale_when_its_agent_holds_the_resource_again(world: World) -> None:
    old = world.ask("ann", "value:plan", ttl_ms=MINUTE_MS)["fence"]
    world.clock.advance(MINUTE_MS)
    world.ask("bob", "value:plan")
    world.release("bob", "value:plan")
    new = world.ask("ann", "value:plan")["fence"]
    with refused("fence.stale"):
        put(world, ANN, "1", fence=old)
    assert put(world, ANN, "1", fence=new)["version"] == 1


def test_an_own_second_claim_does_not_spoil_the_first_fence(world: World) -> None:
    first = world.ask("ann", "value:team")["fence"]
    world.ask("ann", "value:team/plan")
    assert put(world, ANN, "1", key="team/plan", fence=first)["version"] == 1


# -- strategies -------------------------------------------------------------------------------


def test_a_read_only_value_is_written_by_a_person_only(world: World) -> None:
    with refused("write.read_only") as caught:
        put(world, ANN, "1", rules=rule(READ_ONLY))
    assert caught.value.exit_code == NOT_ALLOWED
    assert put(world, PAT, "1", rules=rule(READ_ONLY))["version"] == 1


def test_a_locked_value_is_written_by_its_holder_only(world: World) -> None:
    with refused("write.unlocked") as caught:
        put(world, ANN, "1", rules=rule(LOCKED))
    assert caught.value.exit_code == NOT_ALLOWED
    world.ask("ann", "value:plan", mode="intent")
    with refused("write.unlocked"):
        put(world, ANN, "1", rules=rule(LOCKED))
    world.ask("ann", "value:plan")
    assert put(world, ANN, "1", rules=rule(LOCKED))["version"] == 1


def test_holding_a_part_of_a_locked_value_is_not_holding_it(world: World) -> None:
    world.ask("ann", "value:plan/week")
    with refused("write.unlocked"):
        put(world, ANN, "1", rules=rule(LOCKED))
    world.ask("bob", "value:team")
    assert put(world, BOB, "1", key="team/plan", rules=rule(LOCKED, "value:team"))["version"] == 1


def test_a_value_with_an_owner_is_written_by_it_and_its_family_only(world: World) -> None:
    rules = rule(SINGLE_WRITER, owner="ann")
    for stranger in (BOB, PAT):
        with refused("write.not_owner") as caught:
            put(world, stranger, "1", rules=rules)
        assert (caught.value.exit_code, caught.value.facts["holder"]) == (NOT_ALLOWED, "ann")
    put(world, ANN, "1", rules=rules)
    assert put(world, Caller("ann/one"), "2", version=1, rules=rules)["version"] == 2


def test_a_single_writer_without_an_owner_is_whoever_holds_it(world: World) -> None:
    rules = rule(SINGLE_WRITER)
    with refused("write.not_owner") as nobody:
        put(world, ANN, "1", rules=rules)
    assert nobody.value.facts["holder"] == ""
    world.ask("ann", "value:plan")
    assert put(world, ANN, "1", rules=rules)["version"] == 1
    with refused("write.not_owner") as caught:
        put(world, BOB, "2", version=1, rules=rules)
    assert caught.value.facts["holder"] == "ann"


def test_an_optimistic_value_needs_no_claim(world: World) -> None:
    assert put(world, ANN, "1", rules=rule(OPTIMISTIC))["version"] == 1
    assert delete(world, BOB, version=1, rules=rule(OPTIMISTIC))["version"] == 2


def test_the_last_rule_that_covers_a_value_counts(world: World) -> None:
    rules = rule(READ_ONLY, "value:**") + rule(OPTIMISTIC)
    assert put(world, ANN, "1", rules=rules)["version"] == 1
    with refused("write.read_only"):
        put(world, ANN, "1", key="other", rules=rules)
