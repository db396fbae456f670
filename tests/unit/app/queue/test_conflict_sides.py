"""Conflicts with both sides' tasks and authors: what the store knows counts more than what a commit says."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.app.queue import candidates
from lineclear.app.queue.conflict_sides import NOBODY, Side, owner_of_branch, with_sides
from lineclear.core.queue.conflict_sides import MOST_PER_SIDE, Owner, Touch
from tests.touches import CONFLICTS, TOUCHES, with_two_tasks
from tests.world import World

ADA = Caller("ada", tree="ada")


@pytest.fixture
def world() -> World:
    """T-1 is on main; ada has taken T-2."""
    world = with_two_tasks()
    tasks.take(world.store, world.liveness, ADA, number=2)
    return world


def sides(world: World, left: Side, right: Side) -> list[dict[str, Any]]:
    return world.store.read(lambda view: with_sides(view, CONFLICTS, left, right))


def owner(world: World, branch: str) -> tuple[str, str]:
    found = world.store.read(lambda view: owner_of_branch(view, branch))
    return found.task, found.agent


def test_each_conflict_names_those_who_changed_its_files_on_each_side(world: World) -> None:
    right = Side([Touch("d1", "Codex", "Begin", paths=["a.py"])], Owner("T-2", "ada"))
    told = sides(world, Side(TOUCHES), right)
    commits = [
        {name: [hand["commit"] for hand in rows] for name, rows in row["sides"].items()} for row in told
    ]
    assert commits == [{"left": ["c2", "c1"], "right": ["d1"]}, {"left": ["c3", "c2"], "right": []}]
    assert told[0]["sides"]["left"][0] == {
        "task": "T-1", "title": "Ask for a code", "agent": "ben", "author": "Bob", "commit": "c2",
        "subject": "Land T-1: as it was called then",
    }  # fmt: skip
    own = told[0]["sides"]["right"][0]
    assert (own["task"], own["agent"], own["author"], own["title"]) == (
        "T-2", "ada", "Codex", "Write an audit log",
    )  # fmt: skip
    assert "sides" not in CONFLICTS[0]


def test_a_branch_tells_whose_it_is_only_of_commits_that_name_nobody(world: World) -> None:
    told = sides(world, Side([]), Side([TOUCHES[1]], Owner("T-2", "ada")))
    assert [(hand["task"], hand["agent"]) for hand in told[0]["sides"]["right"]] == [("T-1", "ben")]


def test_what_the_queue_brought_to_main_is_known_by_the_queue(world: World) -> None:
    """A commit that claims to be T-1's is the work of whoever submitted it."""
    submit(world, "ada", "c9", agent="ada", task=2)
    told = sides(world, Side([Touch("c9", "Ada", "x", task="T-1", agent="ben", paths=["a.py"])]), Side([]))
    assert [(hand["task"], hand["agent"]) for hand in told[0]["sides"]["left"]] == [("T-2", "ada")]


def test_without_a_store_it_is_what_the_commits_say() -> None:
    told = with_sides(None, CONFLICTS, Side(TOUCHES), Side([]))
    first = told[0]["sides"]["left"][0]
    assert (first["task"], first["agent"], first["title"]) == ("T-1", "ben", "as it was called then")


def test_of_many_the_newest_few_are_named(world: World) -> None:
    many = [Touch(f"c{number}", f"Author {number}", "s", paths=["a.py"]) for number in range(9)]
    left = sides(world, Side(many), Side([]))[0]["sides"]["left"]
    assert [hand["commit"] for hand in left] == ["c0", "c1", "c2"]
    assert len(left) == MOST_PER_SIDE


def test_a_branch_is_of_whoever_last_submitted_it(world: World) -> None:
    submit(world, "feature", "c1", agent="ada", task=2)
    assert owner(world, "feature") == ("T-2", "ada")
    assert owner(world, "another") == ("", "")
    assert not NOBODY


def test_a_branch_of_an_agent_that_works_on_one_task_is_for_that_task(world: World) -> None:
    submit(world, "feature", "c1", agent="ada", task=0)
    assert owner(world, "feature") == ("T-2", "ada")


def submit(world: World, branch: str, tip: str, *, agent: str, task: int) -> None:
    candidates.submit(
        world.store,
        Caller(agent, tree=agent),
        candidates.SubmittedBranch(branch, tip, "b"),
        agent=agent,
        task=task,
    )
