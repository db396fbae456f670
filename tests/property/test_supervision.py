"""What the supervisor's judgements must always keep, whatever agents do and say."""

from __future__ import annotations

import pickle
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.core.claims.resources import resource_of
from lineclear.core.log.tables import Task
from lineclear.core.runs import ends
from lineclear.core.runs.budgets import (
    Amount,
    BudgetLimits,
    Used,
    breaches,
    total,
)
from lineclear.core.runs.digests import normal_digest, normal_result
from lineclear.core.runs.first_prompt import LEAST_BYTES, Earlier, Letter, Nearby, PromptFacts, compose
from lineclear.core.runs.judging_ends import MOST_REASON_CHARS, STOPS, EndFacts, judge
from lineclear.core.runs.loops import LoopWatch
from lineclear.core.tasks.assignment import (
    TaskWorker,
    blocked_forever,
    calm_first,
    can_do,
    choose_starts,
    meets,
)
from tests.call_sequences import all_cases, play

# -- loops --------------------------------------------------------------------------------------

HEALTHY = [case for case in all_cases() if case.expect == "healthy"]
FEW = st.sampled_from(["a", "b", "c", "d"])
HAPPENINGS = st.one_of(
    st.tuples(st.just("call"), FEW, st.booleans(), st.integers(0, 3)),
    st.tuples(st.just("result"), FEW, st.booleans(), st.sampled_from(["", "a", "b"])),
    st.tuples(st.just("tree"), FEW),
)
MANY = st.tuples(st.lists(HAPPENINGS, min_size=1, max_size=40), st.integers(1, 40))


def happen(watch: LoopWatch, event: tuple[Any, ...]) -> None:
    if event[0] == "tree":
        watch.tree(event[1])
    elif event[0] == "result":
        watch.result(event[2], event[1], event[3])
    else:
        watch.call("t", event[1], tuple("xyz"[: event[3]]), is_edit=event[2])


@given(MANY)
def test_a_verdict_never_changes_and_never_goes(rounds: tuple[list[Any], int]) -> None:
    watch, words = LoopWatch(), ""
    for event in rounds[0] * rounds[1]:
        happen(watch, event)
        assert not words or watch.verdict() == words
        words = watch.verdict()
        assert bool(words) == bool(watch.pattern)
        assert len(words) <= 240


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["call", "edit", "failed", "tree"]), st.integers(0, 10**6)), max_size=50
    )
)
def test_what_is_remembered_is_bounded(kinds: list[tuple[str, int]]) -> None:
    watch, sizes = LoopWatch(), []
    for turn in range(10_000, 14_000):
        kind, salt = kinds[turn % len(kinds)] if kinds else ("call", 0)
        if kind == "tree":
            watch.tree(f"tree {salt} {turn}")
        else:
            watch.call("t", f"{salt} {turn}", (f"{salt}/{turn}.py",), is_edit=kind != "call")
        if kind != "tree" and turn % 3:
            watch.result(kind != "failed", str(turn))
        if turn in (12_999, 13_999):
            sizes.append(len(pickle.dumps(watch)))
    assert sizes[1] <= sizes[0] * 1.1
    assert sizes[1] < 100_000


@given(st.lists(st.text(max_size=5), unique=True, max_size=300), st.booleans())
def test_steps_that_are_all_new_are_never_a_loop(results: list[str], is_edit: bool) -> None:
    watch = LoopWatch()
    for result in results:
        watch.call("t", result if is_edit else "the same", ("a.py",), is_edit=is_edit)
        watch.result(True, f"result {result}")
    assert watch.verdict() == ""


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(HEALTHY), st.integers(0, 50), st.booleans())
def test_healthy_work_after_a_pause_or_from_its_middle_stays_healthy(
    case: Any, skipped: int, twice: bool
) -> None:
    """A watch that begins late (a supervisor that was started again) sees no loop either."""
    watch = LoopWatch()
    for line in case.lines[skipped:]:
        play(watch, line)
    if twice:
        watch.tree("something new")
    assert watch.verdict() == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside, max_size=4),
    max_leaves=12,
)


@given(st.text(max_size=20), JSON)
def test_every_input_has_one_digest_whatever_the_order_of_its_keys(tool: str, given_: Any) -> None:
    found = normal_digest(tool, given_)
    assert len(found) <= 24
    if isinstance(given_, dict):
        assert normal_digest(tool, dict(reversed(given_.items()))) == found


@given(st.text())
def test_every_result_has_a_digest(text: str) -> None:
    assert normal_result(text) == normal_result(f"  {text}\n")


# -- ends ---------------------------------------------------------------------------------------

WORDS = st.text(max_size=400)
FACTS = st.builds(
    EndFacts,
    exit_code=st.none() | st.integers(-300, 300),
    stopped_by=st.sampled_from(["", *STOPS, "budget:time", ":", "?"]) | st.text(max_size=10),
    detail=WORDS, start_error=st.just("") | WORDS, program=WORDS, end_ok=st.none() | st.booleans(),
    end_reason=WORDS, is_limited=st.booleans(), is_login=st.booleans(), has_stream=st.booleans(),
    lines_read=st.integers(0, 9), lines_unread=st.integers(0, 9), last_words=WORDS,
    oom_kills=st.integers(0, 2), peak_memory_bytes=st.integers(-1, 2**40),
    memory_limit_bytes=st.integers(0, 2**40), is_disk_full=st.booleans(), is_worktree_gone=st.booleans(),
    head_moved_to=st.just("") | WORDS, main_moved_to=st.just("") | WORDS, is_rebooted=st.booleans(),
)  # fmt: skip


@given(FACTS)
def test_every_end_has_a_name_and_a_short_reason(facts: EndFacts) -> None:
    how, reason = judge(facts)
    assert how in ends.ENDS
    assert 0 < len(reason) <= MOST_REASON_CHARS
    assert reason.isprintable()
    if how == ends.DONE:
        assert facts.exit_code in (0, None)
        assert facts.end_ok is not False
        assert not any((facts.stopped_by, facts.start_error, facts.is_worktree_gone, facts.main_moved_to))


# -- budgets ------------------------------------------------------------------------------------

NUMBER = st.integers(-1, 1_000)
LIMIT = st.integers(0, 1_000)
RUN_FIELDS = ("run_time_ms", "run_tokens", "run_money_micros", "run_memory_bytes")
SUM_FIELDS = ("task_tokens", "task_money_micros", "day_tokens", "day_money_micros")


@given(st.lists(NUMBER, max_size=8))
def test_a_sum_counts_what_nobody_told(numbers: list[int]) -> None:
    told = [number for number in numbers if number >= 0]
    assert total(numbers) == Amount(sum(told), len(numbers) - len(told))


USED_BY_RUN = st.fixed_dictionaries(dict.fromkeys(RUN_FIELDS, NUMBER))
USED_TOGETHER = st.fixed_dictionaries(dict.fromkeys(SUM_FIELDS, st.builds(Amount, LIMIT, st.integers(0, 2))))
ALLOWED = st.fixed_dictionaries(dict.fromkeys(RUN_FIELDS + SUM_FIELDS, LIMIT))


@given(USED_BY_RUN, ALLOWED, USED_TOGETHER)
def test_a_limit_is_named_exactly_when_more_is_known_to_be_used(
    run: dict[str, int], limits: dict[str, int], sums: dict[str, Amount]
) -> None:
    every: dict[str, Any] = {**run, **sums}
    used, allowed = Used(**every), BudgetLimits(**limits)
    over = [name for name in RUN_FIELDS if limits[name] and run[name] > limits[name]]
    over += [name for name in SUM_FIELDS if limits[name] and sums[name].known > limits[name]]
    assert len(breaches(used, allowed)) == len(over)


# -- the prompt ---------------------------------------------------------------------------------

MARKED = st.text(max_size=60).map(lambda text: f"{text}\nEVIL{text}")
LETTER = st.builds(Letter, id=st.integers(1, 99), author=st.just("ann"), text=MARKED, is_urgent=st.booleans())
LETTERS = st.lists(LETTER, max_size=5).map(tuple)
NAMES = st.lists(MARKED, max_size=5).map(tuple)
EARLIER = st.builds(
    Earlier, attempt=st.integers(1, 5), agent=st.just("bob"), reason=MARKED, branch=st.text(max_size=20)
)
NEARBY = st.builds(
    Nearby, agent=st.just("cat"), title=MARKED, scope=NAMES, claims=st.just((("EVIL", "EVIL", "EVIL"),))
)
PROMPTS = st.builds(
    PromptFacts,
    agent=st.just("ann"), task_id=st.integers(1, 10**6), title=MARKED, place=st.text(), branch=st.text(),
    main=st.text(), ports=st.text(), has_worktree=st.booleans(), body=MARKED.map(lambda text: text * 40),
    acceptance=MARKED, contract=MARKED, scope=NAMES, produces=NAMES, notes=LETTERS, messages=LETTERS,
    earlier=st.lists(EARLIER, max_size=3).map(tuple), nearby=st.lists(NEARBY, max_size=3).map(tuple),
    most_bytes=st.integers(0, 20_000),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(PROMPTS)
def test_a_prompt_is_bounded_and_quotes_whatever_others_wrote(facts: PromptFacts) -> None:
    found = compose(facts)
    assert len(found.text.encode()) <= max(facts.most_bytes, LEAST_BYTES)
    assert "\n## Rules\n" in found.text
    for line in found.text.split("\n"):
        assert "EVIL" not in line or line.startswith("> ")
        assert line.replace("\t", "").isprintable()
    assert set(found.shown_messages) <= {letter.id for letter in facts.messages}


# -- the schedule -------------------------------------------------------------------------------

SCOPES = ["", "file:src/", "file:src/a.py", "file:docs/", "file:**/*.sql"]
NEEDS = st.lists(st.sampled_from(["x", "y"]), unique=True, max_size=2)
TEAM = st.lists(st.tuples(NEEDS, st.booleans()), max_size=4).map(
    lambda rows: [
        TaskWorker(name=f"w{place}", labels=frozenset(labels), has_worktree=has)
        for place, (labels, has) in enumerate(rows)
    ]
)
READY = st.lists(st.tuples(st.sampled_from(SCOPES), NEEDS), max_size=7).map(
    lambda rows: [
        Task(number, "t", "", "open", 5, 0, scope, "", "\n".join(needs), "", 0, 3, "", "", 0, number, 0, 0)
        for number, (scope, needs) in enumerate(rows, 1)
    ]
)


FAILED_AT = st.dictionaries(st.integers(1, 7), st.sampled_from(["w0", "w1", "w2"]), max_size=4)


def most_pairs(tasks: list[Task], team: list[TaskWorker]) -> int:
    """By trying everything."""
    if not tasks:
        return 0
    first, rest = tasks[0], tasks[1:]
    found = most_pairs(rest, team)
    for worker in team:
        if can_do(worker, first):
            found = max(found, 1 + most_pairs(rest, [other for other in team if other is not worker]))
    return found


@settings(deadline=None)
@given(TEAM, READY, st.lists(st.sampled_from(SCOPES[1:]), max_size=2), FAILED_AT)
def test_as_many_work_as_can_and_each_is_fit(
    team: list[TaskWorker], ready: list[Task], busy: list[str], avoid: dict[int, str]
) -> None:
    starts = choose_starts(workers=team, ready=ready, busy_scopes=busy, avoid=avoid)
    by_name, by_id = {worker.name: worker for worker in team}, {task.id: task for task in ready}
    assert len({start.worker for start in starts}) == len(starts) == len({start.task_id for start in starts})
    assert all(can_do(by_name[start.worker], by_id[start.task_id]) for start in starts)
    assert len(starts) == most_pairs(ready, team)
    assert starts == choose_starts(workers=reversed(team), ready=ready, busy_scopes=busy, avoid=avoid)


@given(READY, st.lists(st.sampled_from(SCOPES[1:]), max_size=2), st.lists(st.integers(1, 3), min_size=7))
def test_trouble_only_moves_a_task_behind_others_of_its_priority(
    tasks: list[Task], troubled: list[str], priorities: list[int]
) -> None:
    ready = [task.changed(priority=level) for task, level in zip(tasks, sorted(priorities), strict=False)]
    places = [resource_of(text) for text in troubled]
    found = list(calm_first(ready, troubled))
    assert found == sorted(ready, key=lambda task: (task.priority, meets(task, places), task.id))


@settings(deadline=None)
@given(TEAM, READY, st.lists(st.sampled_from(SCOPES[1:]), max_size=2))
def test_no_worker_stays_idle_because_of_trouble(
    team: list[TaskWorker], ready: list[Task], troubled: list[str]
) -> None:
    assert len(choose_starts(workers=team, ready=ready, troubled=troubled)) == most_pairs(ready, team)


@given(TEAM, READY)
def test_what_starts_is_never_called_stuck(team: list[TaskWorker], ready: list[Task]) -> None:
    stuck = {found.task_id for found in blocked_forever(tasks=ready, workers=team, deps={})}
    starts = {start.task_id for start in choose_starts(workers=team, ready=ready)}
    assert not stuck & starts
    assert starts or stuck == {task.id for task in ready} or not team
