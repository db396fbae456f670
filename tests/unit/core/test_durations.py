"""Durations as people write them, and as we show them."""

from __future__ import annotations

import pytest

from lineclear.core.durations import DAY_MS, HOUR_MS, LONGEST_MS, MINUTE_MS, parse_duration
from lineclear.core.instants import show_duration
from lineclear.core.words.refusals import Refusal


@pytest.mark.parametrize(
    ("text", "expected_ms"),
    [
        ("90", 90_000),
        ("90s", 90_000),
        ("30m", 30 * MINUTE_MS),
        ("2h", 2 * HOUR_MS),
        ("1d", DAY_MS),
        ("1h30m", 90 * MINUTE_MS),
        ("1d2h3m4s5ms", DAY_MS + 2 * HOUR_MS + 3 * MINUTE_MS + 4_005),
        ("500ms", 500),
        ("1.5h", 90 * MINUTE_MS),
        ("1h1.5m", HOUR_MS + 90_000),
        ("0.1", 100),
        ("0", 0),
        ("007s", 7_000),
        (" 5m ", 5 * MINUTE_MS),
        ("1.9999s", 1_999),
    ],
)
def test_a_duration_is_read_to_the_millisecond(text: str, expected_ms: int) -> None:
    assert parse_duration(text) == expected_ms


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "s", ".", "1.", ".5s", "1..5s", "1.2.3", "5x", "5 m", "5M", "5sec", "five", "1e3", "+5"),
        *("1m1h", "1h1h", "1h30", "1.5h30m", "h1", "1h-5m", "٥m", "²s", "1\0", "inf", "nan", "0x10", "1_000"),
    ],
)
def test_nonsense_is_refused_with_the_way_to_write_it(text: str) -> None:
    with pytest.raises(Refusal, match="write it like") as caught:
        parse_duration(text)
    assert caught.value.facts["name"] == "duration"


def test_a_negative_duration_is_refused_as_such() -> None:
    with pytest.raises(Refusal, match="must not be negative"):
        parse_duration("-5m")


def test_the_callers_bounds_are_inclusive_and_named() -> None:
    bounds = {"least_ms": 1_000, "most_ms": HOUR_MS}
    assert parse_duration("1s", **bounds) == 1_000
    assert parse_duration("60m", **bounds) == HOUR_MS
    with pytest.raises(Refusal, match="the minimum is 1 s"):
        parse_duration("999ms", **bounds)
    with pytest.raises(Refusal, match="the maximum is 1 h"):
        parse_duration("1h1ms", **bounds)


@pytest.mark.parametrize("text", ["9" * 31, "9" * 20 + "d", "3651d"])
def test_more_than_a_clock_can_hold_is_refused(text: str) -> None:
    assert parse_duration("3650d") == LONGEST_MS
    with pytest.raises(Refusal, match="the maximum is 3650 d"):
        parse_duration(text)


def test_an_endless_number_is_refused_without_computing_it() -> None:
    with pytest.raises(Refusal):
        parse_duration("9" * 1_000_000)


@pytest.mark.parametrize(
    ("duration_ms", "expected"),
    [
        (12 * MINUTE_MS, "12 min"),
        (45_000, "45 s"),
        (2 * HOUR_MS + 5 * MINUTE_MS, "2 h 5 min"),
        (3 * DAY_MS, "3 d"),
        (3 * DAY_MS + 4 * HOUR_MS + 5 * MINUTE_MS, "3 d 4 h"),
        (DAY_MS + 59 * MINUTE_MS, "1 d"),
        (90_000, "1 min 30 s"),
        (59_999, "59 s"),
        (1_000, "1 s"),
        (999, "999 ms"),
        (1, "1 ms"),
        (0, "0 s"),
        (-5_000, "0 s"),
    ],
)
def test_a_duration_is_shown_by_its_two_largest_units(duration_ms: int, expected: str) -> None:
    assert show_duration(duration_ms) == expected
