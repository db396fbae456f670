"""What the way through the queue does to a candidate's task: one end, the next attempt, or nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lineclear.app import claims, tasks
from lineclear.app.ports import Caller
from lineclear.app.queue import candidates
from lineclear.core.claims.granting import EXCLUSIVE, INTENT, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import TASK, Task
from lineclear.core.tasks.lists import TaskDraft
from tests.queueing import PAT, Scene
from tests.world import HOUR_MS, refused

ADA, BEN = Caller("ada"), Caller("ben")


@pytest.fixture
def scene() -> Scene:
    """T-1 is taken by ada."""
    scene = Scene(lambda names: "bad" in names)
    tasks.add(scene.store, PAT, TaskDraft("", "Login"))
    tasks.take(scene.store, scene.world.liveness, ADA, number=1)
    return scene


def submit(scene: Scene, branch: str = "ada", caller: Caller = ADA) -> None:
    candidates.submit(scene.store, caller, candidates.SubmittedBranch(branch, f"{branch}@1", "main"), task=1)


def row(scene: Scene) -> Task:
    found = scene.store.read(lambda view: view.get(TASK, (1,)))
    assert found is not None
    return found


def meanwhile(scene: Scene, act: Callable[[], object]) -> None:
    """Between the landing's beginning and main's move."""

    def on_move(when: str) -> None:
        if when == "before":
            act()

    scene.git.on_move = on_move


def test_a_taken_task_is_handed_over_landed_and_merged(scene: Scene) -> None:
    submit(scene)
    assert (row(scene).state, row(scene).branch) == ("handed over", "ada")
    scene.run()
    kinds = [kind for kind, _ in scene.world.events() if kind.startswith("Task")]
    assert kinds[-3:] == ["TaskHandedOver", "TaskNoted", "TaskMerged"]
    assert scene.world.findings() == []


def test_only_its_holder_or_a_person_hands_it_over(scene: Scene) -> None:
    with refused("task.not_yours"):
        submit(scene, caller=BEN)
    assert row(scene).state == "taken"
    submit(scene, caller=PAT)
    assert row(scene).state == "handed over"


def test_what_is_in_a_persons_way_leaves_the_task_handed_over(scene: Scene) -> None:
    scene.git.in_the_way = ["ada.py"]
    submit(scene)
    scene.run()
    assert row(scene).state == "handed over"
    scene.git.in_the_way = []
    submit(scene)
    scene.run()
    assert row(scene).state == "merged"


def test_what_fails_gives_the_task_back_with_the_reason(scene: Scene) -> None:
    submit(scene, "bad")
    scene.run()
    assert (row(scene).state, row(scene).agent) == ("open", "")
    assert "it fails the check, by itself" in row(scene).reason


def test_a_task_that_was_cancelled_meanwhile_keeps_its_end(scene: Scene) -> None:
    submit(scene)
    meanwhile(scene, lambda: tasks.cancel(scene.store, PAT, 1, "no longer"))
    scene.run()
    assert (row(scene).state, scene.row("ada").state) == ("cancelled", "landed")
    assert scene.world.findings() == []


def test_a_later_attempt_is_not_ended_by_an_earlier_one(scene: Scene) -> None:
    def again() -> None:
        tasks.reopen(scene.store, PAT, 1, "once more")
        tasks.take(scene.store, scene.world.liveness, BEN, number=1)
        tasks.finish(scene.store, BEN, 1, branch="other")

    submit(scene)
    meanwhile(scene, again)
    scene.run()
    assert (row(scene).state, row(scene).agent) == ("handed over", "ben")


def test_what_was_held_for_the_task_is_free_when_it_landed(scene: Scene) -> None:
    for text, task in (("a", 1), ("b", 0)):
        request = Request("ada", "main", EXCLUSIVE, [parse_resource(text)], ttl_ms=HOUR_MS, task=task)
        claims.ask(scene.store, scene.world.liveness, ADA, request)
    submit(scene)
    scene.run()
    held = scene.store.read(lambda view: claims.holders(view, parse_resource("./")))
    assert [claim.resource for claim in held] == ["file:b"]


def announce(scene: Scene, agent: str, text: str, *, mode: str = INTENT, tree: str = "desk") -> None:
    request = Request(agent, tree, mode, [parse_resource(text)], ttl_ms=HOUR_MS)
    claims.ask(scene.store, scene.world.liveness, Caller(agent, tree=tree), request)


def held(scene: Scene) -> list[tuple[str, str]]:
    found = scene.store.read(lambda view: claims.holders(view, parse_resource("./")))
    return sorted((claim.agent, claim.resource) for claim in found)


def test_what_an_author_announced_of_the_files_that_landed_is_over(scene: Scene) -> None:
    for agent, text in (
        ("ada", "ada.py"), ("ada", "symbol:ada.py#Login"), ("ada/sub", "ada.py"), ("ada", "later.py"),
        ("ben", "ada.py"), ("adam", "ada.py"),
    ):  # fmt: skip
        announce(scene, agent, text)
    candidates.submit(scene.store, ADA, candidates.SubmittedBranch("ada", "ada@1", "main"), agent="ada")
    assert len(held(scene)) == 6
    scene.run()
    assert scene.row("ada").state == "landed"
    assert held(scene) == [("ada", "file:later.py"), ("adam", "file:ada.py"), ("ben", "file:ada.py")]
    assert scene.world.findings() == []


def test_a_lock_and_what_is_announced_in_another_worktree_stay(scene: Scene) -> None:
    made = Draft(
        "WorktreeMade", "worktree:desk", name="desk", agent="ada", task=0, path="/w/desk", branch="ada",
        base="main", port_first=0, port_count=0, origin="ours",
    )  # fmt: skip
    scene.store.transact(PAT, lambda tx: tx.append(made))
    announce(scene, "ada", "ada.py", tree="other")
    announce(scene, "ada/sub", "ada.py", mode=EXCLUSIVE)
    candidates.submit(scene.store, ADA, candidates.SubmittedBranch("ada", "ada@1", "main"), agent="ada")
    scene.run()
    assert held(scene) == [("ada", "file:ada.py"), ("ada/sub", "file:ada.py")]


def test_nothing_of_it_is_over_when_the_candidate_goes_back(scene: Scene) -> None:
    announce(scene, "ada", "bad.py")
    candidates.submit(scene.store, ADA, candidates.SubmittedBranch("bad", "bad@1", "main"), agent="ada")
    scene.run()
    assert scene.row("bad").state == "sent back"
    assert held(scene) == [("ada", "file:bad.py")]


def test_a_handed_over_task_lands_with_its_own_branch_only(scene: Scene) -> None:
    tasks.finish(scene.store, ADA, 1, branch="ada")
    with refused("land.other_branch"):
        submit(scene, "other", PAT)
    submit(scene, "ada", PAT)
    scene.run()
    assert row(scene).state == "merged"


def test_a_task_that_has_ended_cannot_be_submitted(scene: Scene) -> None:
    tasks.cancel(scene.store, PAT, 1, "no longer")
    with refused("task.state"):
        submit(scene)
