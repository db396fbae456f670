"""Isolated copies of values: forked, changed at leisure, merged back in one piece, or dropped."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.app import values
from lineclear.app.ports import Caller
from lineclear.core.claims.strategies import LOCKED, Rule
from lineclear.core.words.row import STALE
from tests.world import World, refused, resource

ANN, BOB = Caller("ann"), Caller("bob")


@pytest.fixture
def world() -> World:
    world = World()
    values.put(world.store, world.liveness, ANN, [], "plan", '{"a": 1, "b": {"c": 2}, "list": [1]}')
    values.put(world.store, world.liveness, ANN, [], "team", '["ann"]')
    return world


def fork(world: World, *keys: str, copy: str = "draft") -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = values.fork(world.store, BOB, copy, list(keys))["values"]
    return made


def change(world: World, key: str, json: str) -> dict[str, Any]:
    return values.put(world.store, world.liveness, BOB, [], key, json, copy="draft")


def merge(world: World, rules: list[Rule] | None = None) -> list[dict[str, Any]]:
    merged: list[dict[str, Any]] = values.merge(world.store, world.liveness, BOB, rules or [], "draft")[
        "merged"
    ]
    return merged


def put(world: World, key: str, json: str, version: int | None = None) -> None:
    values.put(world.store, world.liveness, ANN, [], key, json, version=version)


def current(world: World, key: str) -> tuple[int, Any]:
    shown = world.store.read(lambda view: values.get(view, key))
    return shown["version"], shown["value"]


def test_a_copy_starts_as_the_values_are(world: World) -> None:
    made = fork(world, "plan", "new", "plan")
    assert [(row["key"], row["base_version"], row["value"], row["changed"]) for row in made] == [
        ("new", 0, None, False),
        ("plan", 1, {"a": 1, "b": {"c": 2}, "list": [1]}, False),
    ]


def test_what_is_changed_in_a_copy_stays_in_it(world: World) -> None:
    fork(world, "plan")
    shown = change(world, "plan", "7")
    assert (shown["value"], shown["changed"]) == (7, True)
    assert world.store.read(lambda view: values.get(view, "plan", copy="draft"))["value"] == 7
    assert current(world, "plan")[0] == 1


def test_a_copy_is_merged_with_what_others_did_meanwhile(world: World) -> None:
    fork(world, "plan", "team", "new")
    change(world, "plan", '{"a": 1, "b": {"c": 3}, "list": [1]}')
    change(world, "new", "true")
    put(world, "plan", '{"a": 9, "b": {"c": 2, "d": 4}, "list": [1]}')
    merged = merge(world)
    assert [(shown["key"], shown["version"]) for shown in merged] == [("new", 1), ("plan", 3)]
    assert current(world, "plan") == (3, {"a": 9, "b": {"c": 3, "d": 4}, "list": [1]})
    assert current(world, "team") == (1, ["ann"])
    assert world.store.read(values.list_copies) == []
    assert world.findings() == []


def test_a_conflict_is_named_by_value_and_pointer_and_nothing_is_written(world: World) -> None:
    fork(world, "plan", "team")
    change(world, "plan", '{"a": 1, "b": {"c": 3}, "list": [2]}')
    change(world, "team", '["ann", "bob"]')
    put(world, "plan", '{"a": 1, "b": {"c": 4}, "list": [3]}')
    before = world.events()
    with refused("copy.conflict") as caught:
        merge(world)
    assert caught.value.exit_code == STALE
    assert caught.value.facts["conflicts"] == [
        {"key": "plan", "pointer": "/b/c"},
        {"key": "plan", "pointer": "/list"},
    ]
    assert world.events() == before


def test_a_deletion_in_a_copy_is_brought_home(world: World) -> None:
    fork(world, "plan")
    assert values.delete(world.store, world.liveness, BOB, [], "plan", copy="draft")["value"] is None
    assert merge(world) == [{"key": "plan", "version": 2, "deleted": True}]
    with refused("value.unknown"):
        current(world, "plan")


def test_a_deletion_against_a_change_is_a_conflict_of_the_whole_value(world: World) -> None:
    fork(world, "plan")
    values.delete(world.store, world.liveness, BOB, [], "plan", copy="draft")
    put(world, "plan", "7")
    with refused("copy.conflict") as caught:
        merge(world)
    assert caught.value.facts["conflicts"] == [{"key": "plan", "pointer": ""}]


def test_what_both_sides_deleted_is_no_write(world: World) -> None:
    fork(world, "plan")
    values.delete(world.store, world.liveness, BOB, [], "plan", copy="draft")
    values.delete(world.store, world.liveness, ANN, [], "plan")
    assert merge(world) == []


def test_a_value_deleted_meanwhile_and_unchanged_in_the_copy_stays_deleted(world: World) -> None:
    fork(world, "plan")
    values.delete(world.store, world.liveness, ANN, [], "plan")
    assert merge(world) == []
    with refused("value.unknown"):
        current(world, "plan")


def test_merging_obeys_claims_and_strategies_as_any_write_does(world: World) -> None:
    fork(world, "plan", "team")
    change(world, "plan", "7")
    change(world, "team", "8")
    with refused("write.unlocked"):
        merge(world, [Rule(resource("value:team"), LOCKED)])
    world.ask("ann", "value:team")
    with refused("write.held"):
        merge(world)
    assert (current(world, "plan")[0], current(world, "team")[0]) == (1, 1)


def test_a_copy_that_changed_nothing_merges_to_nothing(world: World) -> None:
    fork(world, "plan")
    put(world, "plan", "7")
    assert merge(world) == []
    assert current(world, "plan") == (2, 7)


def test_a_dropped_copy_is_gone(world: World) -> None:
    fork(world, "plan")
    change(world, "plan", "7")
    values.drop_copy(world.store, BOB, "draft")
    assert current(world, "plan")[0] == 1
    for verb in (lambda: merge(world), lambda: values.drop_copy(world.store, BOB, "draft")):
        with refused("copy.unknown"):
            verb()
    assert len(fork(world, "plan")) == 1


def test_a_copy_has_one_name_and_knows_its_values(world: World) -> None:
    fork(world, "plan")
    with refused("copy.exists"):
        fork(world, "team")
    with refused("copy.unknown"):
        change(world, "team", "1")
    with refused("input.bad"):
        fork(world, copy="empty")
    with refused("input.bad"):
        fork(world, "plan", copy="Not A Label")


def test_the_same_key_written_two_ways_is_copied_once(world: World) -> None:
    assert [row["key"] for row in fork(world, "plan", "./plan")] == ["plan"]
