"""Use cases around tasks: order by dependencies, who gets which, leases and attempts, one end, repeats."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.app import task_lists, tasks
from lineclear.app.agents.dead_agents import free_dead_agents
from lineclear.app.agents.lease_ends import end_leases
from lineclear.app.ports import Caller
from lineclear.app.radar.findings import record
from lineclear.app.runs import records
from lineclear.core.claims.granting import INTENT
from lineclear.core.log.tables import TASK, Task
from lineclear.core.radar.findings import Finding
from lineclear.core.tasks.lists import TaskDraft
from lineclear.core.tasks.states import ACCEPTED, CANCELLED, FAILED, MERGED, OPEN, TAKEN
from lineclear.core.words.refusals import Refusal
from lineclear.core.words.row import HELD, NOT_FOUND, STALE
from tests.world import MINUTE_MS, World, refused

ANN, BOB, PAT = Caller("ann"), Caller("bob"), Caller("pat", is_person=True)


@pytest.fixture
def world() -> World:
    return World()


def add(world: World, title: str, *after: int, **fields: Any) -> int:
    attempts_max = fields.pop("attempts_max", tasks.DEFAULT_ATTEMPTS)
    draft = TaskDraft("1", title, after=[f"T-{number}" for number in after], **fields)
    shown = tasks.add(world.store, PAT, draft, attempts_max=attempts_max)["task"]["id"]
    return int(shown.removeprefix("T-"))


def take(world: World, caller: Caller, number: int = 0, **wanted: Any) -> dict[str, Any]:
    return tasks.take(world.store, world.liveness, caller, number=number, **wanted)


def taken_id(world: World, caller: Caller, **wanted: Any) -> str:
    shown: str = take(world, caller, **wanted)["task"]["id"]
    return shown


def do(world: World, caller: Caller, number: int) -> None:
    take(world, caller, number)
    tasks.finish(world.store, caller, number)


def row(world: World, number: int) -> Task:
    task = world.store.read(lambda view: view.get(TASK, (number,)))
    assert task is not None
    return task


def ready(world: World) -> list[str]:
    return [shown["id"] for shown in world.store.read(tasks.list_ready)]


# -- adding -----------------------------------------------------------------------------------


def test_a_task_is_kept_as_it_was_given(world: World) -> None:
    draft = TaskDraft(
        "1",
        "login form",
        body="with a password",
        priority=2,
        scope=["./src//auth/", "docs/a.md"],
        produces=["./dist//a*.js", "dist/", "dist"],
        labels=["ui"],
        needs=["codex"],
    )
    answer = tasks.add(world.store, PAT, draft, attempts_max=5)
    assert answer == {
        "task": {
            "id": "T-1", "title": "login form", "state": OPEN, "priority": 2, "waits_for": 0, "agent": "",
            "scope": ["file:src/auth/", "file:docs/a.md"], "labels": ["ui"], "body": "with a password",
            "produces": ["dist/a*.js", "dist"],
            "needs": ["codex"], "after": [], "unblocks": [], "attempt": 0, "attempts_max": 5, "branch": "",
            "reason": "", "same_as": "",
        },
        "similar": [],
    }  # fmt: skip


def test_a_shortlist_of_tasks_with_the_same_words_is_shown(world: World) -> None:
    for title in ("login form with password", "colours of buttons", "password reset form"):
        add(world, title)
    answer = tasks.add(world.store, PAT, TaskDraft("1", "a login form with a password field"))
    assert [other["id"] for other in answer["similar"]] == ["T-1", "T-3"]


@pytest.mark.parametrize(
    ("fields", "attempts_max"),
    [
        ({"title": ""}, 3),
        ({"title": "   "}, 3),
        ({"title": "two\nlines"}, 3),
        ({"title": "x" * 201}, 3),
        ({"title": "\udcff"}, 3),
        ({"title": "t", "body": "x" * 20_001}, 3),
        ({"title": "t", "body": "a\0b"}, 3),
        ({"title": "t", "priority": 10}, 3),
        ({"title": "t", "priority": -1}, 3),
        ({"title": "t"}, 0),
        ({"title": "t"}, 101),
    ],
)
def test_what_no_task_can_be_is_refused(world: World, fields: dict[str, Any], attempts_max: int) -> None:
    with refused("input.bad"):
        tasks.add(world.store, PAT, TaskDraft("1", **fields), attempts_max=attempts_max)
    with refused("input.bad"):
        task_lists.import_all(world.store, PAT, [TaskDraft("1", **fields)], attempts_max=attempts_max)
    assert world.events() == []


def test_a_scope_that_is_no_resource_is_refused_before_others_meet_it(world: World) -> None:
    with refused("resource.bad"):
        add(world, "outside", scope=["../other"])
    number = add(world, "inside", scope=["src/"])
    with refused("resource.bad"):
        tasks.edit(world.store, PAT, number, {"scope": ["../other"]})
    assert taken_id(world, ANN) == "T-1"


@pytest.mark.parametrize("path", ["../out", "/etc/hosts", "", ".", "a/..", ".git/config", "a/.GIT", "a\nb"])
def test_what_is_no_path_of_the_repository_cannot_be_produced(world: World, path: str) -> None:
    number = add(world, "first")
    for ask in (
        lambda: add(world, "second", produces=[path]),
        lambda: tasks.edit(world.store, PAT, number, {"produces": ["a", path]}),
    ):
        with pytest.raises(Refusal) as caught:
            ask()
        assert caught.value.code in ("resource.bad", "input.bad")
    assert world.store.read(lambda view: tasks.show(view, number))["produces"] == []


def test_a_dependency_that_does_not_exist_is_refused(world: World) -> None:
    with refused("task.unknown"):
        add(world, "second", 7)
    with refused("input.bad"):
        tasks.add(world.store, PAT, TaskDraft("1", "second", after=["first"]))


# -- order ------------------------------------------------------------------------------------


def test_a_task_is_ready_when_everything_before_it_is_finished(world: World) -> None:
    first, second = add(world, "first"), add(world, "second")
    last = add(world, "last", first, second)
    assert (ready(world), row(world, last).unmet) == (["T-1", "T-2"], 2)
    do(world, ANN, first)
    assert row(world, last).unmet == 1
    with refused("task.not_ready") as caught:
        take(world, ANN, last)
    assert (caught.value.exit_code, caught.value.facts["waits_for"]) == (HELD, ["T-2"])
    take(world, BOB, second)
    tasks.finish(world.store, BOB, second, branch="bob/second")
    assert row(world, last).unmet == 1
    tasks.finish(world.store, PAT, second)
    assert (row(world, second).state, ready(world)) == (MERGED, ["T-3"])


@pytest.mark.parametrize("end", ["failed", "cancelled"])
def test_a_task_does_not_become_ready_by_the_failure_of_another(world: World, end: str) -> None:
    first = add(world, "first")
    last = add(world, "last", first)
    verb = tasks.fail if end == "failed" else tasks.cancel
    verb(world.store, PAT, first, "no")
    assert row(world, last).unmet == 1
    tasks.reopen(world.store, PAT, first, "yes")
    do(world, ANN, first)
    assert ready(world) == ["T-2"]


def test_a_dependency_on_finished_work_is_met_from_the_start(world: World) -> None:
    first = add(world, "first")
    do(world, ANN, first)
    assert row(world, add(world, "second", first)).unmet == 0


def test_ready_tasks_come_by_priority_then_by_age(world: World) -> None:
    for title, priority in (("c", 5), ("d", 5), ("b", 1), ("a", 0)):
        add(world, title, priority=priority)
    assert ready(world) == ["T-4", "T-3", "T-1", "T-2"]


def test_links_are_added_and_taken_away_and_counted_once(world: World) -> None:
    first, _, last = add(world, "a"), add(world, "b"), add(world, "c")
    answer = tasks.edit(world.store, PAT, last, {}, after=["T-1", "1", "#2"])
    assert (answer["task"]["after"], answer["task"]["waits_for"]) == (["T-1", "T-2"], 2)
    do(world, ANN, first)
    answer = tasks.edit(world.store, PAT, last, {}, after=["T-1"], not_after=["T-2", "T-2"])
    assert (answer["task"]["after"], answer["task"]["waits_for"]) == (["T-1"], 0)
    answer = tasks.edit(world.store, PAT, last, {}, not_after=["T-1"])
    assert (answer["task"]["after"], answer["task"]["waits_for"]) == ([], 0)
    assert world.findings() == []


@pytest.mark.parametrize(
    ("number", "after", "cycle"),
    [
        (1, "T-1", ["T-1", "T-1"]),
        (1, "T-2", ["T-1", "T-2", "T-1"]),
        (1, "T-3", ["T-1", "T-3", "T-2", "T-1"]),
    ],
)
def test_a_circle_of_dependencies_is_refused_and_named(
    world: World, number: int, after: str, cycle: list[str]
) -> None:
    first = add(world, "first")
    add(world, "third", add(world, "second", first))
    before = world.events()
    with refused("task.cycle") as caught:
        tasks.edit(world.store, PAT, number, {"title": "new"}, after=[after])
    assert caught.value.facts["cycle"] == cycle
    assert world.events() == before


def test_a_task_cannot_come_after_itself_when_it_is_added(world: World) -> None:
    with refused("task.unknown"):
        add(world, "first", 1)


# -- editing ----------------------------------------------------------------------------------


def test_texts_and_numbers_are_edited(world: World) -> None:
    number = add(world, "first", labels=["ui"])
    changes: dict[str, Any] = {
        "title": "new",
        "body": "more",
        "priority": 0,
        "scope": ["src"],
        "produces": ["b", "a/"],
        "labels": [],
        "needs": ["codex"],
        "attempts_max": 1,
    }
    shown = tasks.edit(world.store, BOB, number, changes)["task"]
    expected = changes | {"scope": ["file:src"], "produces": ["b", "a"]}
    assert {name: shown[name] for name in changes} == expected
    assert world.findings() == []


@pytest.mark.parametrize(
    "changes", [{"state": "merged"}, {"title": ""}, {"priority": 11}, {"attempts_max": 0}, {"body": "\udcff"}]
)
def test_what_cannot_be_edited_is_refused(world: World, changes: dict[str, Any]) -> None:
    number = add(world, "first")
    with refused("input.bad"):
        tasks.edit(world.store, PAT, number, changes)


def test_notes_are_added_and_shown_with_the_history(world: World) -> None:
    number = add(world, "first")
    take(world, ANN, number)
    tasks.note(world.store, ANN, number, "half done")
    shown = world.store.read(lambda view: tasks.show(view, number))["notes"]
    assert [(entry["kind"], entry["by"]) for entry in shown] == [("TaskTaken", "ann"), ("TaskNoted", "ann")]
    assert shown[1]["text"] == "half done"
    for text in ("", "x" * 4_001, "a\0b"):
        with refused("input.bad"):
            tasks.note(world.store, ANN, number, text)


@pytest.mark.parametrize("verb", [tasks.fail, tasks.cancel, tasks.reopen])
def test_reasons_are_bounded(world: World, verb: Any) -> None:
    number = add(world, "first")
    for text in ("x" * 4_001, "\ud800", "a\0b"):
        with refused("input.bad"):
            verb(world.store, PAT, number, text)


def test_an_unknown_task_is_not_found(world: World) -> None:
    with refused("task.unknown") as caught:
        take(world, ANN, 9)
    assert caught.value.exit_code == NOT_FOUND
    with refused("task.unknown"):
        world.store.read(lambda view: tasks.show(view, 9))


# -- who gets which ---------------------------------------------------------------------------


def test_next_is_the_first_ready_one(world: World) -> None:
    add(world, "later", priority=5)
    add(world, "sooner", priority=1)
    answer = take(world, ANN)
    assert (answer["task"]["id"], answer["crowded"]) == ("T-2", False)
    assert (answer["task"]["agent"], answer["task"]["attempt"], answer["task"]["state"]) == ("ann", 1, TAKEN)
    assert answer["task"]["until_at"] == "2026-01-01T12:30:00Z"


def test_next_prefers_a_scope_that_nobody_works_on(world: World) -> None:
    add(world, "login", scope=["src/auth/"])
    add(world, "logout", scope=["src/auth/logout.py"])
    add(world, "docs", scope=["docs/"])
    assert taken_id(world, ANN) == "T-1"
    assert taken_id(world, BOB) == "T-3"
    answer = take(world, BOB)
    assert (answer["task"]["id"], answer["crowded"]) == ("T-2", True)


def test_next_avoids_what_others_have_claimed_and_not_what_the_family_has(world: World) -> None:
    world.ask("cat", "src/a.py", mode=INTENT)
    add(world, "code", scope=["src/"])
    add(world, "docs", scope=["docs/"], priority=9)
    assert taken_id(world, ANN) == "T-2"
    assert taken_id(world, Caller("cat/one")) == "T-1"


def test_next_prefers_a_scope_in_which_the_radar_found_nothing(world: World) -> None:
    troubled = Finding(kind="conflict", agents=("bob", "cat"), files=("src/a[1].py",), interrupts=True)
    harmless = Finding(kind="same-symbol", agents=("bob", "cat"), files=("docs/b.md",))
    record(world.store, PAT, [troubled, harmless])
    add(world, "code", scope=["src/"])
    add(world, "docs", scope=["docs/"])
    add(world, "later", scope=["later/"], priority=9)
    assert [taken_id(world, ANN) for _ in range(3)] == ["T-2", "T-1", "T-3"]


def test_next_looks_further_than_the_first_few_for_a_scope_without_findings(world: World) -> None:
    record(
        world.store, PAT, [Finding(kind="conflict", agents=("bob", "cat"), files=("a.py",), interrupts=True)]
    )
    for number in range(tasks.FEW):
        add(world, f"part {number}", scope=["a.py"])
    last = add(world, "the last one", scope=["b.py"])
    assert taken_id(world, ANN) == f"T-{last}"


def test_next_gives_what_fits(world: World) -> None:
    add(world, "drawing", needs=["figma"])
    add(world, "for codex", needs=["codex"])
    add(world, "for bob", needs=["bob"])
    with refused("task.none") as caught:
        take(world, ANN)
    assert caught.value.facts["ready"] == 3
    assert taken_id(world, BOB) == "T-3"
    assert taken_id(world, Caller("cat", client="codex")) == "T-2"
    assert taken_id(world, ANN, skills=frozenset(("figma", "css"))) == "T-1"


def test_a_task_needs_all_that_it_names(world: World) -> None:
    add(world, "drawing", needs=["figma", "codex"])
    with refused("task.none"):
        take(world, ANN, skills=frozenset(("figma",)))
    assert taken_id(world, ANN, skills=frozenset(("figma", "codex"))) == "T-1"


def test_when_there_is_nothing_left_it_is_said_how_much_others_do(world: World) -> None:
    add(world, "first")
    take(world, ANN)
    with refused("task.none") as caught:
        take(world, BOB)
    assert (caught.value.facts["ready"], caught.value.facts["busy"]) == (0, 1)


def test_a_taken_task_is_refused_with_its_holder(world: World) -> None:
    number = add(world, "first")
    take(world, ANN, number)
    with refused("task.taken") as caught:
        take(world, BOB, number)
    assert (caught.value.exit_code, caught.value.facts["holder"]) == (HELD, "ann")


# -- leases and attempts ----------------------------------------------------------------------


def test_a_silent_holder_loses_the_task_to_the_next_attempt(world: World) -> None:
    number = add(world, "first")
    take(world, ANN, number, lease_ms=MINUTE_MS)
    world.clock.advance(MINUTE_MS - 1)
    with refused("task.taken"):
        take(world, BOB, number)
    world.clock.advance(1)
    assert take(world, BOB, number)["task"]["attempt"] == 2
    assert world.events("TaskReturned") == [("TaskReturned", {"id": 1, "why": "the lease of ann ran out"})]


def test_after_the_last_attempt_the_task_has_failed_for_good(world: World) -> None:
    number = add(world, "first", attempts_max=2)
    for caller in (ANN, BOB):
        take(world, caller, number, lease_ms=MINUTE_MS)
        world.clock.advance(MINUTE_MS)
    with refused("task.state"):
        take(world, ANN, number)
    task = row(world, number)
    assert (task.state, task.attempt) == (FAILED, 2)
    assert task.reason == "given up after 2 attempts, the last one: the lease of bob ran out"
    assert world.findings() == []


def test_a_lapsed_task_ends_also_when_nothing_else_can_be_taken(world: World) -> None:
    number = add(world, "first", attempts_max=1)
    take(world, ANN, number, lease_ms=MINUTE_MS)
    world.clock.advance(MINUTE_MS)
    with refused("task.none"):
        take(world, BOB)
    assert row(world, number).state == FAILED
    assert tasks.end_lapses(world.store, world.liveness, BOB) == 0


def test_the_task_of_a_dead_holder_comes_back_at_once(world: World) -> None:
    add(world, "first")
    take(world, Caller("ann", bond="agent-1"))
    world.liveness.dead.add("agent-1")
    assert taken_id(world, BOB) == "T-1"
    assert world.events("TaskReturned") == [("TaskReturned", {"id": 1, "why": "ann is gone"})]


def run_bond(number: int) -> str:
    return f"host/agent-run-{number}"


def begin_run(world: World, worker: Caller, number: int) -> None:
    start = records.Start(number, row(world, number).attempt, client="plain")
    records.begin(world.store, worker, start)


@pytest.mark.parametrize("way", ["the next taker", "doctor", "serve", "its lease"])
def test_a_task_that_was_taken_for_a_run_which_never_began_costs_no_attempt(world: World, way: str) -> None:
    number = add(world, "first", attempts_max=1)
    take(world, Caller("worker-1", bond=run_bond(1)), number, lease_ms=MINUTE_MS)
    if way == "its lease":
        world.clock.advance(MINUTE_MS)
    else:
        world.liveness.dead.add(run_bond(1))
    if way == "doctor":
        free_dead_agents(world.store, BOB, world.liveness)
    elif way == "serve":
        end_leases(world.store, world.liveness, BOB)
    # One attempt is all it has: the next agent gets it all the same.
    assert take(world, Caller("worker-2", bond=run_bond(2)), number)["task"]["attempt"] == 1
    assert world.events("TaskReturned", "TaskFailed") == []
    begin_run(world, Caller("worker-2", bond=run_bond(2)), number)
    world.liveness.dead.add(run_bond(2))
    free_dead_agents(world.store, BOB, world.liveness)
    assert row(world, number).state == FAILED  # that one was started
    assert world.findings() == []


def test_the_task_of_a_run_without_an_end_is_left_to_its_supervisor_until_its_lease_is_over(
    world: World,
) -> None:
    number, worker = add(world, "first"), Caller("worker-1", bond=run_bond(1))
    take(world, worker, number, lease_ms=MINUTE_MS)
    begin_run(world, worker, number)
    # Its client has ended, perhaps well, while its supervisor waited for the store or was started again.
    world.liveness.dead.add(run_bond(1))
    with refused("task.none"):
        take(world, BOB)
    assert row(world, number).agent == "worker-1"
    world.clock.advance(MINUTE_MS)
    assert taken_id(world, BOB) == "T-1"
    assert world.findings() == []


def test_giving_up_is_an_attempt_and_the_last_one_is_the_end(world: World) -> None:
    number = add(world, "first", attempts_max=2)
    take(world, ANN, number)
    tasks.fail(world.store, ANN, number, "does not build")
    assert (row(world, number).state, row(world, number).agent, row(world, number).reason) == (
        OPEN,
        "",
        "does not build",
    )
    take(world, BOB, number)
    tasks.fail(world.store, BOB, number, "still not")
    assert row(world, number).state == FAILED


def test_reopening_begins_to_count_attempts_anew(world: World) -> None:
    number = add(world, "first", attempts_max=1)
    take(world, ANN, number)
    tasks.fail(world.store, ANN, number, "no")
    tasks.reopen(world.store, BOB, number, "")
    assert (row(world, number).state, row(world, number).attempt, row(world, number).reason) == (OPEN, 0, "")
    assert take(world, BOB, number)["task"]["attempt"] == 1


def test_handed_over_work_that_is_sent_back_is_the_same_task_again(world: World) -> None:
    number = add(world, "first")
    take(world, ANN, number)
    tasks.finish(world.store, ANN, number, branch="ann/first")
    tasks.reopen(world.store, PAT, number, "tests fail")
    task = row(world, number)
    assert (task.state, task.attempt, task.reason, task.branch) == (OPEN, 1, "tests fail", "ann/first")
    assert take(world, BOB, number)["task"]["attempt"] == 2


# -- one end ----------------------------------------------------------------------------------


def test_done_by_a_holder_that_lost_the_task_is_refused(world: World) -> None:
    number = add(world, "first")
    take(world, ANN, number, lease_ms=MINUTE_MS)
    world.clock.advance(MINUTE_MS)
    take(world, BOB, number)
    with refused("task.not_yours") as caught:
        tasks.finish(world.store, ANN, number)
    assert caught.value.facts["holder"] == "bob"
    tasks.finish(world.store, BOB, number)
    with refused("task.state") as ended:
        tasks.finish(world.store, ANN, number)
    assert (ended.value.exit_code, row(world, number).agent) == (STALE, "bob")


def test_a_task_is_not_handed_over_with_a_branch_that_is_not_there(world: World) -> None:
    number = add(world, "first")
    take(world, ANN, number)
    with refused("branch.unknown") as caught:
        tasks.finish(world.store, ANN, number, branch="ann/frist", has_branch=lambda _: False)
    assert str(caught.value) == (
        'There is no branch "ann/frist" here.\n'
        "T-1 stays with you until you hand it over with a branch that exists.\n"
        "Next: run `git branch --list`."
    )
    assert row(world, number).state == TAKEN


def test_a_repeat_of_handing_over_is_answered_though_the_branch_has_gone(world: World) -> None:
    number = add(world, "first")
    take(world, ANN, number)
    keyed = Caller("ann", op="done-1")
    first = tasks.finish(world.store, keyed, number, branch="ann/first", has_branch=lambda _: True)
    again = tasks.finish(world.store, keyed, number, branch="ann/first", has_branch=lambda _: False)
    assert (again["task"], again["replayed"]) == (first["task"], True)


@pytest.mark.parametrize("verb", [tasks.fail, tasks.cancel, tasks.reopen])
def test_only_the_holder_or_a_person_ends_taken_work(world: World, verb: Any) -> None:
    number = add(world, "first")
    take(world, ANN, number)
    for stranger in (BOB, Caller("ann/one")):
        with refused("task.not_yours"):
            verb(world.store, stranger, number, "why")
    assert row(world, number).state == TAKEN
    verb(world.store, PAT, number, "why")
    assert row(world, number).state != TAKEN


def test_a_person_does_not_finish_what_an_agent_works_on(world: World) -> None:
    number = add(world, "first")
    take(world, ANN, number)
    with refused("task.not_yours"):
        tasks.finish(world.store, PAT, number)


def test_what_is_said_at_the_end_is_kept(world: World) -> None:
    number = add(world, "first")
    take(world, ANN, number)
    shown = tasks.finish(world.store, ANN, number, result="it is the cache")["task"]
    assert (shown["state"], shown["reason"], shown["agent"]) == (ACCEPTED, "it is the cache", "ann")


# -- the same work ----------------------------------------------------------------------------


def test_what_waited_for_a_duplicate_waits_for_the_other(world: World) -> None:
    original, double = add(world, "login"), add(world, "log-in")
    waiting, both = add(world, "logout", double), add(world, "profile", original, double)
    tasks.mark_same(world.store, ANN, double, original)
    assert (row(world, double).state, row(world, double).same_as) == (CANCELLED, original)
    assert (row(world, waiting).unmet, row(world, both).unmet) == (1, 1)
    shown = world.store.read(lambda view: tasks.show(view, original))
    assert shown["unblocks"] == ["T-3", "T-4"]
    do(world, ANN, original)
    assert ready(world) == ["T-3", "T-4"]
    assert world.findings() == []


def test_the_same_as_finished_work_leaves_nothing_to_wait_for(world: World) -> None:
    original, double = add(world, "login"), add(world, "log-in")
    waiting = add(world, "logout", double)
    do(world, ANN, original)
    tasks.mark_same(world.store, ANN, double, original)
    assert row(world, waiting).unmet == 0


def test_two_tasks_that_wait_for_each_other_are_not_the_same(world: World) -> None:
    first = add(world, "first")
    second = add(world, "second", first)
    with refused("task.cycle") as caught:
        tasks.mark_same(world.store, PAT, first, second)
    assert caught.value.facts["cycle"] == ["T-2", "T-2"]


def test_a_circle_through_the_other_task_is_refused_and_named_in_full(world: World) -> None:
    double = add(world, "double")
    waiting = add(world, "waiting", double)
    between = add(world, "between", waiting)
    original = add(world, "original", between)
    with refused("task.cycle") as caught:
        tasks.mark_same(world.store, PAT, double, original)
    assert caught.value.facts["cycle"] == ["T-2", "T-4", "T-3", "T-2"]


def test_a_task_is_not_the_same_as_itself_or_as_a_duplicate(world: World) -> None:
    first, second, third = add(world, "a"), add(world, "b"), add(world, "c")
    with refused("input.bad"):
        tasks.mark_same(world.store, PAT, first, first)
    tasks.mark_same(world.store, PAT, second, first)
    with refused("task.same") as caught:
        tasks.mark_same(world.store, PAT, third, second)
    assert caught.value.facts["same_as"] == "T-1"


def test_taken_work_is_called_a_duplicate_by_its_holder_only(world: World) -> None:
    first, second = add(world, "a"), add(world, "b")
    take(world, ANN, second)
    with refused("task.not_yours"):
        tasks.mark_same(world.store, BOB, second, first)
    tasks.mark_same(world.store, ANN, second, first)
    assert row(world, second).state == CANCELLED


# -- repeats ----------------------------------------------------------------------------------


def test_a_repeated_take_is_the_same_task_and_says_whether_it_is_still_mine(world: World) -> None:
    add(world, "a")
    add(world, "b")
    once = Caller("ann", op="op-1")
    first = take(world, once, lease_ms=MINUTE_MS)
    again = take(world, once, lease_ms=MINUTE_MS)
    assert again == first | {"replayed": True, "still_valid": True}
    world.clock.advance(MINUTE_MS)
    assert take(world, once, lease_ms=MINUTE_MS)["still_valid"] is False


@pytest.mark.parametrize("loss", ["given back and taken again", "finished", "taken by another"])
def test_a_repeated_take_of_lost_work_is_not_valid(world: World, loss: str) -> None:
    number = add(world, "a")
    once = Caller("ann", op="op-1")
    take(world, once, number)
    if loss == "finished":
        tasks.finish(world.store, ANN, number)
    else:
        tasks.reopen(world.store, ANN, number, "")
        take(world, ANN if loss.startswith("given") else BOB, number)
    assert take(world, once, number)["still_valid"] is False


# -- under a supervisor -------------------------------------------------------------------------


def test_work_on_a_branch_under_a_supervisor_is_not_ended_by_hand() -> None:
    """`done` without a branch would accept the task and leave the branch behind."""
    world = World()
    tasks.add(world.store, Caller("pat", is_person=True), TaskDraft("1", "login form"))
    ann = Caller("ann", tree="ann")
    tasks.take(world.store, world.liveness, ann, number=1)
    run = records.begin(
        world.store, ann, records.Start(1, 1, client="claude", tree="ann", branch="lineclear/T-1")
    )
    with pytest.raises(Refusal, match="Cannot end T-1 by hand"):
        tasks.finish(world.store, ann, 1, result="all good")
    records.end(world.store, ann, run, records.Ending("done", branch="lineclear/T-1"))
    task = world.store.read(lambda view: tasks.show(view, 1))
    assert (task["state"], task["branch"]) == ("handed over", "lineclear/T-1")
