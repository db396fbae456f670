"""Whole lists of tasks: brought in, exported, filtered, found similar, and repeated with an operation id."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.app import task_lists, tasks
from lineclear.app.ports import Caller
from lineclear.core.tasks.lists import TaskDraft
from lineclear.core.tasks.states import TAKEN
from tests.world import World, refused

ANN, PAT = Caller("ann"), Caller("pat", is_person=True)


@pytest.fixture
def world() -> World:
    return World()


def add(world: World, title: str, *after: int, **fields: Any) -> int:
    draft = TaskDraft("1", title, after=[f"T-{number}" for number in after], **fields)
    return int(tasks.add(world.store, PAT, draft)["task"]["id"].removeprefix("T-"))


def take(world: World, caller: Caller, number: int) -> None:
    tasks.take(world.store, world.liveness, caller, number=number)


def do(world: World, caller: Caller, number: int) -> None:
    take(world, caller, number)
    tasks.finish(world.store, caller, number)


def ready(world: World) -> list[str]:
    return [shown["id"] for shown in world.store.read(tasks.list_ready)]


def bring_in(world: World, *drafts: TaskDraft, op: str = "", **settings: Any) -> dict[str, Any]:
    return task_lists.import_all(world.store, Caller("pat", is_person=True, op=op), list(drafts), **settings)


def test_a_list_may_refer_forward_and_to_tasks_that_are_there(world: World) -> None:
    add(world, "before")
    answer = bring_in(
        world,
        TaskDraft("ship", "ship", after=["test", "T-1"]),
        TaskDraft("test", "test", after=["code"]),
        TaskDraft("code", "code"),
    )
    assert [(shown["id"], shown["waits_for"]) for shown in answer["tasks"]] == [
        ("T-2", 2),
        ("T-3", 1),
        ("T-4", 0),
    ]
    assert ready(world) == ["T-1", "T-4"]
    assert world.findings() == []


def test_done_entries_are_left_out_and_nobody_waits_for_them(world: World) -> None:
    answer = bring_in(world, TaskDraft("a", "a", done=True), TaskDraft("b", "b", after=["a"]))
    assert answer["left_out"] == ["a"]
    assert [(shown["title"], shown["waits_for"]) for shown in answer["tasks"]] == [("b", 0)]


def test_a_reference_given_twice_counts_once(world: World) -> None:
    bring_in(world, TaskDraft("a", "a"), TaskDraft("b", "b", after=["a", "a"]))
    do(world, ANN, 1)
    assert ready(world) == ["T-2"]


def test_a_list_that_waits_for_itself_is_refused_as_a_whole(world: World) -> None:
    with refused("task.cycle") as caught:
        bring_in(
            world, TaskDraft("x", "x"), TaskDraft("a", "a", after=["b"]), TaskDraft("b", "b", after=["a"])
        )
    cycle = caught.value.facts["cycle"]
    assert (set(cycle), cycle[0]) == ({"a", "b"}, cycle[-1])
    assert world.events() == []


def test_a_list_with_an_unknown_task_in_it_is_refused_as_a_whole(world: World) -> None:
    with refused("task.unknown"):
        bring_in(world, TaskDraft("a", "a"), TaskDraft("b", "b", after=["T-99"]))
    assert world.events() == []


def test_an_unfinished_task_with_the_same_title_is_pointed_out(world: World) -> None:
    add(world, "login")
    tasks.cancel(world.store, PAT, add(world, "logout"), "no")
    answer = bring_in(world, TaskDraft("1", "login"), TaskDraft("2", "logout"))
    assert answer["similar"] == [{"id": "T-3", "title": "login", "similar_to": "T-1"}]


def test_what_is_exported_can_be_imported_again(world: World) -> None:
    first = add(world, "first", labels=["ui"], scope=["src/"], produces=["dist/a, b.js"])
    add(world, "second", first, priority=1, body="more")
    exported = world.store.read(task_lists.export_all)
    assert exported[0].produces == ["dist/a, b.js"]
    other = World()
    bring_in(other, *exported)
    assert [draft.as_data() for draft in other.store.read(task_lists.export_all)] == [
        draft.as_data() for draft in exported
    ]


def test_lists_are_filtered_by_state_and_label(world: World) -> None:
    add(world, "a", labels=["ui", "css"])
    add(world, "b", labels=["api"])
    take(world, ANN, 2)

    def ids(**wanted: Any) -> list[str]:
        return [shown["id"] for shown in world.store.read(lambda view: tasks.list_tasks(view, **wanted))]

    assert ids() == ["T-1", "T-2"]
    assert ids(states=[TAKEN]) == ["T-2"]
    assert ids(label="css") == ["T-1"]


def test_the_same_operation_with_another_task_is_refused(world: World) -> None:
    once = Caller("pat", is_person=True, op="op-1")
    tasks.add(world.store, once, TaskDraft("1", "a"))
    assert tasks.add(world.store, once, TaskDraft("1", "a"))["replayed"] is True
    for other in (TaskDraft("1", "a", priority=1), TaskDraft("1", "a", labels=["x"])):
        with refused("operation.differs"):
            tasks.add(world.store, once, other)
    with refused("operation.differs"):
        tasks.add(world.store, once, TaskDraft("1", "a"), attempts_max=4)


def test_the_same_operation_with_another_list_is_refused(world: World) -> None:
    first = bring_in(world, TaskDraft("1", "a"), op="op-1")
    assert bring_in(world, TaskDraft("1", "a"), op="op-1") == first | {"replayed": True}
    for other in (
        TaskDraft("1", "a", priority=1),
        TaskDraft("1", "a", needs=["x"]),
        TaskDraft("1", "a", done=True),
    ):
        with refused("operation.differs"):
            bring_in(world, other, op="op-1")
    with refused("operation.differs"):
        bring_in(world, TaskDraft("1", "a"), op="op-1", attempts_max=4)
