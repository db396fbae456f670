"""Who starts what: scopes that fit together first, never idle while there is work, routed by labels."""

from __future__ import annotations

from lineclear.core.log.tables import Task
from lineclear.core.tasks.assignment import Stuck, TaskStart, TaskWorker, blocked_forever, choose_starts


def task(number: int, *, scope: str = "", needs: str = "", state: str = "open", priority: int = 5) -> Task:
    return Task(
        number, f"task {number}", "", state, priority, 0, scope.replace(" ", "\n"), "", needs.replace(" ", "\n"), "",
        0, 3, "", "", 0, number, 0, 0,
    )  # fmt: skip


def worker(name: str, *labels: str, client: str = "claude", has_worktree: bool = True) -> TaskWorker:
    return TaskWorker(name=name, client=client, labels=frozenset(labels), has_worktree=has_worktree)


ANN, BOB, CAT = worker("ann"), worker("bob"), worker("cat")


def pairs(starts: list[TaskStart]) -> list[tuple[int, str]]:
    return [(start.task_id, start.worker) for start in starts]


def test_nothing_starts_without_tasks_or_without_workers() -> None:
    assert choose_starts(workers=[ANN], ready=[]) == []
    assert choose_starts(workers=[], ready=[task(1)]) == []


def test_each_worker_gets_one_task_in_order_of_the_list() -> None:
    starts = choose_starts(workers=[BOB, ANN], ready=[task(7), task(3), task(5)])
    assert starts == [TaskStart(7, "ann", False), TaskStart(3, "bob", False)]


def test_scopes_that_fit_together_go_before_one_that_overlaps() -> None:
    ready = [task(1, scope="file:src/"), task(2, scope="file:src/a.py"), task(3, scope="file:docs/")]
    assert choose_starts(workers=[ANN, BOB], ready=ready) == [
        TaskStart(1, "ann", False),
        TaskStart(3, "bob", False),
    ]


def test_a_crowded_task_is_better_than_an_idle_worker() -> None:
    ready = [task(1, scope="file:src/"), task(2, scope="file:src/a.py")]
    assert choose_starts(workers=[ANN, BOB], ready=ready) == [
        TaskStart(1, "ann", False),
        TaskStart(2, "bob", True),
    ]


def test_a_scope_that_somebody_is_busy_in_waits_for_a_free_one() -> None:
    ready = [task(1, scope="file:src/a.py"), task(2, scope="file:docs/")]
    found = choose_starts(workers=[ANN], ready=ready, busy_scopes=["file:src/"])
    assert found == [TaskStart(2, "ann", False)]


def test_what_somebody_holds_for_himself_is_left_even_when_a_worker_stays_idle() -> None:
    ready = [task(1, scope="file:src/a.py")]
    assert choose_starts(workers=[ANN], ready=ready, exclusive=[("zoe", "file:src/")]) == []
    assert pairs(choose_starts(workers=[ANN], ready=ready, exclusive=[("zoe", "file:docs/")])) == [(1, "ann")]


def test_the_holder_itself_and_its_family_may_start_there() -> None:
    ready = [task(1, scope="file:src/a.py")]
    assert pairs(choose_starts(workers=[BOB, ANN], ready=ready, exclusive=[("ann", "file:src/")])) == [
        (1, "ann")
    ]
    assert pairs(choose_starts(workers=[ANN], ready=ready, exclusive=[("ann/sub", "file:src/")])) == [
        (1, "ann")
    ]


def test_needs_are_met_by_labels_client_or_name() -> None:
    codex, tester = worker("dan", client="codex"), worker("eve", "tests", "sql")
    ready = [task(1, needs="codex"), task(2, needs="tests sql"), task(3, needs="ann"), task(4, needs="rust")]
    found = choose_starts(workers=[ANN, codex, tester], ready=ready)
    assert pairs(found) == [(1, "dan"), (2, "eve"), (3, "ann")]


def test_a_versatile_worker_is_kept_for_what_only_it_can_do() -> None:
    versatile = worker("abe", "sql")
    found = choose_starts(workers=[versatile, BOB], ready=[task(1), task(2, needs="sql")])
    assert pairs(found) == [(1, "bob"), (2, "abe")]


def test_a_seated_task_moves_to_let_another_one_in() -> None:
    first, second = worker("a1", "x", "y"), worker("b1", "x", "z")
    found = choose_starts(workers=[first, second], ready=[task(1, needs="x"), task(2, needs="y")])
    assert pairs(found) == [(1, "b1"), (2, "a1")]


def test_who_has_just_failed_at_a_task_gets_it_only_where_nobody_else_can() -> None:
    ready = [task(1), task(2)]
    assert pairs(choose_starts(workers=[ANN], ready=ready, avoid={1: "ann"})) == [(1, "ann")]
    assert pairs(choose_starts(workers=[ANN, BOB], ready=ready, avoid={1: "ann"})) == [(1, "bob"), (2, "ann")]
    assert pairs(choose_starts(workers=[ANN, BOB], ready=ready, avoid={2: "bob"})) == [(1, "bob"), (2, "ann")]


def test_a_lock_weighs_more_than_a_failure() -> None:
    ready = [task(1, scope="file:src/")]
    found = choose_starts(workers=[ANN, BOB], ready=ready, avoid={1: "ann"}, exclusive=[("ann", "file:src/")])
    assert pairs(found) == [(1, "ann")]


def test_who_has_no_worktree_takes_only_what_asks_for_it() -> None:
    reader = worker("ria", "research", has_worktree=False)
    assert choose_starts(workers=[reader], ready=[task(1)]) == []
    assert pairs(choose_starts(workers=[reader], ready=[task(1), task(2, needs="research")])) == [(2, "ria")]


def test_a_long_list_is_only_read_until_everybody_has_work() -> None:
    def endless() -> object:
        yield from (task(1), task(2))
        raise AssertionError("nobody is free any more")

    assert pairs(choose_starts(workers=[ANN], ready=endless())) == [(1, "ann")]  # type: ignore[arg-type]


# -- away from trouble --------------------------------------------------------------------------


def test_a_task_that_meets_a_finding_waits_behind_its_equals() -> None:
    ready = [task(1, scope="file:src/"), task(2), task(3, scope="file:docs/")]
    found = choose_starts(workers=[ANN, BOB], ready=ready, troubled=["file:src/a.py"])
    assert pairs(found) == [(2, "ann"), (3, "bob")]


def test_it_is_started_all_the_same_when_a_worker_is_free() -> None:
    ready = [task(1, scope="file:src/"), task(2)]
    found = choose_starts(workers=[ANN, BOB, CAT], ready=ready, troubled=["file:src/a.py"])
    assert pairs(found) == [(2, "ann"), (1, "bob")]
    assert pairs(choose_starts(workers=[ANN], ready=ready[:1], troubled=["file:src/a.py"])) == [(1, "ann")]


def test_priority_counts_more_than_a_finding() -> None:
    ready = [task(1, scope="file:src/", priority=1), task(2, priority=5)]
    assert pairs(choose_starts(workers=[ANN], ready=ready, troubled=["file:src/a.py"])) == [(1, "ann")]


def test_of_two_crowded_tasks_the_one_without_a_finding_goes_first() -> None:
    ready = [task(1, scope="file:src/a.py"), task(2, scope="file:src/b.py")]
    found = choose_starts(workers=[ANN], ready=ready, busy_scopes=["file:src/"], troubled=["file:src/a.py"])
    assert found == [TaskStart(2, "ann", True)]


# -- what never starts --------------------------------------------------------------------------


def test_a_need_that_no_worker_has_is_named() -> None:
    tasks = [task(1, needs="rust sql"), task(2, needs="tests sql"), task(3)]
    team = [worker("ann", "sql"), worker("bob", "tests")]
    assert blocked_forever(tasks=tasks, workers=team, deps={}) == [
        Stuck(1, "it needs rust, which no worker has"),
        Stuck(2, "it needs tests, sql, and no single worker has all of these"),
    ]


def test_what_comes_after_a_failed_task_is_stuck_and_so_is_what_follows() -> None:
    tasks = [task(1, state="failed"), task(2), task(3), task(4), task(5, state="merged"), task(6)]
    deps = {2: [1], 3: [2], 4: [3, 5], 6: [5]}
    assert blocked_forever(tasks=tasks, workers=[ANN], deps=deps) == [
        Stuck(2, "it comes after T-1, which is failed"),
        Stuck(3, "it comes after T-2, which cannot start"),
        Stuck(4, "it comes after T-3, which cannot start"),
    ]


def test_what_waits_for_work_under_way_is_not_stuck() -> None:
    tasks = [task(1, state="taken"), task(2, state="handed over"), task(3), task(4, state="cancelled")]
    assert blocked_forever(tasks=tasks, workers=[ANN], deps={3: [1, 2]}) == []


def test_without_workers_nothing_starts() -> None:
    assert blocked_forever(tasks=[task(1)], workers=[], deps={}) == [Stuck(1, "there is no worker")]
    reader = worker("ria", "research", has_worktree=False)
    assert blocked_forever(tasks=[task(1)], workers=[reader], deps={}) == [
        Stuck(1, "no worker has a worktree")
    ]


def test_a_dependency_outside_the_list_is_no_reason() -> None:
    assert blocked_forever(tasks=[task(2)], workers=[ANN], deps={2: [99]}) == []
