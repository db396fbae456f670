"""The supervisor's decisions, on a stage where clients are played and time is moved by hand."""

from __future__ import annotations

import signal
from itertools import pairwise
from typing import Any

import pytest

from lineclear.app.ports import Caller
from lineclear.app.queue import candidates
from lineclear.app.queue.runner_turns import Turn
from lineclear.app.radar.findings import record
from lineclear.app.runs import records
from lineclear.app.runs.run_news import NEEDS, WAITS, WARNED
from lineclear.app.runs.workers import HANDED_OVER, LANDED, NEEDS_YOU, SENT_BACK, LandingResult
from lineclear.core.radar.findings import Finding
from lineclear.core.runs.budgets import BudgetLimits
from lineclear.core.runs.client_events import Call, CallDone, RunEnd, SessionSign, Sign, Usage
from lineclear.core.runs.money import Price
from lineclear.core.words.computed.queue import git_failed
from lineclear.core.words.refusals import Refusal
from lineclear.core.words.row import BUDGET, FAILED
from tests.stage import PERSON, Played, Stage, team

MINUTE_MS = 60_000


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    stage.play = lambda played, _task: played.finish()
    return stage


def played_by(stage: Stage, **parts: Any) -> None:
    """T1=...: what the client of task 1 does; who has no part ends well at once."""

    def play(played: Played, task: int) -> None:
        parts.get(f"T{task}", lambda client: client.finish())(played)

    stage.play = play


def stays(_played: Played) -> None:
    """Works on, whatever happens."""


def is_deaf(played: Played) -> None:
    played.is_deaf = True


def ends_with(code: int, **end: Any) -> Any:
    def act(played: Played) -> None:
        played.end = RunEnd(code == 0, **end)
        played.finish(code)

    return act


# -- the ordinary course --------------------------------------------------------------------------


def test_every_ready_task_is_done_by_as_many_as_there_are(stage: Stage) -> None:
    numbers = [stage.task(f"Part {n}") for n in range(5)]
    at_work: list[int] = []

    def play(played: Played, _task: int) -> None:
        at_work.append(sum(other.code is None for other in stage.everybody()))
        stage.at(stage.passed_ms + 1_000, played.finish)

    stage.play = play
    supervisor = stage.supervise(team(2))
    assert [stage.row(number).state for number in numbers] == ["merged"] * 5
    assert max(at_work) == 2
    assert len(supervisor.outcomes) == 5
    assert stage.world.findings() == []


def test_a_task_in_whose_files_the_radar_found_trouble_waits_for_its_equals(stage: Stage) -> None:
    found = Finding(kind="conflict", agents=("ada", "ben"), files=("src/a.py",), interrupts=True)
    record(stage.store, PERSON, [found])
    troubled, calm = stage.task("Code", scope=["src/"]), stage.task("Docs", scope=["docs/"])
    supervisor = stage.supervise(team(1))
    assert [outcome.task for outcome in supervisor.outcomes] == [calm, troubled]


def test_with_nothing_to_do_it_ends_at_once(stage: Stage) -> None:
    assert stage.supervise(team(2)).outcomes == []
    assert stage.passed_ms <= 500


def test_a_task_that_nobody_can_do_is_named(stage: Stage) -> None:
    stage.task("Special", needs=["guru"])
    assert (
        stage.supervise(team(1)).blocked == ["T-1: no worker can do guru"] or stage.supervise(team(1)).blocked
    )


def test_only_the_wanted_tasks_are_begun(stage: Stage) -> None:
    first, second = stage.task("One"), stage.task("Two")
    stage.supervise(team(2), only=[second])
    assert (stage.row(first).state, stage.row(second).state) == ("open", "merged")


def test_a_slow_landing_holds_up_nobody(stage: Stage) -> None:
    stage.delays["end"] = 10 * MINUTE_MS
    first, second = stage.task("One"), stage.task("Two")
    played_by(stage, T1=lambda played: played.finish(), T2=stays)
    stage.at(MINUTE_MS, lambda: stage.client(second).finish())
    stage.supervise(team(2))
    assert stage.row(first).state == stage.row(second).state == "merged"
    assert stage.passed_ms < 12 * MINUTE_MS


@pytest.mark.parametrize("state", [SENT_BACK, NEEDS_YOU, HANDED_OVER])
def test_what_becomes_of_a_branch_is_told(stage: Stage, state: str) -> None:
    number = stage.task("One", attempts=1)
    stage.landed = lambda _task: LandingResult(state, "main has moved")
    supervisor = stage.supervise(team(1))
    assert supervisor.outcomes[0].landing is not None
    assert stage.told(NEEDS) == (["main has moved"] if state == NEEDS_YOU else [])
    assert stage.row(number).state == "handed over"


# -- reasons to stop somebody ---------------------------------------------------------------------


def stopped(stage: Stage, limits: BudgetLimits | None = None, **rules: Any) -> Played:
    """One client that has to be stopped; nobody else may be."""
    number, other = stage.task("Bad", attempts=1, needs=["bad"]), stage.task("Good", needs=["good"])
    stage.at(3 * MINUTE_MS, lambda: stage.client(other).finish())
    bad = team(1, client="bad", limits=limits)
    stage.supervise([*bad, *team(1, client="good")], **rules)
    assert stage.ends(other) == ["done"]
    assert stage.client(other).signals == []
    assert stage.row(number).state == "failed"
    return stage.client(number)


def test_who_is_silent_for_too_long_is_hung(stage: Stage) -> None:
    played_by(stage, T1=stays, T2=stays)
    for ms in range(0, 3 * MINUTE_MS, 5_000):
        stage.at(ms, lambda: setattr(stage.client(2), "busy_ns", stage.client(2).busy_ns + 10**9))
    client = stopped(stage, silence_ms=MINUTE_MS)
    assert stage.ends(1) == ["hung"]
    assert MINUTE_MS < client.told(signal.SIGTERM)[0] <= MINUTE_MS + 1_000


@pytest.mark.parametrize("sign", ["output", "processor"])
def test_any_sign_of_life_counts(stage: Stage, sign: str) -> None:
    number = stage.task("One")
    played_by(stage, T1=stays)

    def live() -> None:
        client = stage.client(number)
        if sign == "output":
            client.signs.append(SessionSign("s"))
        client.busy_ns += 10**9 if sign == "processor" else 0

    for ms in range(0, 5 * MINUTE_MS, 30_000):
        stage.at(ms, live)
    stage.at(5 * MINUTE_MS, lambda: stage.client(number).finish())
    stage.supervise(team(1), silence_ms=MINUTE_MS)
    assert stage.ends(number) == ["done"]


@pytest.mark.parametrize(
    ("limits", "usage"),
    [
        (BudgetLimits(run_time_ms=MINUTE_MS), Usage()),
        (BudgetLimits(run_tokens=100), Usage(200, 0)),
        (BudgetLimits(run_money_micros=1_000), Usage(1, 1, 0, 2_000)),
        (BudgetLimits(task_tokens=100), Usage(200, 0)),
        (BudgetLimits(day_tokens=100), Usage(200, 0)),
    ],
    ids=["time", "tokens", "money", "the task's tokens", "the day's tokens"],
)
def test_who_uses_more_than_it_may_is_stopped(stage: Stage, limits: BudgetLimits, usage: Usage) -> None:
    played_by(stage, T1=lambda played: played.signs.append(usage), T2=stays)
    stopped(stage, limits)
    assert stage.ends(1) == ["budget"]
    assert stage.runs(1)[0].tokens_in == usage.tokens_in


def test_a_price_makes_money_of_tokens(stage: Stage) -> None:
    stage.task("One", attempts=1)
    played_by(stage, T1=lambda played: played.signs.append(Usage(1_000_000, 0, 0)))
    price = Price("", 2_000_000, 1_000_000, 0)
    stage.supervise(team(1, limits=BudgetLimits(run_money_micros=1_000_000), price=price))
    assert stage.ends(1) == ["budget"]
    assert stage.runs(1)[0].cost_micros == 2_000_000


def test_the_day_counts_what_all_use_together(stage: Stage) -> None:
    for title in ("One", "Two"):
        stage.task(title, attempts=1)
    stage.play = lambda played, _task: played.signs.append(Usage(60, 0))
    stage.supervise(team(2, limits=BudgetLimits(day_tokens=100)))
    assert "budget" in stage.ends(1) + stage.ends(2)


def test_too_much_memory_has_a_name_of_its_own(stage: Stage) -> None:
    played_by(stage, T1=lambda played: setattr(played, "memory_bytes", 2 << 30), T2=stays)
    stopped(stage, BudgetLimits(run_memory_bytes=1 << 30))
    assert stage.ends(1) == ["memory"]


def test_who_goes_round_in_circles_is_stopped_unless_nobody_minds(stage: Stage) -> None:
    call = [Call("bash", "same", summary="make test", is_shell=True), CallDone(False, "no rule", "same")]
    calls: list[Sign] = call * 60
    number = stage.task("One", attempts=1)
    played_by(stage, T1=lambda played: played.signs.extend(calls))
    stage.supervise(team(1))
    assert stage.ends(number) == ["looped"]
    stage.at(stage.passed_ms + 10_000, lambda: stage.client(2).finish())
    stage.task("Two", attempts=1)
    stage.play = lambda played, _task: played.signs.extend(calls)
    stage.supervise(team(1), heeds_loops=False)
    assert stage.ends(2) == ["done"]


def test_who_floods_its_output_is_killed_without_grace(stage: Stage) -> None:
    def flood(played: Played) -> None:
        played.is_deaf, played.written_bytes = True, 2_000

    played_by(stage, T1=flood, T2=stays)
    client = stopped(stage, log_bytes=1_000, grace_ms=MINUTE_MS)
    assert stage.ends(1) == ["disk"]
    assert client.told(signal.SIGKILL)[0] - client.told(signal.SIGTERM)[0] <= 500


def test_of_all_only_the_one_that_fills_the_disk_is_stopped(stage: Stage) -> None:
    def fill(played: Played) -> None:
        played.disk_bytes, stage.free_bytes = 1 << 30, 100

    played_by(stage, T1=fill, T2=stays)
    stopped(stage, disk_floor_bytes=1_000)
    assert stage.ends(1) == ["disk"]


def test_who_has_lost_its_worktree_is_stopped(stage: Stage) -> None:
    played_by(stage, T1=lambda played: setattr(played, "has_tree", False), T2=stays)
    stopped(stage)
    assert stage.ends(1) == ["strayed"]


@pytest.mark.parametrize("moment", ["at work", "at its end"])
def test_who_moves_main_has_strayed(stage: Stage, moment: str) -> None:
    def move(played: Played) -> None:
        stage.strays_found.append(("bad-1", "main was put back"))
        if moment == "at its end":
            played.finish()

    played_by(stage, T1=move, T2=stays)
    stopped(stage)
    assert stage.ends(1) == ["strayed"]
    assert "main was put back" in stage.runs(1)[0].reason


def test_who_has_lost_its_task_is_stopped_and_the_task_left_alone(stage: Stage) -> None:
    number = stage.task("One")
    played_by(stage, T1=stays)
    from lineclear.app import tasks

    stage.at(1_000, lambda: tasks.cancel(stage.store, PERSON, number, "not needed"))
    stage.supervise(team(1), lease_ms=9_000)
    assert stage.ends(number) == ["lost"]
    assert stage.row(number).state == "cancelled"


def test_the_first_reason_stays_the_reason(stage: Stage) -> None:
    def bad(played: Played) -> None:
        played.is_deaf = True
        played.memory_bytes = 2 << 30

    played_by(stage, T1=bad, T2=stays)
    stage.at(3_000, lambda: setattr(stage.client(1), "written_bytes", 1 << 40))
    stopped(stage, BudgetLimits(run_memory_bytes=1 << 30), grace_ms=10_000)
    assert stage.ends(1) == ["memory"]


def test_who_does_not_stop_is_killed_when_its_grace_is_over(stage: Stage) -> None:
    played_by(stage, T1=is_deaf, T2=stays)
    client = stopped(stage, BudgetLimits(run_time_ms=1_000), grace_ms=10_000)
    assert 10_000 <= client.told(signal.SIGKILL)[0] - client.told(signal.SIGTERM)[0] <= 10_500


# -- trying again ---------------------------------------------------------------------------------


def test_a_failed_task_is_tried_again_by_another_one(stage: Stage) -> None:
    number = stage.task("Hard")
    played_by(stage, T1=ends_with(1))
    supervisor = stage.supervise(team(2))
    assert stage.ends(number) == ["failed"] * 3
    assert stage.row(number).state == "failed"
    first, second, third = stage.agents_of[number]
    assert first != second != third
    assert len(supervisor.outcomes) == 3


def test_a_rate_limit_rests_all_that_are_alike_and_is_no_attempt(stage: Stage) -> None:
    for title in ("One", "Two", "Three"):
        stage.task(title, needs=["plain"])
    other = stage.task("Four", needs=["other"])
    played_by(stage, T1=ends_with(75, is_limited=True, retry_after_s=90))
    stage.at(100_000, lambda: setattr(stage, "play", lambda played, _task: played.finish()))
    stage.supervise([*team(1), *team(1, client="other")])
    assert stage.ends(1)[0] == "limited"
    assert stage.row(1).state == "merged"
    assert [run.attempt for run in stage.runs(1)] == [1] * len(stage.runs(1))
    assert stage.runs(1)[1].started_ns - stage.runs(1)[0].ended_ns >= 90 * 10**9
    assert stage.row(other).state == "merged"
    assert any("retrying in 90 s" in text for text in stage.told(WAITS))


def test_a_limit_that_says_nothing_is_waited_for_longer_each_time(stage: Stage) -> None:
    number = stage.task("One")
    played_by(stage, T1=ends_with(75, is_limited=True))
    stage.at(10 * MINUTE_MS, stage.interrupt)
    stage.supervise(team(1))
    found = stage.runs(number)
    gaps = [(b.started_ns - a.ended_ns) // 10**9 for a, b in pairwise(found)]
    assert gaps == [30, 60, 120, 240]
    assert stage.row(number).attempt == 0


def test_an_expired_login_needs_a_person(stage: Stage) -> None:
    stage.task("One")
    played_by(stage, T1=ends_with(77, is_login=True))
    stage.at(10_000, stage.interrupt)
    stage.supervise(team(1))
    assert stage.ends(1) == ["login"]
    assert len(stage.told(NEEDS)) == 1


def test_a_program_that_is_missing_is_tried_once(stage: Stage) -> None:
    for title in ("One", "Two"):
        stage.task(title)

    def refuse(slot: Any, _task: int) -> None:
        if slot.client == "plain":
            raise FileNotFoundError(2, "no such program", "plain")

    stage.refuse = refuse
    stage.supervise([*team(1), *team(1, client="other")])
    assert [stage.row(n).state for n in (1, 2)] == ["merged", "merged"]
    assert stage.ends(1) + stage.ends(2) in (["missing", "done", "done"], ["done", "missing", "done"])
    assert stage.told(NEEDS) == ["plain is not installed"]


def refusal(code: int) -> Refusal:
    return Refusal("sample", "It cannot be.", next_="lineclear", exit_code=code)


def test_a_start_that_is_refused_is_tried_a_few_times(stage: Stage) -> None:
    number = stage.task("One")
    tries: list[int] = []

    def refuse() -> None:
        tries.append(stage.passed_ms)
        if len(tries) < 3:
            raise refusal(FAILED)

    stage.refuse_place = refuse
    stage.supervise(team(1))
    assert len(tries) == 3
    assert stage.row(number).state == "merged"


def test_a_start_that_is_always_refused_is_given_up(stage: Stage) -> None:
    number = stage.task("One")

    def refuse() -> None:
        raise refusal(FAILED)

    stage.refuse_place = refuse
    supervisor = stage.supervise(team(1))
    assert supervisor.refusal is not None
    assert len(stage.told(WARNED)) == 3
    assert (stage.row(number).state, stage.row(number).attempt) == ("open", 0)


def test_a_task_whose_means_are_spent_keeps_no_other_one_from_being_done(stage: Stage) -> None:
    first, second = stage.task("Dear"), stage.task("Cheap")
    played_by(stage, T1=lambda played: (played.signs.append(Usage(200, 0)), ends_with(1)(played)))
    supervisor = stage.supervise(team(1, limits=BudgetLimits(task_tokens=100)))
    assert len(stage.runs(first)) == 1
    assert stage.row(first).state == "open"
    assert stage.row(second).state == "merged"
    assert supervisor.refusal is not None
    assert supervisor.refusal.exit_code == BUDGET


def test_what_breaks_for_one_agent_is_said_and_the_others_go_on(stage: Stage) -> None:
    first, second = stage.task("One", needs=["bad"]), stage.task("Two", needs=["good"])

    def land(task: int) -> LandingResult:
        if task == first:
            raise RuntimeError("the roof fell in")
        return LandingResult("landed")

    stage.landed = land
    supervisor = stage.supervise([*team(1, client="bad"), *team(1, client="good")])
    assert supervisor.broken == ["end failed: RuntimeError: the roof fell in"]
    assert stage.row(first).state == "handed over"
    assert stage.row(second).state == "merged"


# -- what people ask for --------------------------------------------------------------------------


def ask(stage: Stage, what: str) -> Any:
    return lambda: records.ask(stage.store, PERSON, "plain-1", what)


def test_who_was_stopped_is_not_started_again(stage: Stage) -> None:
    number = stage.task("One")
    played_by(stage, T1=stays)
    stage.at(1_000, ask(stage, records.STOP))
    stage.supervise(team(1))
    assert stage.ends(number) == ["stopped"]
    assert (stage.row(number).state, stage.row(number).attempt) == ("open", 0)


def test_a_hard_stop_comes_at_once_also_after_a_gentle_one(stage: Stage) -> None:
    number = stage.task("One")
    played_by(stage, T1=is_deaf)
    stage.at(1_000, ask(stage, records.STOP))
    stage.at(5_000, ask(stage, records.STOP_HARD))
    stage.supervise(team(1), grace_ms=10 * MINUTE_MS)
    client = stage.client(number)
    assert client.told(signal.SIGTERM)[0] < 2_000
    assert 5_000 <= client.told(signal.SIGKILL)[0] < 6_000


def test_a_pause_does_not_use_up_time_nor_make_one_hung(stage: Stage) -> None:
    number = stage.task("One")
    played_by(stage, T1=stays)
    stage.at(1_000, ask(stage, records.PAUSE))
    stage.at(30 * MINUTE_MS, ask(stage, records.RESUME))
    stage.at(30 * MINUTE_MS + 1_000, lambda: stage.client(number).finish())
    stage.supervise(team(1, limits=BudgetLimits(run_time_ms=10_000)), silence_ms=10_000)
    assert stage.ends(number) == ["done"]
    client = stage.client(number)
    assert [sent for _, sent in client.signals] == [signal.SIGSTOP, signal.SIGCONT]


def test_a_paused_one_keeps_its_lease(stage: Stage) -> None:
    number = stage.task("One")
    played_by(stage, T1=stays)
    stage.at(1_000, ask(stage, records.PAUSE))
    stage.at(10 * MINUTE_MS, ask(stage, records.RESUME))
    stage.at(10 * MINUTE_MS + 1_000, lambda: stage.client(number).finish())
    stage.supervise(team(1), lease_ms=MINUTE_MS)
    assert stage.ends(number) == ["done"]


def test_an_interrupt_stops_all_and_starts_nobody(stage: Stage) -> None:
    for title in ("One", "Two", "Three"):
        stage.task(title)
    stage.play = lambda played, _task: None
    stage.at(1_000, stage.interrupt)
    supervisor = stage.supervise(team(2))
    assert supervisor.is_stopping
    assert stage.ends(1) + stage.ends(2) + stage.ends(3) == ["interrupted", "interrupted"]
    assert {stage.row(n).state for n in (1, 2, 3)} == {"open"}


def test_a_second_interrupt_gives_no_grace(stage: Stage) -> None:
    number = stage.task("One")
    played_by(stage, T1=is_deaf)
    stage.at(1_000, stage.interrupt)
    stage.at(3_000, stage.interrupt)
    stage.supervise(team(1), grace_ms=10 * MINUTE_MS)
    assert 3_000 <= stage.client(number).told(signal.SIGKILL)[0] < 4_000


def test_who_was_being_started_at_the_interrupt_is_stopped_as_well(stage: Stage) -> None:
    number = stage.task("One")
    stage.delays["start"] = 5_000
    played_by(stage, T1=stays)
    stage.at(1_000, stage.interrupt)
    stage.supervise(team(1))
    assert stage.ends(number) == ["interrupted"]


# -- snapshots ------------------------------------------------------------------------------------


def saves_of(stage: Stage, until_ms: int, busy: bool) -> list[int]:
    number = stage.task("One")
    played_by(stage, T1=stays)
    for ms in range(0, until_ms, 1_000):
        stage.at(ms, lambda: setattr(stage.client(number), "busy_ns", stage.client(number).busy_ns + busy))
    stage.at(until_ms, lambda: stage.client(number).finish())
    stage.supervise(team(1))
    return [at_ms for at_ms, why in stage.saves if why.endswith("at work")]


def test_who_works_is_saved_every_few_seconds(stage: Stage) -> None:
    found = saves_of(stage, MINUTE_MS, busy=True)
    gaps = [b - a for a, b in pairwise(found)]
    assert max(gaps) <= 5_000, gaps
    assert found[0] <= 5_000


def test_who_does_nothing_is_saved_now_and_then(stage: Stage) -> None:
    found = saves_of(stage, 5 * MINUTE_MS, busy=False)
    assert 2 <= len(found) <= 4


# -- after a predecessor --------------------------------------------------------------------------


def left_behind(stage: Stage, slots: Any, code: int | None) -> int:
    """A run of a supervisor that was killed; its client lives, or has ended meanwhile."""
    number = stage.task("One")
    played_by(stage, T1=stays)
    kill_supervisor(stage, 1_000, slots)
    client = stage.client(number)
    client.is_ours, client.code = False, code
    return number


def kill_supervisor(stage: Stage, at_ms: int, slots: Any) -> None:
    """It goes without a word; what it had started stays."""

    def kill() -> None:
        raise KeyboardInterrupt

    stage.at(at_ms, kill)
    with pytest.raises(KeyboardInterrupt):
        stage.supervise(slots, silence_ms=60 * MINUTE_MS)


def test_who_still_works_is_followed_to_its_end(stage: Stage) -> None:
    number = left_behind(stage, team(1), None)
    stage.at(20_000, lambda: stage.client(number).finish())
    stage.supervise(team(1))
    assert stage.ends(number) == ["done"]
    assert len(stage.clients_of[number]) == 1
    assert stage.row(number).state == "merged"


def test_pauses_under_a_predecessor_do_not_count_as_work(stage: Stage) -> None:
    number = stage.task("One")
    played_by(stage, T1=stays)
    limits = BudgetLimits(run_time_ms=2 * MINUTE_MS)
    stage.at(1_000, ask(stage, records.PAUSE))
    stage.at(10 * MINUTE_MS, ask(stage, records.RESUME))
    stage.at(11 * MINUTE_MS, ask(stage, records.PAUSE))
    kill_supervisor(stage, 20 * MINUTE_MS, team(1, limits=limits))
    stage.client(number).is_ours = False
    stage.at(30 * MINUTE_MS, ask(stage, records.RESUME))
    stage.at(30 * MINUTE_MS + 30_000, lambda: stage.client(number).finish())
    stage.supervise(team(1, limits=limits), silence_ms=60 * MINUTE_MS)
    assert stage.ends(number) == ["done"]


def test_who_ended_meanwhile_is_ended(stage: Stage) -> None:
    number = left_behind(stage, team(1), 0)
    stage.supervise(team(1))
    assert stage.ends(number) == ["done"]
    assert len(stage.clients_of[number]) == 1


def test_a_worker_that_is_no_longer_wanted_is_seen_to_its_end_and_gets_nothing_more(stage: Stage) -> None:
    number = left_behind(stage, team(1, client="old"), None)
    second = stage.task("Two")
    stage.at(20_000, lambda: stage.client(number).finish())
    stage.at(60_000, lambda: stage.client(second).finish())
    stage.play = lambda played, task: None
    third = stage.task("Three")
    stage.at(40_000, lambda: setattr(stage, "play", lambda played, _task: played.finish()))
    stage.supervise(team(1, client="new"))
    assert stage.ends(number) == ["done"]
    assert stage.agents_of == {number: ["old-1"], second: ["new-1"], third: ["new-1"]}


def test_nothing_is_started_when_what_was_left_behind_cannot_be_found(stage: Stage) -> None:
    stage.task("One")
    stage.refuse_recovery = RuntimeError("the disk is gone")
    with pytest.raises(RuntimeError, match="the disk is gone"):
        stage.supervise(team(1))
    assert stage.clients_of == {}


# -- finished work that cannot be submitted -------------------------------------------------------


def fetch_failed() -> Refusal:
    return git_failed("fetch", "error: cannot lock ref")


def test_finished_work_that_the_queue_did_not_get_is_submitted_again(stage: Stage) -> None:
    first, second = stage.task("One"), stage.task("Two")
    failures = [fetch_failed(), fetch_failed()]

    def land(_task: int) -> LandingResult:
        if failures:
            raise failures.pop()
        return LandingResult(LANDED)

    stage.landed = land
    supervisor = stage.supervise(team(1), lands=True)
    assert [stage.row(number).state for number in (first, second)] == ["merged", "merged"]
    assert supervisor.broken == []
    assert all(outcome.landing is not None for outcome in supervisor.outcomes)


def test_finished_work_that_the_queue_never_gets_is_named_at_the_end(stage: Stage) -> None:
    number = stage.task("One")

    def land(_task: int) -> LandingResult:
        raise fetch_failed()

    stage.landed = land
    supervisor = stage.supervise(team(1), lands=True)
    assert stage.row(number).state == "handed over"
    [said] = supervisor.broken
    assert said.startswith("T-1 is finished but not in the queue: ")
    assert stage.told(NEEDS) == [said]


# -- a queue in which something waits -------------------------------------------------------------


def submit(stage: Stage) -> None:
    candidates.submit(stage.store, PERSON, candidates.SubmittedBranch("branch", "tip", "base", []))


def take_turn(stage: Stage) -> int:
    """A round of the queue in a team's store, in which a candidate waits for a person."""
    seen = stage.store.read(lambda view: view.head)
    turn = Turn(stage.store, stage.liveness, Caller("queue@here"), lambda: 0.0)
    turn.claim("")
    turn.give_back()
    return seen


def test_a_candidate_that_waits_for_a_person_does_not_keep_the_queue_running(stage: Stage) -> None:
    submit(stage)
    stage.run_queue = lambda: take_turn(stage)
    # Another machine takes its turn, too; that is no news either. What a person does is.
    stage.at(10_000, lambda: take_turn(stage))
    stage.at(20_000, lambda: stage.task("News"))
    stage.at(30_000, stage.interrupt)
    stage.supervise(team(1), lands=True, is_staying=True)
    assert stage.queue_runs[0] == 0
    assert stage.queue_runs[-1] >= 20_000
    assert [ms for ms in stage.queue_runs if 0 < ms < 20_000] == []


def test_a_queue_that_another_process_ran_is_tried_again_though_the_log_is_silent(stage: Stage) -> None:
    submit(stage)
    stage.run_queue = lambda: None
    stage.at(21_000, stage.interrupt)
    stage.supervise(team(1), lands=True, is_staying=True)
    # Every five seconds: the end of the other's lease is no event.
    assert len(stage.queue_runs) == 5, stage.queue_runs


def test_a_queue_that_failed_is_tried_again_and_one_that_always_fails_is_named(stage: Stage) -> None:
    submit(stage)

    def fail() -> int:
        raise fetch_failed()

    def recover() -> int:
        if len(stage.queue_runs) < 3:
            fail()
        candidates.drop(stage.store, PERSON, 1, "done")
        return stage.store.read(lambda view: view.head)

    stage.run_queue = recover
    stage.supervise(team(1), lands=True)
    assert len(stage.queue_runs) == 3
    assert len(stage.told(NEEDS)) == 1  # the same words once
    stage.queue_runs.clear()
    submit(stage)
    stage.run_queue = fail
    stage.supervise(team(1), lands=True)
    assert stage.store.read(candidates.why_waiting) == ["Q-2 (branch) waits"]
    assert 2 < len(stage.queue_runs) < 20
