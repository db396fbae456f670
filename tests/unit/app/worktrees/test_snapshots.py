"""Whose work a name means, and which snapshot."""

from __future__ import annotations

import pytest

from lineclear.app import tasks
from lineclear.app.agents.membership import ensure_agent
from lineclear.app.ports import Caller
from lineclear.app.worktrees.snapshots import Work, choose, find_work, task_id
from lineclear.core.log.events import Draft
from lineclear.core.tasks.lists import TaskDraft
from lineclear.core.worktrees.snapshots import PREFIX, Kept, ref_prefix
from tests.world import HOUR_MS, World, refused


@pytest.fixture
def world() -> World:
    return World()


def make_tree(world: World, name: str, agent: str, task: int = 0) -> None:
    body = {
        "name": name, "path": f"/{name}", "branch": f"b/{name}", "base": "c0", "agent": agent, "task": task,
        "origin": "lineclear", "port_first": 0, "port_count": 0,
    }  # fmt: skip
    world.store.transact(Caller("sam"), lambda tx: tx.append(Draft("WorktreeMade", "x", **body)))


def find(world: World, name: str, scope: str = "") -> Work:
    return world.store.read(lambda view: find_work(view, name, scope=scope))


def test_a_worktree_is_found_by_its_own_name_its_agent_and_its_task(world: World) -> None:
    make_tree(world, "w", "ada", 12)
    for name in ("w", "ada", "T-12", "t-12"):
        work = find(world, name)
        assert (work.agent, work.tree, work.branch, work.task) == ("ada", "w", "b/w", 12)


def test_of_several_the_newest_counts(world: World) -> None:
    make_tree(world, "first", "ada", 1)
    make_tree(world, "second", "ada", 1)
    assert find(world, "ada").tree == "second"
    assert find(world, "T-1").tree == "second"
    assert find(world, "first").tree == "first"


def test_in_a_teams_store_the_clones_part_need_not_be_said(world: World) -> None:
    make_tree(world, "clone-1/w", "ada")
    make_tree(world, "clone-2/v", "ben")
    assert find(world, "w", scope="clone-1/").tree == "clone-1/w"
    with refused("look.nothing"):
        find(world, "v", scope="clone-1/")


def test_an_agent_without_a_worktree_works_where_it_is(world: World) -> None:
    caller = Caller("ada", tree="main")
    world.store.transact(caller, lambda tx: ensure_agent(tx, caller))
    assert (find(world, "ada").agent, find(world, "ada").tree) == ("ada", "main")


def test_a_task_without_a_worktree_has_its_branch_and_agent(world: World) -> None:
    ada = Caller("ada")
    tasks.add(world.store, ada, TaskDraft("", "One"), attempts_max=3)
    with refused("look.nothing"):
        find(world, "T-1")
    tasks.take(world.store, world.liveness, ada, number=1, skills=frozenset(), lease_ms=HOUR_MS)
    tasks.finish(world.store, ada, 1, branch="feat/one")
    assert (find(world, "T-1").agent, find(world, "T-1").branch) == ("ada", "feat/one")


def test_people_and_strangers_have_no_work_of_their_own(world: World) -> None:
    sam = Caller("sam", is_person=True)
    world.store.transact(sam, lambda tx: ensure_agent(tx, sam))
    make_tree(world, "nobodys", "")
    for name in ("sam", "ghost", "T-9", ""):
        with refused("look.nothing"):
            find(world, name)


@pytest.mark.parametrize(
    ("name", "number"), [("T-12", 12), ("t-1", 1), ("12", 0), ("T-", 0), ("T-x", 0), ("T-" + "9" * 16, 0)]
)
def test_what_is_a_tasks_id(name: str, number: int) -> None:
    assert task_id(name) == number


def kept(agent: str, number: int, commit: str) -> Kept:
    return Kept(f"{ref_prefix(agent)}{number}", commit, "t", "p", 0, "")


FOUND = [kept("ada", 2, "a" * 40), kept("ada", 1, "b" * 40), kept("ada/sub", 1, "ab" * 20)]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("ada", 0), ("ada/2", 0), ("ada/1", 1), ("ada/01", 1), ("ada/sub", 2), ("ada/sub/1", 2),
        ("ada+sub/1", 2),
        (f"{PREFIX}ada/1", 1), ("bbbbbbb", 1), ("ABABABA", 2), ("a" * 40, 0),
    ],
)  # fmt: skip
def test_a_snapshot_is_chosen_by_any_of_its_names(name: str, place: int) -> None:
    assert choose(FOUND, name) is FOUND[place]


@pytest.mark.parametrize("name", ["", "ben", "ada/3", "bbbbbb", "ada/", "/1", "refs/heads/ada/1"])
def test_other_names_are_refused(name: str) -> None:
    with refused("snapshot.none"):
        choose(FOUND, name)
