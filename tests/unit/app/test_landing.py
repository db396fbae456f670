"""What a landing does to its task, with a git that only pretends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from lineclear.app import claims, landing, tasks
from lineclear.app.landing import Result
from lineclear.app.ports import Caller
from lineclear.core.claims import EXCLUSIVE, Request
from lineclear.core.gate import Finding
from lineclear.core.landing import Author, Landed, NeedsYou, SentBack
from lineclear.core.refusals_values import lock_first
from lineclear.core.resources import parse_resource
from lineclear.core.tables import TASK, Task
from lineclear.core.task_import import TaskDraft
from tests.world import HOUR_MS, World, refused

ADA = Caller("ada")
ANNA = Caller("anna", is_person=True)


class Move:
    def __init__(self, how: str, why: str = "", files: Sequence[str] = ()) -> None:
        self.how, self.why, self.files = how, why, list(files)


class Trees:
    """Every merge gives one tree; a conflict in `conflict` when it is set."""

    def __init__(self) -> None:
        self.conflict = ""

    def merge(self, _base: str, _left: str, _right: str) -> tuple[str, dict[str, Any]]:
        stages = {1: ("160000", "x"), 2: ("160000", "y"), 3: ("160000", "z")}
        return "tree", {self.conflict: stages} if self.conflict else {}

    def read(self, _oids: object) -> dict[str, bytes]:
        return {}

    def changed(self, _base: str, _side: str) -> dict[str, Any]:
        return {}

    def paths(self, _tree: str, _directories: object) -> list[str]:
        return []

    def write(self, tree: str, _files: object) -> str:
        return tree


class Ground:
    """Main is at m0; the branch `ada` is ahead of an older commit, `old` is on main, `far` is unrelated."""

    branch = "main"

    def __init__(self) -> None:
        self.trees, self.history = Trees(), self
        self.at, self.moves, self.repaired = "m0", [Move("moved")], 0
        self.before_move: Callable[[], object] = lambda: None
        self.committed: list[str] = []

    def tips(self, *branches: str) -> list[str]:
        known = {"ada": "a1", "old": "m-1", "far": "f", "main": self.at}
        return [known.get(branch, "") for branch in branches]

    def bases(self, _main: str, tip: str) -> list[str]:
        return {"a1": ["m-1"], "m-1": ["m-1"]}.get(tip, []) if self.at != "a-landed" else [tip]

    def base_of(self, bases: Sequence[str]) -> str:
        return bases[0]

    def tree_of(self, commit: str) -> str:
        return f"tree of {commit}"

    def authors(self, _main: str, _tip: str) -> list[Author]:
        return [Author("Ada", "ada@x")]

    def changed(self, _old: str, _new: str) -> tuple[list[str], list[str]]:
        return ["f"], []

    def folded_paths(self, _tree: str) -> list[str]:
        return []

    def commit(self, _tree: str, _parents: Sequence[str], message: str, _author: Author | None) -> str:
        self.committed.append(message)
        return "a-landed"

    def move(self, old: str, new: str, _why: str) -> Move:
        self.before_move()
        move = self.moves.pop(0)
        self.at = new if move.how == "moved" else f"{old}'"
        return move

    def repair(self) -> str:
        self.repaired += 1
        return ""


def spread(merge: Callable[[Any], Any], jobs: list[Any]) -> list[Any]:
    return [merge(job) for job in jobs]


@pytest.fixture
def world() -> World:
    """T-1 is taken by ada."""
    world = World()
    tasks.add(world.store, ANNA, TaskDraft("", "Login"))
    tasks.take(world.store, world.liveness, ADA, number=1)
    return world


@pytest.fixture
def ground() -> Ground:
    return Ground()


def land(world: World, ground: Ground, branch: str = "ada", task: int = 1, caller: Caller = ADA) -> Result:
    return landing.land(world.store, caller, ground, spread, task=task, branch=branch)


def row(world: World) -> Task:
    found = world.store.read(lambda view: view.get(TASK, (1,)))
    assert found is not None
    return found


def test_a_taken_task_is_handed_over_landed_and_merged(world: World, ground: Ground) -> None:
    assert isinstance(land(world, ground), Landed)
    kinds = [kind for kind, _ in world.events() if kind.startswith("Task")]
    assert kinds[-3:] == ["TaskHandedOver", "TaskNoted", "TaskMerged"]
    assert ground.committed == ["Land T-1: Login\n\nTask: T-1\nAgent: ada\n"]
    assert world.findings() == []


def test_what_a_killed_landing_left_is_repaired_first(world: World, ground: Ground) -> None:
    land(world, ground)
    assert ground.repaired == 1


def test_main_that_moved_is_built_upon(world: World, ground: Ground) -> None:
    ground.moves = [Move("stale"), Move("stale"), Move("moved")]
    assert isinstance(land(world, ground), Landed)
    assert len(ground.committed) == 3


def test_what_is_in_a_persons_way_leaves_the_task_handed_over(world: World, ground: Ground) -> None:
    ground.moves = [Move("blocked", "changes overlap", ["f"])]
    result = land(world, ground)
    assert isinstance(result, NeedsYou)
    assert (result.why, result.files) == ("changes overlap", ["f"])
    assert row(world).state == "handed over"
    ground.moves = [Move("moved")]
    assert isinstance(land(world, ground, branch=""), Landed)
    assert row(world).state == "merged"


def test_a_conflict_gives_the_task_back_with_the_reason(world: World, ground: Ground) -> None:
    ground.trees.conflict = "logo.png"
    result = land(world, ground)
    assert isinstance(result, SentBack)
    assert row(world).state == "open"
    assert "logo.png" in row(world).reason
    assert ground.at == "m0"


def test_what_the_agent_may_not_change_is_sent_back(world: World, ground: Ground) -> None:
    asked: list[str] = []

    def judge(agent: str, paths: Sequence[str]) -> list[Finding]:
        asked.append(agent)
        return [Finding("logo.png", lock_first("file:logo.png"))]

    result = landing.land(world.store, ADA, ground, spread, task=1, branch="ada", judge=judge)
    assert isinstance(result, SentBack)
    assert asked == ["ada"]
    assert result.why == (
        "it changes what ada may not change: logo.png: file:logo.png is shared by locking; you do not hold it"
    )
    assert (row(world).state, row(world).reason, ground.at) == ("open", result.why, "m0")


def test_a_task_that_was_cancelled_meanwhile_keeps_its_end(world: World, ground: Ground) -> None:
    ground.before_move = lambda: tasks.cancel(world.store, ANNA, 1, "no longer")
    assert isinstance(land(world, ground), Landed)
    assert row(world).state == "cancelled"
    assert world.findings() == []


def test_a_later_attempt_is_not_ended_by_an_earlier_one(world: World, ground: Ground) -> None:
    def again() -> None:
        tasks.reopen(world.store, ANNA, 1, "once more")
        tasks.take(world.store, world.liveness, Caller("ben"), number=1)
        tasks.finish(world.store, Caller("ben"), 1, branch="old")

    ground.before_move = again
    land(world, ground)
    assert (row(world).state, row(world).agent) == ("handed over", "ben")


def test_claims_for_the_task_end_with_it(world: World, ground: Ground) -> None:
    for text, task in (("a", 1), ("b", 0)):
        request = Request("ada", "main", EXCLUSIVE, [parse_resource(text)], ttl_ms=HOUR_MS, task=task)
        claims.ask(world.store, world.liveness, ADA, request)
    land(world, ground)
    assert (world.holders("a"), world.holders("b")) == ([], ["ada"])


def test_settling_ends_what_is_on_main_and_nothing_else(world: World, ground: Ground) -> None:
    tasks.finish(world.store, ADA, 1, branch="ada")
    assert landing.settle(world.store, ANNA, ground) == []
    ground.at = "a-landed"
    assert landing.settle(world.store, ANNA, ground) == ["T-1"]
    assert landing.settle(world.store, ANNA, ground) == []
    assert [kind for kind, _ in world.events("TaskMerged")] == ["TaskMerged"]


def test_a_preview_changes_nothing(world: World, ground: Ground) -> None:
    result = landing.preview(world.store, ground, spread, task=1, branch="ada")
    assert isinstance(result, Landed)
    assert (ground.at, row(world).state) == ("m0", "taken")


@pytest.mark.parametrize(
    ("branch", "code"),
    [
        ("nowhere", "branch.unknown"),
        ("main", "land.main"),
        ("old", "land.nothing"),
        ("far", "land.unrelated"),
    ],
)
def test_a_branch_that_cannot_land_is_refused(world: World, ground: Ground, branch: str, code: str) -> None:
    with refused(code):
        land(world, ground, branch)
    assert row(world).state == "taken"


def test_a_main_without_a_commit_is_refused(world: World, ground: Ground) -> None:
    ground.at = ""
    with refused("land.unborn"):
        land(world, ground)
