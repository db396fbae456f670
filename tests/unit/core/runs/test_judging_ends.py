"""How a run ended, told from what is known: each rule, and which one comes first."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.core.runs import ends
from lineclear.core.runs.judging_ends import MOST_REASON_CHARS, STOPS, EndFacts, judge, signal_of
from lineclear.core.runs.outputs import CHECK, Problem, conclude

MIB = 1 << 20

# The facts, how it ended, the reason.
TABLE: list[tuple[dict[str, Any], str, str]] = [
    ({"exit_code": 0}, ends.DONE, "it ended well"),
    ({"exit_code": 0, "end_ok": True}, ends.DONE, "it ended well"),
    ({"exit_code": None, "end_ok": True}, ends.DONE, "it ended well"),
    ({"exit_code": 0, "end_ok": True, "has_stream": True, "lines_unread": 3}, ends.DONE, "it ended well"),
    ({"exit_code": 0, "has_stream": True, "lines_read": 9, "lines_unread": 3}, ends.DONE, "it ended well"),
    ({"exit_code": 0, "end_ok": True, "is_limited": True}, ends.DONE, "it ended well"),
    ({"exit_code": 0, "end_ok": True, "is_disk_full": True}, ends.DONE, "it ended well"),
    ({"exit_code": 0, "peak_memory_bytes": 9, "memory_limit_bytes": 5}, ends.DONE, "it ended well"),
    ({"exit_code": 0, "oom_kills": 1}, ends.DONE, "it ended well"),
    # -- what we did, or could not do
    (
        {"start_error": "No such file or directory", "program": "codex"},
        ends.MISSING,
        "codex could not be started: No such file or directory",
    ),
    ({"stopped_by": "person", "exit_code": 143}, ends.STOPPED, "a person stopped it"),
    (
        {"stopped_by": "person", "detail": "sam: wrong branch", "exit_code": 0, "end_ok": True},
        ends.STOPPED,
        "a person stopped it: sam: wrong branch",
    ),
    (
        {"stopped_by": "supervisor-interrupt", "exit_code": -15},
        ends.INTERRUPTED,
        "the supervisor was stopped while it was working",
    ),
    (
        {"stopped_by": "hang", "detail": "12 min", "exit_code": -9},
        ends.HUNG,
        "it gave no output, did no work and changed no file for too long: 12 min",
    ),
    (
        {"stopped_by": "loop", "detail": "the same call 12 times in a row: shell pytest", "exit_code": -15},
        ends.LOOPED,
        "it kept repeating itself: the same call 12 times in a row: shell pytest",
    ),
    ({"stopped_by": "budget:time", "exit_code": -15}, ends.BUDGET, "it used up its budget: time"),
    (
        {"stopped_by": "budget:time", "detail": "run time: used 2 h 1 min, allowed 2 h"},
        ends.BUDGET,
        "it used up its budget: run time: used 2 h 1 min, allowed 2 h",
    ),
    ({"stopped_by": "memory", "exit_code": -9}, ends.MEMORY, "it used more memory than allowed"),
    ({"stopped_by": "disk", "exit_code": -9}, ends.DISK, "it filled the disk"),
    ({"stopped_by": "lost"}, ends.LOST, "its lease on the task had passed to another agent"),
    (
        {"stopped_by": "strayed", "detail": "it removed .git"},
        ends.STRAYED,
        "it left its worktree or branch: it removed .git",
    ),
    ({"stopped_by": "aliens", "exit_code": 0}, ends.FAILED, "it was stopped (aliens)"),
    # A client whose server is away is silent for long.
    (
        {"stopped_by": "hang", "is_limited": True, "end_reason": "429 Too Many Requests"},
        ends.LIMITED,
        "the model's server was over its limit or unavailable: 429 Too Many Requests",
    ),
    (
        {"stopped_by": "hang", "is_login": True, "program": "claude"},
        ends.LOGIN,
        "claude is not logged in, or its login has expired",
    ),
    ({"stopped_by": "person", "is_limited": True}, ends.STOPPED, "a person stopped it"),
    # -- where it went
    (
        {"exit_code": 0, "end_ok": True, "is_worktree_gone": True},
        ends.STRAYED,
        "its worktree was gone when it ended",
    ),
    (
        {"exit_code": 0, "end_ok": True, "main_moved_to": "1f2e3d4"},
        ends.STRAYED,
        "it moved main itself, to 1f2e3d4; main was put back",
    ),
    ({"exit_code": 1, "head_moved_to": "feature/x"}, ends.STRAYED, "it left its branch for feature/x"),
    # -- causes outside the client
    ({"is_rebooted": True}, ends.INTERRUPTED, "the machine restarted while it was working"),
    ({"is_rebooted": True, "end_ok": True}, ends.DONE, "it ended well"),
    (
        {"is_rebooted": True, "end_ok": False},
        ends.INTERRUPTED,
        "the machine restarted while it was working",
    ),
    ({"is_rebooted": True, "exit_code": 1}, ends.FAILED, "it ended with an error (exit code 1)"),
    (
        {"exit_code": 127, "program": "gemini", "last_words": "sh: 1: gemini: not found\n"},
        ends.MISSING,
        'gemini is not installed; it last said "sh: 1: gemini: not found"',
    ),
    ({"exit_code": 126}, ends.MISSING, "its program cannot be run"),
    (
        {"exit_code": 127, "lines_read": 40, "has_stream": True},
        ends.FAILED,
        "it ended with an error (exit code 127)",
    ),
    (
        {"exit_code": -9, "oom_kills": 1, "peak_memory_bytes": 700 * MIB},
        ends.MEMORY,
        "the system had no memory left and killed it (700 MiB)",
    ),
    (
        {"exit_code": 137, "oom_kills": 2, "end_ok": False},
        ends.MEMORY,
        "the system had no memory left and killed it",
    ),
    (
        {"exit_code": 1, "peak_memory_bytes": 513 * MIB, "memory_limit_bytes": 512 * MIB},
        ends.MEMORY,
        "it used more memory than allowed (513 MiB of 512 MiB)",
    ),
    (
        {"exit_code": 134, "last_words": "FATAL ERROR: JavaScript heap out of memory"},
        ends.MEMORY,
        'it ran out of memory; it last said "FATAL ERROR: JavaScript heap out of memory"',
    ),
    (
        {"exit_code": 1, "last_words": "pytest: MemoryError in test_x"},
        ends.FAILED,
        'it ended with an error (exit code 1); it last said "pytest: MemoryError in test_x"',
    ),
    (
        {"exit_code": 1, "last_words": "write: No space left on device"},
        ends.DISK,
        'the disk was full; it last said "write: No space left on device"',
    ),
    ({"exit_code": 2, "is_disk_full": True}, ends.DISK, "the disk was full"),
    (
        {
            "exit_code": 1,
            "end_ok": False,
            "is_login": True,
            "end_reason": "401 Unauthorized",
            "program": "codex",
        },
        ends.LOGIN,
        "codex is not logged in, or its login has expired: 401 Unauthorized",
    ),
    (
        {"exit_code": 1, "end_ok": False, "is_limited": True, "last_words": "Overloaded"},
        ends.LIMITED,
        'the model\'s server was over its limit or unavailable; it last said "Overloaded"',
    ),
    (
        {"exit_code": 0, "is_limited": True},
        ends.LIMITED,
        "the model's server was over its limit or unavailable",
    ),
    # -- the client itself
    ({"exit_code": -11}, ends.CRASHED, "SIGSEGV ended it"),
    ({"exit_code": 139}, ends.CRASHED, "SIGSEGV ended it"),
    ({"exit_code": -9, "end_ok": False}, ends.CRASHED, "SIGKILL ended it"),
    ({"exit_code": -31}, ends.CRASHED, "signal 31 ended it"),
    ({"exit_code": 143}, ends.CRASHED, "SIGTERM ended it"),
    (
        {"exit_code": -11, "end_ok": False, "end_reason": "codex was ended by signal 11"},
        ends.CRASHED,
        "SIGSEGV ended it: codex was ended by signal 11",
    ),
    ({}, ends.CRASHED, "it was gone without having reported its end"),
    (
        {"end_ok": False, "end_reason": "how it ended is unknown"},
        ends.CRASHED,
        "it was gone without having reported its end: how it ended is unknown",
    ),
    (
        {"exit_code": 0, "end_ok": False, "end_reason": "max turns reached"},
        ends.FAILED,
        "it ended with an error: max turns reached",
    ),
    ({"exit_code": 0, "end_ok": False}, ends.FAILED, "it ended with an error"),
    (
        {"exit_code": 3, "end_ok": False, "last_words": "one\ntwo\n\n"},
        ends.FAILED,
        'it ended with an error; it last said "two"',
    ),
    ({"exit_code": 3, "end_ok": True}, ends.FAILED, "it ended with an error (exit code 3)"),
    ({"exit_code": 255}, ends.FAILED, "it ended with an error (exit code 255)"),
    (
        {"exit_code": 0, "has_stream": True, "lines_unread": 40, "program": "codex"},
        ends.FAILED,
        "it wrote 40 lines that are not in the format of codex",
    ),
    ({"exit_code": 0, "has_stream": True}, ends.FAILED, "it ended without any output"),
]


@pytest.mark.parametrize(("facts", "how", "reason"), TABLE)
def test_the_end_is_named(facts: dict[str, Any], how: str, reason: str) -> None:
    assert judge(EndFacts(**facts)) == (how, reason)


def test_every_end_that_a_run_can_have_is_reached() -> None:
    reached = {how for _, how, _ in TABLE} | {conclude([Problem(CHECK, "x")])[0]}
    assert reached == set(ends.ENDS)


def test_all_reasons_to_stop_are_in_the_table() -> None:
    assert {facts["stopped_by"].partition(":")[0] for facts, *_ in TABLE if "stopped_by" in facts} >= set(
        STOPS
    )


@pytest.mark.parametrize("how", [ends.LIMITED, ends.LOGIN, ends.INTERRUPTED, ends.STOPPED, ends.LOST])
def test_what_says_nothing_against_the_work_is_no_attempt(how: str) -> None:
    assert not ends.counts_as_attempt(how)


def test_long_and_hostile_words_stay_on_one_bounded_line() -> None:
    long = "x\n\x1b[31m`# Heading" * 500
    for field in ("detail", "start_error", "end_reason", "last_words", "head_moved_to", "program"):
        for stopped_by in ("", "loop"):
            given: dict[str, Any] = {"exit_code": 1, "stopped_by": stopped_by, field: long}
            how, reason = judge(EndFacts(**given))
            assert how in ends.ENDS
            assert len(reason) <= MOST_REASON_CHARS
            assert reason.isprintable()


@pytest.mark.parametrize(
    ("exit_code", "number"),
    [(None, 0), (0, 0), (1, 0), (128, 0), (129, 1), (192, 64), (193, 0), (255, 0), (-9, 9), (-65, 0)],
)
def test_a_signal_is_told_from_an_exit_code(exit_code: int | None, number: int) -> None:
    assert signal_of(exit_code) == number
