"""What people see of the queue: who waits for what, how long, and every decision about a candidate."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.app.queue import candidates
from lineclear.app.queue import overview as queue_overview
from lineclear.core.log.tables import Candidate
from lineclear.core.tasks.lists import TaskDraft
from tests.queueing import PAT, Scene
from tests.world import MINUTE_MS

GATE = ["make test"]


@pytest.fixture
def scene() -> Scene:
    return Scene(lambda names: "bad" in names)


def overview(scene: Scene, **more: Any) -> dict[str, Any]:
    return scene.store.read(
        lambda view: queue_overview.overview(view, **{"review": "none", "commands": GATE, **more})
    )


def waits(scene: Scene, **more: Any) -> dict[str, str]:
    return {row["candidate"]: row["waits_for"] for row in overview(scene, **more)["candidates"]}


def explain(scene: Scene, number: int, review: str = "none") -> dict[str, Any]:
    return scene.store.read(lambda view: queue_overview.explain(view, number, review))


def below(scene: Scene, row: Candidate) -> str:
    return scene.store.read(lambda view: queue_overview.below_of(view, row))


def test_the_list_is_in_landing_order_with_places(scene: Scene) -> None:
    scene.submit("late", priority=9)
    scene.submit("soon", priority=1)
    rows = overview(scene)["candidates"]
    assert [(row["position"], row["branch"]) for row in rows] == [(1, "soon"), (2, "late")]


def test_what_holds_a_candidate_up_is_named(scene: Scene) -> None:
    for branch in ("held", "first"):
        scene.submit(branch)
    scene.submit("second", after=[2])
    candidates.hold(scene.store, PAT, 1, "the release")
    assert waits(scene) == {"Q-1": "held: the release", "Q-2": "", "Q-3": "waits for Q-2"}
    assert waits(scene, review="person") == {
        "Q-1": "held: the release",
        "Q-2": "waits for a person's review",
        "Q-3": "waits for a person's review, Q-2",
    }
    candidates.review(scene.store, PAT, 2, is_good=True)
    assert waits(scene, review="agent")["Q-2"] == ""


def test_a_task_that_its_own_task_waits_for_is_named(scene: Scene) -> None:
    tasks.add(scene.store, PAT, TaskDraft("1", "first"))
    tasks.add(scene.store, PAT, TaskDraft("2", "second"))
    tasks.take(scene.store, scene.world.liveness, Caller("ada"), number=2)
    tasks.edit(scene.store, PAT, 2, {}, after=["T-1"])
    scene.submit("ada", task=2)
    assert waits(scene)["Q-1"] == "waits for T-1"


def test_what_ended_comes_behind_the_newest_first(scene: Scene) -> None:
    for branch in ("one", "bad"):
        scene.submit(branch)
    scene.run()
    scene.world.clock.advance(MINUTE_MS)
    scene.submit("two")
    scene.run()
    scene.submit("waits")
    found = overview(scene, ended=2)
    assert [row["branch"] for row in found["candidates"]] == ["waits"]
    assert next(row["branch"] for row in found["ended"]) == "two"
    assert len(found["ended"]) == 2
    assert overview(scene)["ended"] == []


def test_the_time_that_is_left_is_counted_in_checks_that_were_seen(scene: Scene) -> None:
    scene.submit("before")
    assert [row["eta_ms"] for row in overview(scene)["candidates"]] == [-1]
    scene.run()
    for branch in ("one", "two", "three"):
        scene.submit(branch)
    assert [row["eta_ms"] for row in overview(scene, at_once=2)["candidates"]] == [10, 10, 20]
    candidates.hold(scene.store, PAT, 2, "")
    assert [row["eta_ms"] for row in overview(scene, at_once=2)["candidates"]] == [-1, 10, 20]
    candidates.pause(scene.store, PAT, "lunch")
    found = overview(scene, at_once=2)
    assert (found["queue"], found["by"], found["why"]) == ("paused", "pat", "lunch")
    assert [row["eta_ms"] for row in found["candidates"]] == [-1, -1, -1]


def test_every_decision_about_a_candidate_is_in_its_history(scene: Scene) -> None:
    for branch in ("good", "bad"):
        scene.submit(branch)
    candidates.hold(scene.store, PAT, 2, "first the other")
    candidates.retry(scene.store, PAT, 2)
    scene.run()
    found = explain(scene, 2)
    kinds = [item["event"] for item in found["history"]]
    assert kinds[:3] == ["CandidateSubmitted", "CandidateHeld", "CandidateFreed"]
    assert kinds[-1] == "CandidateSentBack"
    assert next(item["ids"] for item in found["history"] if item["event"] == "CheckEnded") == [1, 2]
    assert found["history"][-1]["kind"] == "check"
    positions = [item["position"] for item in found["history"]]
    assert positions == sorted(positions)


def test_checks_of_others_are_not_in_it(scene: Scene) -> None:
    scene.submit("one")
    scene.run()
    scene.submit("two")
    scene.run()
    ids = [item["ids"] for item in explain(scene, 1)["history"] if "ids" in item]
    assert ids == [[1], [1]]


def test_a_review_is_waited_for_from_the_last_new_commit_on(scene: Scene) -> None:
    scene.submit("ada")
    scene.world.clock.advance(5 * MINUTE_MS)
    assert explain(scene, 1, "person")["review_waited_ms"] == 5 * MINUTE_MS
    assert explain(scene, 1, "none")["review_waited_ms"] == -1
    candidates.submit(scene.store, PAT, candidates.SubmittedBranch("ada", "ada@2", "main"))
    scene.world.clock.advance(2 * MINUTE_MS)
    candidates.review(scene.store, PAT, 1, is_good=True)
    scene.world.clock.advance(2 * MINUTE_MS)
    assert explain(scene, 1, "person")["review_waited_ms"] == 2 * MINUTE_MS


def test_a_landing_knows_what_it_was_put_on(scene: Scene) -> None:
    for branch in ("one", "two"):
        scene.submit(branch)
    scene.run()
    assert [below(scene, scene.row(branch)) for branch in ("one", "two")] == ["main", "main+one"]


def test_what_was_on_main_already_was_put_on_nothing(scene: Scene) -> None:
    scene.git.at = "main+one"
    scene.submit("one")
    scene.run()
    assert scene.row("one").state == "landed"
    assert below(scene, scene.row("one")) == ""


def test_the_newest_landing_of_an_agent_or_of_anybody(scene: Scene) -> None:
    for branch, agent in (("one", "ada"), ("two", "ben")):
        candidates.submit(
            scene.store, PAT, candidates.SubmittedBranch(branch, f"{branch}@1", scene.git.at), agent=agent
        )
        scene.run()
        scene.world.clock.advance(MINUTE_MS)

    def newest(agent: str, *skip: int) -> int:
        row = scene.store.read(lambda view: queue_overview.last_landed(view, agent, skip))
        return row.id if row is not None else 0

    assert (newest("ada"), newest("ben"), newest(""), newest("", 2), newest("ada", 1)) == (1, 2, 2, 1, 0)
