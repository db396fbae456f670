"""Calls and results that mean the same have one digest; those that do not, have two."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.core.runs.digests import MOST_CHARS, WAITING, normal_digest, normal_result

NESTED: Any = "deep"
for _ in range(2_000):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"command": "pytest  -q"}, {"command": " pytest -q\n"}),
        (
            {"command": "ls", "description": "List files"},
            {"command": "ls", "description": "See what is there"},
        ),
        ({"command": "ls", "timeout": 1_000}, {"timeout": 2_000, "command": "ls"}),
        ({"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1}),
        ({"command": "echo 2026-01-01T10:00:00Z"}, {"command": "echo 2026-01-02 11:30:59.123+02:00"}),
        ({"command": "echo 10:00:00"}, {"command": "echo 10:00:01"}),
        ({"command": "touch /x/1767268800"}, {"command": "touch /x/1767268801123"}),
        (
            {"id": "6f1e2d3c-0000-4000-8000-1234567890ab"},
            {"id": "00000000-1111-2222-3333-444444444444"},
        ),
    ],
)
def test_what_carries_no_meaning_makes_no_difference(first: Any, second: Any) -> None:
    assert normal_digest("shell", first) == normal_digest("shell", second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"command": "pytest -q"}, {"command": "pytest -x"}),
        ({"path": "a.py", "offset": 1}, {"path": "a.py", "offset": 2}),
        ({"path": "a.py", "flag": True}, {"path": "a.py", "flag": False}),
        ({"new": "timeout = 5s"}, {"new": "timeout = 10s"}),
        ({"title": "x", "description": "one"}, {"title": "x", "description": "two"}),
        ({"a": "1"}, {"a": "2"}),
        ({"a": None}, {}),
        ("one", "two"),
    ],
)
def test_what_is_meant_makes_a_difference(first: Any, second: Any) -> None:
    assert normal_digest("tool", first) != normal_digest("tool", second)


def test_the_tool_is_part_of_the_call() -> None:
    assert normal_digest("read", {"path": "a"}) != normal_digest("delete", {"path": "a"})


def test_results_that_differ_in_times_alone_are_one() -> None:
    assert normal_result("1 failed in 0.31s") == normal_result("1 failed  in 12.4 seconds")
    assert normal_result("at 0x7f3a2b1c44d0") == normal_result("at 0x7f3a2b1c9999")
    assert normal_result("1 failed in 0.31s") != normal_result("2 failed in 0.31s")
    assert normal_result("[12/300] compiling") != normal_result("[13/300] compiling")


@pytest.mark.parametrize(
    ("tool", "given", "waits"),
    [
        ("shell", {"command": "sleep 5 && ls"}, True),
        ("shell", {"command": "make; sleep 1"}, True),
        ("shell", {"command": ["bash", "-lc", "sleep 5"]}, True),
        ("shell", {"command": "until nc -z localhost 80; do :; done"}, True),
        ("shell", {"command": "lineclear claim a.py --wait 60s"}, True),
        ("shell", "sleep 3", True),
        ("BashOutput", {"bash_id": "1"}, True),
        ("mcp__lineclear__wait", {}, True),
        ("shell", {"command": "pytest -q"}, False),
        ("shell", {"command": "cat src/sleepy.py"}, False),
        ("shell", {"command": "timeout 60 pytest"}, False),
        ("read", {"path": "sleep 5"}, False),
        ("shell", {"command": 7}, False),
    ],
)
def test_a_call_that_waits_is_marked(tool: str, given: Any, waits: bool) -> None:
    assert normal_digest(tool, given).startswith(WAITING) is waits


LINES = [f"test {number} passed in 0.1s" for number in range(MOST_CHARS)]


def test_a_long_result_is_known_by_its_ends_and_its_lines() -> None:
    text = "\n".join(LINES)
    slower = "\n".join([*LINES[:-9_000], "test 7384 passed in 12.75s", *LINES[-8_999:]])
    assert normal_result(text) == normal_result(slower)
    assert normal_result(text) != normal_result("\n".join([*LINES[:-9_000], *LINES[-8_999:]]))
    assert normal_result(text) != normal_result(text + "\n1 failed")
    assert normal_result(text) != normal_result("E" + text)


def test_a_long_input_is_known_to_the_last_letter() -> None:
    text = "\n".join(LINES)
    other = "\n".join([*LINES[:-9_000], "test 7384 PASSED in 0.1s", *LINES[-8_999:]])
    assert normal_digest("write", {"content": text}) == normal_digest("write", {"content": text})
    assert normal_digest("write", {"content": text}) != normal_digest("write", {"content": other})


ODD = [None, 3.5, object, {1: {2: 3}}, NESTED, "\ud800", b"\xff", float("nan"), {"a": {1}}, [10**5_000]]


@pytest.mark.parametrize("given", ODD)
def test_whatever_a_client_sends_has_a_digest(given: Any) -> None:
    assert normal_digest("tool", given) == normal_digest("tool", given)
