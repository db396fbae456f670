"""Circles are named, work is left alone: labelled sequences of calls, and the edges of each rule."""

from __future__ import annotations

import pytest

from lineclear.core.runs import loops
from lineclear.core.runs.loops import BACK_AND_FORTH, NO_CHANGE, SAME_CALL, LoopWatch
from tests.call_sequences import Case, all_cases, play

CASES = all_cases()
HEALTHY = [case for case in CASES if case.expect == "healthy"]
LOOPING = [case for case in CASES if case.expect != "healthy"]


def named(cases: list[Case]) -> list[object]:
    return [pytest.param(case, id=case.name) for case in cases]


def test_there_are_enough_sequences_of_both_kinds() -> None:
    assert len(HEALTHY) >= 20
    assert len(LOOPING) >= 20
    assert {case.expect for case in LOOPING} == {SAME_CALL, NO_CHANGE, BACK_AND_FORTH}
    assert all(case.name.startswith("healthy/") == (case.expect == "healthy") for case in CASES)


@pytest.mark.parametrize("case", named(HEALTHY))
def test_no_prefix_of_healthy_work_is_called_a_loop(case: Case) -> None:
    watch = LoopWatch()
    for line in case.lines:
        play(watch, line)
        assert watch.verdict() == "", f"{case.title}: after {watch.calls} calls"


@pytest.mark.parametrize("case", named(LOOPING))
def test_a_loop_is_named_in_time_and_stays_named(case: Case) -> None:
    watch = LoopWatch()
    lines = iter(case.lines)
    for line in lines:
        play(watch, line)
        if watch.verdict():
            break
    assert (watch.pattern, watch.calls) == (case.expect, case.after), watch.verdict()
    words = watch.verdict()
    assert 0 < len(words) <= 240
    for line in lines:
        play(watch, line)
        assert (watch.verdict(), watch.pattern) == (words, case.expect)


def repeat(
    watch: LoopWatch, count: int, *, tool: str = "shell", digest: str = "d", result: str = "r"
) -> None:
    for _ in range(count):
        watch.call(tool, digest, is_shell=tool == "shell", summary="pytest -q")
        watch.result(True, result)


def test_the_words_name_the_call_and_the_count() -> None:
    watch = LoopWatch()
    repeat(watch, loops.SAME_IN_A_ROW - 1)
    assert watch.verdict() == ""
    repeat(watch, 1)
    assert watch.verdict() == "the same call with the same result 12 times in a row: shell pytest -q"


def test_the_tool_is_named_once() -> None:
    watch = LoopWatch()
    for _ in range(loops.SAME_IN_A_ROW):
        watch.call("Read", "d", ("a.py",), summary="Read a.py")
        watch.result(True, "r")
    assert watch.verdict().endswith(" in a row: Read a.py")


def test_another_result_begins_the_row_anew() -> None:
    watch = LoopWatch()
    repeat(watch, loops.SAME_IN_A_ROW - 1)
    repeat(watch, 1, result="other")
    repeat(watch, loops.SAME_IN_A_ROW - 1)
    assert watch.verdict() == ""


def test_success_and_failure_with_the_same_words_are_two_results() -> None:
    watch = LoopWatch()
    for turn in range(40):
        watch.call("shell", "d")
        watch.result(turn % 11 == 0, "r")
    assert watch.verdict() == ""


def test_new_content_begins_the_row_anew_but_known_content_does_not() -> None:
    watch = LoopWatch()
    watch.tree("a")
    repeat(watch, loops.SAME_IN_A_ROW - 1)
    watch.tree("b")
    repeat(watch, loops.SAME_IN_A_ROW - 1)
    assert watch.verdict() == ""
    watch.tree("a")
    repeat(watch, 1)
    assert watch.pattern == SAME_CALL


def test_the_first_content_is_no_change() -> None:
    watch = LoopWatch()
    repeat(watch, loops.SAME_IN_A_ROW - 1)
    watch.tree("a")
    repeat(watch, 1)
    assert watch.pattern == SAME_CALL


def test_content_that_stays_is_no_return() -> None:
    watch = LoopWatch()
    for _ in range(100):
        watch.tree("a")
        watch.tree("")
    assert watch.verdict() == ""


def test_answers_find_their_calls_by_the_input_in_any_order() -> None:
    watch = LoopWatch()
    for turn in range(40):
        watch.call("read", "one")
        watch.call("read", "two")
        first, second = ("one", "two") if turn % 2 else ("two", "one")
        watch.result(True, f"result of {first}", first)
        watch.result(True, f"result of {second}", second)
    assert watch.pattern == NO_CHANGE
    assert "only 2 of them different" in watch.verdict()


def test_an_answer_to_nothing_is_passed_over() -> None:
    watch = LoopWatch()
    for _ in range(100):
        watch.result(False, "r")
        watch.result(False, "r", "unheard of")
    assert (watch.verdict(), watch.calls) == ("", 0)


def test_a_good_edit_of_the_file_forgives_the_failed_ones() -> None:
    watch = LoopWatch()
    for turn in range(10):
        for _ in range(loops.SAME_FAILED_EDIT - 1):
            watch.call("edit", "wrong", ("a.py",), is_edit=True)
            watch.result(False, "not found")
        watch.call("edit", f"right {turn}", ("a.py",), is_edit=True)
        watch.result(True, "edited")
    assert watch.verdict() == ""


def test_a_failed_edit_that_sleeps_in_its_text_is_an_edit_all_the_same() -> None:
    watch = LoopWatch()
    for _ in range(loops.SAME_FAILED_EDIT):
        watch.call("patch", "wait:1234", ("a.py",), is_edit=True)
        watch.result(False, "not found")
    assert watch.pattern == SAME_CALL


def test_a_good_edit_that_sleeps_in_its_text_has_no_more_patience_than_others() -> None:
    watch = LoopWatch()
    for _ in range(loops.SAME_GOOD_EDIT):
        watch.call("patch", "wait:1234", ("a.py",), is_edit=True)
        watch.result(True, "edited")
    assert watch.pattern == SAME_CALL


def test_the_words_of_an_agent_are_bounded_and_on_one_line() -> None:
    watch = LoopWatch()
    for _ in range(20):
        watch.call("x" * 5_000, "d" * 5_000, ("p" * 9_000,) * 500, summary="a\nb\x1b[31m" * 3_000)
        watch.result(True, "r" * 5_000)
    assert len(watch.verdict()) <= 240
    assert watch.verdict().isprintable()
