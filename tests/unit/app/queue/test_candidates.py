"""The queue as people meet it: order, reviews, holds, what is in the way, what fails and why."""

from __future__ import annotations

import pytest

from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.app.queue import candidates as queue
from lineclear.core.queue.candidates import HELD, LANDED, SENT_BACK, STOPPED, WAITING
from lineclear.core.queue.checks import Check
from lineclear.core.tasks.lists import TaskDraft
from tests.queueing import PAT, Scene
from tests.world import refused

ANN, BOB = Caller("ann"), Caller("bob")


def passes(_tree: frozenset[str]) -> bool:
    return False


# -- order ----------------------------------------------------------------------------------------


def test_priority_comes_before_age_and_dependencies_before_both() -> None:
    scene = Scene(passes)
    scene.submit("old", priority=5)
    first = scene.submit("base", priority=9)
    scene.submit("urgent", priority=1, after=[first])
    scene.run()
    assert scene.git.at == "main+old+base+urgent"


def test_a_person_can_put_one_first_but_not_before_what_it_builds_on() -> None:
    scene = Scene(passes)
    a, b = scene.submit("a"), scene.submit("b")
    c = scene.submit("c", after=[b])
    queue.move(scene.store, PAT, b, before=a)
    with refused("queue.order"):
        queue.move(scene.store, PAT, c, before=b)
    with refused("person.only"):
        queue.move(scene.store, ANN, a)
    scene.run()
    assert scene.git.at == "main+b+a+c"


def test_a_task_waits_for_the_tasks_it_comes_after() -> None:
    scene = Scene(passes)
    for title in ("first", "second"):
        tasks.add(scene.store, PAT, TaskDraft("", title))
    for number, agent in ((1, ANN), (2, BOB)):
        tasks.take(scene.store, scene.world.liveness, agent, number=number)
    second = queue.submit(scene.store, BOB, queue.SubmittedBranch("second", "s@1", "main"), task=2)
    tasks.edit(scene.store, PAT, 2, {}, after=["T-1"])
    scene.run()
    assert scene.row("second").state == WAITING
    queue.submit(scene.store, ANN, queue.SubmittedBranch("first", "f@1", "main"), task=1)
    scene.run()
    assert second["state"] == WAITING
    assert scene.git.at == "main+first+second"


# -- reviews, holds, drops ------------------------------------------------------------------------


def test_without_a_review_nothing_lands_where_one_is_asked_for() -> None:
    scene = Scene(passes, review="person")
    number = scene.submit("work")
    scene.run()
    assert scene.row("work").state == WAITING
    with refused("person.only"):
        queue.review(scene.store, ANN, number, is_good=True)
    queue.review(scene.store, PAT, number, is_good=True)
    scene.run()
    assert scene.states() == {"work": LANDED}


def test_new_commits_ask_for_the_review_again() -> None:
    scene = Scene(passes, review="person")
    number = scene.submit("work")
    queue.review(scene.store, PAT, number, is_good=True)
    again = queue.submit(scene.store, PAT, queue.SubmittedBranch("work", "work@2", "main"))
    assert (again["candidate"], again["renewed"], again["review"]) == ("Q-1", True, "")
    scene.run()
    assert scene.row("work").state == WAITING
    with refused("queue.changed"):
        queue.review(scene.store, PAT, number, is_good=True, tip="work@1")


@pytest.mark.parametrize("author", ["ann", "ann/coder"])
def test_nobody_approves_the_work_of_their_own_family(author: str) -> None:
    scene = Scene(passes, review="agent")
    queue.submit(scene.store, ANN, queue.SubmittedBranch("work", "w@1", "main"), agent=author)
    for name in ("ann", "ann/coder", "ann/critic", "ann/coder/critic"):
        with refused("queue.own"):
            queue.review(scene.store, Caller(name), 1, is_good=True, by_agents=True)
    queue.review(scene.store, BOB, 1, is_good=True, by_agents=True)
    scene.run()
    assert scene.states() == {"work": LANDED}


def test_a_rejected_candidate_goes_back_with_the_note() -> None:
    scene = Scene(passes, review="person")
    tasks.add(scene.store, PAT, TaskDraft("", "work"))
    tasks.take(scene.store, scene.world.liveness, ANN, number=1)
    queue.submit(scene.store, ANN, queue.SubmittedBranch("work", "w@1", "main"), task=1)
    queue.review(scene.store, PAT, 1, is_good=False, note="no tests")
    row = scene.row("work")
    assert (row.state, row.kind, row.reason) == (SENT_BACK, "review", "pat rejected it: no tests")
    with refused("queue.ended"):
        queue.hold(scene.store, PAT, 1, "")


def test_what_is_held_waits_and_others_pass_it() -> None:
    scene = Scene(passes)
    number = scene.submit("slow")
    scene.submit("quick")
    queue.hold(scene.store, PAT, number, "not today")
    scene.run()
    assert scene.states() == {"slow": HELD, "quick": LANDED}
    queue.retry(scene.store, PAT, number)
    scene.run()
    assert scene.states() == {"slow": LANDED, "quick": LANDED}


def test_held_while_it_is_checked_it_does_not_land() -> None:
    scene = Scene(passes)
    number = scene.submit("work")
    scene.checks.on_wait = lambda: queue.hold(scene.store, PAT, number, "wait")  # type: ignore[assignment]
    scene.run()
    assert scene.states() == {"work": HELD}
    assert scene.git.at == "main"


def test_paused_nothing_lands_and_resumed_it_does() -> None:
    scene = Scene(passes)
    scene.submit("work")
    queue.pause(scene.store, PAT, "release day")
    scene.run()
    assert scene.git.at == "main"
    queue.resume(scene.store, PAT)
    scene.run()
    assert scene.git.at == "main+work"


def test_dropped_it_is_gone_and_its_task_goes_on() -> None:
    scene = Scene(passes)
    tasks.add(scene.store, PAT, TaskDraft("", "work"))
    tasks.take(scene.store, scene.world.liveness, ANN, number=1)
    queue.submit(scene.store, ANN, queue.SubmittedBranch("work", "w@1", "main"), task=1)
    with refused("person.only"):
        queue.drop(scene.store, BOB, 1, "")
    queue.drop(scene.store, ANN, 1, "wrong way")
    scene.run()
    assert scene.states() == {"work": "dropped"}
    assert scene.store.read(lambda view: tasks.show(view, 1))["state"] == "open"


def test_one_branch_waits_once() -> None:
    scene = Scene(passes)
    tasks.add(scene.store, PAT, TaskDraft("", "work"))
    tasks.take(scene.store, scene.world.liveness, ANN, number=1)
    scene.submit("work")
    with refused("queue.twice"):
        queue.submit(scene.store, ANN, queue.SubmittedBranch("work", "w@1", "main"), task=1)
    # Nothing of the refused one is left: the task is still taken.
    assert scene.store.read(lambda view: tasks.show(view, 1))["state"] == "taken"


# -- what is in the way ---------------------------------------------------------------------------


def test_only_what_is_in_a_persons_way_waits_for_them() -> None:
    scene = Scene(passes)
    scene.submit("mine")
    scene.submit("other")
    scene.git.in_the_way = ["mine.py"]
    scene.run()
    assert scene.states() == {"mine": STOPPED, "other": LANDED}
    assert [news.kind for news in scene.news] == ["needs you", "landed"]
    scene.git.in_the_way = []
    scene.run()
    assert scene.states() == {"mine": LANDED, "other": LANDED}


def test_main_moved_by_somebody_else_is_built_upon_never_forced() -> None:
    scene = Scene(passes)
    scene.submit("work")
    scene.git.on_move = lambda when: setattr(scene.git, "at", "main+person") if when == "before" else None
    runner = scene.runner()
    for _ in range(3):
        runner.step()
        scene.checks.wait(0)
    scene.git.on_move = lambda _when: None
    scene.run()
    assert scene.git.at == "main+person+work"
    assert scene.checks.passed >= {"main+person+work"}


# -- what fails -----------------------------------------------------------------------------------


def test_when_main_itself_fails_nobody_is_blamed() -> None:
    scene = Scene(lambda tree: "fix" not in tree)
    scene.submit("work")
    scene.run()
    row = scene.row("work")
    assert (row.state, row.reason) == (STOPPED, "main itself fails the check, with or without it")
    scene.submit("fix")
    scene.run()
    assert scene.states() == {"work": LANDED, "fix": LANDED}


def test_what_builds_on_something_that_went_back_goes_back_too() -> None:
    scene = Scene(lambda tree: "bad" in tree)
    first = scene.submit("bad")
    scene.submit("upon", after=[first])
    scene.run()
    assert scene.states() == {"bad": SENT_BACK, "upon": SENT_BACK}
    assert scene.row("upon").reason == "it builds on Q-1 (bad), which is sent back"


def test_who_conflicts_with_something_bad_lands_all_the_same() -> None:
    scene = Scene(lambda tree: "bad" in tree, conflicts=[("bad", "good")])
    scene.submit("bad")
    scene.submit("good")
    scene.run()
    assert scene.states() == {"bad": SENT_BACK, "good": LANDED}


def test_a_later_fix_lets_the_whole_stack_land() -> None:
    """What passed counts, whatever is known of the levels below it."""
    scene = Scene(lambda tree: "half" in tree and "rest" not in tree)
    scene.submit("half")
    scene.submit("rest")
    scene.run()
    assert scene.git.at == "main+half+rest"
    assert scene.runs == 1


def test_each_round_ends_in_a_reason_until_the_task_has_failed() -> None:
    scene = Scene(lambda tree: "bad" in tree)
    tasks.add(scene.store, PAT, TaskDraft("", "bad"), attempts_max=2)
    for round_ in (1, 2):
        tasks.take(scene.store, scene.world.liveness, ANN, number=1)
        queue.submit(scene.store, ANN, queue.SubmittedBranch("bad", f"bad@{round_}", "main"), task=1)
        scene.run()
    shown = scene.store.read(lambda view: tasks.show(view, 1))
    assert shown["state"] == "failed"
    assert "given up after 2 attempts" in shown["reason"]


def test_with_more_places_levels_are_checked_at_once() -> None:
    scene = Scene(passes, places=4)
    for name in "abcdefgh":
        scene.submit(name)
    runner = scene.runner()
    runner.step()
    assert [tree.count("+") for tree in scene.checks.checked] == [8, 4, 2, 6]
    runner.run_once()
    assert len(scene.landed()) == 8


def test_flakes_and_times_are_remembered() -> None:
    scene = Scene(passes)
    scene.submit("a")
    scene.run()
    found = scene.store.read(queue.check_records)
    assert found == [
        {"command": "make test", "runs": 1, "failed": 0, "flaky": 0, "flake_rate": 0.0, "mean_ms": 10,
         "last_ms": 10}
    ]  # fmt: skip
    assert scene.store.read(lambda view: queue.eta_ms(view, ["make test"])) == 10
    assert scene.store.read(lambda view: queue.eta_ms(view, ["other"])) == -1


def test_a_place_that_cannot_be_made_ready_is_nobodys_fault() -> None:
    """The network is gone: what passed on main before would fail just as well now."""
    scene = Scene(passes)
    scene.submit("first")
    scene.run()
    scene.checks.set_up_fails = True
    scene.submit("work")
    scene.run()
    row = scene.row("work")
    assert (row.state, row.reason) == (STOPPED, "main itself fails the check, with or without it")
    scene.checks.set_up_fails = False
    scene.run()
    assert scene.row("work").state == LANDED


def test_what_was_checked_by_other_commands_than_mains_is_checked_again() -> None:
    """The first candidate brings a new check; the second was being checked by the old one."""
    scene = Scene(passes, places=2)
    scene.submit("stricter")
    scene.submit("work")

    def prepare(main: str) -> bool:
        if main.endswith("stricter"):
            scene.checks.checks = [Check("make strict", timeout_ms=1_000)]
        return main.endswith("stricter")

    scene.checks.on_prepare = prepare
    runner = scene.runner()
    runner.step()
    assert scene.checks.checked == ["main+stricter+work", "main+stricter"]
    scene.checks.end("main+stricter")
    runner.run_once()
    assert scene.git.at == "main+stricter+work"
    assert scene.checks.checked[2:] == ["main+stricter+work"]
    commands = [record["command"] for record in scene.store.read(queue.check_records)]
    assert commands == ["make strict", "make test"]
