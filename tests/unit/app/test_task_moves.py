"""Every move of a task, legal or not: from the one table, through the use cases and through the fold."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.app.runs import records
from lineclear.core.log.events import BrokenLog, Event
from lineclear.core.log.fold import fold
from lineclear.core.log.state import FoldedState
from lineclear.core.log.tables import TASK, Task
from lineclear.core.tasks.lists import TaskDraft
from lineclear.core.tasks.states import (
    ACCEPTED,
    CANCELLED,
    ENDED,
    FAILED,
    FINISHED,
    HANDED_OVER,
    MERGED,
    MOVES,
    OPEN,
    STATES,
    TAKEN,
)
from lineclear.core.words.refusals import Refusal
from tests.world import World

ANN, PAT = Caller("ann"), Caller("pat", is_person=True)
TASK_1, TASK_2 = 1, 2


def take(world: World) -> dict[str, Any]:
    return tasks.take(world.store, world.liveness, ANN, number=TASK_1)


def hand_over(world: World) -> dict[str, Any]:
    return tasks.finish(world.store, ANN, TASK_1, branch="ann/login")


def accept(world: World) -> dict[str, Any]:
    return tasks.finish(world.store, ANN, TASK_1, result="read it")


def say_merged(world: World) -> dict[str, Any]:
    return tasks.finish(world.store, PAT, TASK_1)


def accept_branch(world: World) -> dict[str, Any]:
    return tasks.finish(world.store, PAT, TASK_1, result="good as it is")


def fail(world: World) -> dict[str, Any]:
    return tasks.fail(world.store, PAT, TASK_1, "no way")


def give_up(world: World) -> dict[str, Any]:
    return tasks.fail(world.store, ANN, TASK_1, "no way")


def cancel(world: World) -> dict[str, Any]:
    return tasks.cancel(world.store, PAT, TASK_1, "not wanted")


def reopen(world: World) -> dict[str, Any]:
    return tasks.reopen(world.store, PAT, TASK_1, "once more")


def mark_same(world: World) -> dict[str, Any]:
    return tasks.mark_same(world.store, PAT, TASK_1, TASK_2)


def edit(world: World) -> dict[str, Any]:
    return tasks.edit(world.store, PAT, TASK_1, {"priority": 1})


Verb = Callable[[World], dict[str, Any]]

WAY_TO: dict[str, tuple[Verb, ...]] = {
    OPEN: (),
    TAKEN: (take,),
    HANDED_OVER: (take, hand_over),
    MERGED: (take, hand_over, say_merged),
    ACCEPTED: (take, accept),
    FAILED: (fail,),
    CANCELLED: (cancel,),
}

# A verb: the states it applies to with the state it leads to; elsewhere it is refused.
VERBS: dict[Verb, dict[str, str]] = {
    take: {OPEN: TAKEN},
    hand_over: {TAKEN: HANDED_OVER},
    accept: {TAKEN: ACCEPTED},
    say_merged: {HANDED_OVER: MERGED},
    accept_branch: {HANDED_OVER: ACCEPTED},
    fail: {OPEN: FAILED, TAKEN: FAILED, HANDED_OVER: FAILED},
    give_up: {TAKEN: OPEN},
    cancel: {OPEN: CANCELLED, TAKEN: CANCELLED, HANDED_OVER: CANCELLED},
    reopen: {TAKEN: OPEN, HANDED_OVER: OPEN, FAILED: OPEN, CANCELLED: OPEN},
    mark_same: {OPEN: CANCELLED, TAKEN: CANCELLED},
    edit: {OPEN: OPEN, TAKEN: TAKEN, HANDED_OVER: HANDED_OVER},
}


def world_with_a_task(state: str) -> World:
    world = World()
    for title in ("login form", "sign-in form"):
        tasks.add(world.store, PAT, TaskDraft("1", title))
    for step in WAY_TO[state]:
        step(world)
    assert state_of(world) == state
    return world


def state_of(world: World) -> str:
    task = world.store.read(lambda view: view.get(TASK, (TASK_1,)))
    assert task is not None
    return task.state


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_a_verb_moves_a_task_or_is_refused_and_changes_nothing(verb: Verb, state: str) -> None:
    world = world_with_a_task(state)
    before = world.events()
    if state in VERBS[verb]:
        verb(world)
        assert state_of(world) == VERBS[verb][state]
    else:
        with pytest.raises(Refusal) as caught:
            verb(world)
        taken_by_another = state == TAKEN and verb in (take, say_merged, accept_branch)
        assert caught.value.code == (
            "task.state" if not taken_by_another else "task.taken" if verb is take else "task.not_yours"
        )
        assert world.events() == before
    assert world.findings() == []


def test_the_verbs_make_every_move_of_the_table() -> None:
    made = set()
    for verb, moves in VERBS.items():
        for state in moves:
            world = world_with_a_task(state)
            verb(world)
            made.add((state, world.events()[-1][0]))
    made.add((TAKEN, put_back(world_with_a_task(TAKEN))))
    assert made - {(state, "TaskEdited") for state in STATES} == set(MOVES)


def put_back(world: World) -> str:
    """The supervisor's own move, for a run that never began."""
    records.put_back(world.store, ANN, TASK_1, "it never began")
    return str(world.events()[-1][0])


@pytest.mark.parametrize("state", [state for state in STATES if state != TAKEN])
def test_only_a_taken_task_is_put_back(state: str) -> None:
    world = world_with_a_task(state)
    before = world.events()
    put_back(world)
    assert world.events() == before


def test_a_task_that_was_put_back_was_not_tried() -> None:
    world = world_with_a_task(TAKEN)
    put_back(world)
    assert take(world)["task"]["attempt"] == 1


# -- the same table in the fold -----------------------------------------------------------------

KINDS = sorted({kind for _, kind in MOVES})
NUMBERS = {"id": 1, "attempt": 1, "ttl_ms": 1, "until_ns": 1, "same_as": 2}
BODY = NUMBERS | {"agent": "bob", "why": "", "reason": "", "result": "", "branch": ""}


def state_with_a_task(state: str) -> FoldedState:
    tables = FoldedState()
    tables.put(TASK, Task(1, "t", "", state, 5, 0, "", "", "", "ann", 1, 3, "", "", 0, 1, 0, 0))
    return tables


@pytest.mark.parametrize(("state", "kind"), list(itertools.product(STATES, KINDS)))
def test_the_fold_makes_the_moves_of_the_table_and_no_other(state: str, kind: str) -> None:
    tables = state_with_a_task(state)
    event = Event(2, 0, "bob", kind, "T-1", 0, "", dict(BODY))
    if (state, kind) not in MOVES:
        with pytest.raises(BrokenLog):
            fold(tables, event)
        return
    fold(tables, event)
    task = tables.get(TASK, (1,))
    assert task is not None
    assert task.state == MOVES[state, kind]


def test_an_ended_task_moves_only_by_being_reopened_and_a_finished_one_never() -> None:
    assert {kind for state, kind in MOVES if state in ENDED} == {"TaskReopened"}
    assert not [state for state, _ in MOVES if state in FINISHED]
    assert set(STATES) == {state for state, _ in MOVES} | FINISHED
