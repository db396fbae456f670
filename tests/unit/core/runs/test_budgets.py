"""Limits are kept by what is known; what is unknown is never taken for nothing."""

from __future__ import annotations

import pytest

from lineclear.core.runs.budgets import (
    Amount,
    Breach,
    BudgetLimits,
    Used,
    breaches,
    needs_price,
    show_amount,
    show_bytes,
    show_money,
    show_tokens,
    spent,
    total,
)

MINUTE_MS = 60_000
S = 1_000_000_000
ALL = BudgetLimits(
    run_time_ms=120 * MINUTE_MS,
    run_tokens=1_000,
    run_money_micros=5_000_000,
    run_memory_bytes=1 << 30,
    task_tokens=3_000,
    task_money_micros=9_000_000,
    day_tokens=10_000,
    day_money_micros=20_000_000,
)


@pytest.mark.parametrize(
    ("used", "words"),
    [
        (Used(run_time_ms=121 * MINUTE_MS), "run time: used 2 h 1 min, allowed 2 h"),
        (Used(run_tokens=1_001), "run tokens: used 1,001 tokens, allowed 1,000 tokens"),
        (Used(run_money_micros=5_120_000), "run money: used $5.12, allowed $5.00"),
        (Used(run_memory_bytes=(1 << 30) + (200 << 20)), "run memory: used 1.1 GiB, allowed 1.0 GiB"),
        (Used(task_tokens=Amount(3_001)), "task tokens: used 3,001 tokens, allowed 3,000 tokens"),
        (Used(task_money_micros=Amount(9_500_000, 1)), "task money: used at least $9.50, allowed $9.00"),
        (Used(day_tokens=Amount(10_001)), "day tokens: used 10,001 tokens, allowed 10,000 tokens"),
        (Used(day_money_micros=Amount(20_500_000)), "day money: used $20.50, allowed $20.00"),
    ],
)
def test_each_limit_is_named_with_what_was_used_and_allowed(used: Used, words: str) -> None:
    assert [breach.words() for breach in breaches(used, ALL)] == [words]
    assert breaches(used, BudgetLimits()) == []


def test_using_exactly_what_is_allowed_breaks_nothing() -> None:
    used = Used(
        run_time_ms=ALL.run_time_ms,
        run_tokens=ALL.run_tokens,
        run_money_micros=ALL.run_money_micros,
        run_memory_bytes=ALL.run_memory_bytes,
        task_tokens=Amount(ALL.task_tokens),
        day_money_micros=Amount(ALL.day_money_micros),
    )
    assert breaches(used, ALL) == []


def test_what_nobody_told_breaks_no_limit() -> None:
    used = Used(run_time_ms=0, run_memory_bytes=0, task_money_micros=Amount(2_000_000, 2))
    assert breaches(used, ALL) == []


def test_the_run_itself_is_named_before_the_day() -> None:
    used = Used(run_tokens=50_000, day_tokens=Amount(60_000))
    assert [(found.of, found.what) for found in breaches(used, ALL)] == [("run", "tokens"), ("day", "tokens")]


def test_no_run_begins_when_nothing_is_left_of_the_day_or_the_task() -> None:
    used = Used(day_tokens=Amount(10_000), task_money_micros=Amount(8_999_999), run_tokens=5_000)
    assert spent(used, ALL) == [Breach("day", "tokens", Amount(10_000), 10_000)]


def test_parts_that_nobody_told_are_counted_not_added() -> None:
    assert total([5, -1, 7, -1]) == Amount(12, 2)
    assert total([]) == Amount(0, 0)
    assert Amount(1, 1) + Amount(2, 0) == Amount(3, 1)
    assert show_amount("money", Amount(0, 1)) == "unknown"
    assert show_amount("money", Amount(0, 0)) == "$0.00"
    assert show_amount("tokens", Amount(1, 3)) == "at least 1 token"


@pytest.mark.parametrize("field", ["run_money", "task_money", "day_money"])
def test_a_limit_on_money_needs_a_price(field: str) -> None:
    limits = BudgetLimits(**{f"{field}_micros": 2_500_000})
    refusal = needs_price("writer", "large-2", limits, is_cost_known=False)
    assert refusal is not None
    assert (refusal.code, refusal.exit_code) == ("budget.price", 9)
    assert f"budgets.{field} allows $2.50" in str(refusal)
    assert needs_price("writer", "large-2", limits, is_cost_known=True) is None


def test_without_a_limit_on_money_no_price_is_needed() -> None:
    assert needs_price("writer", "", BudgetLimits(run_tokens=5, run_time_ms=5), is_cost_known=False) is None


@pytest.mark.parametrize(
    ("micros", "shown"),
    [
        (-1, "unknown"),
        (0, "$0.00"),
        (1, "$0.000001"),
        (4_200, "$0.0042"),
        (10_000, "$0.01"),
        (420_000, "$0.42"),
        (424_999, "$0.42"),
        (425_000, "$0.43"),
        (1_234_567_890_000, "$1,234,567.89"),
    ],
)
def test_money_is_shown_to_the_cent(micros: int, shown: str) -> None:
    assert show_money(micros) == shown


def test_tokens_and_sizes_are_shown_for_reading() -> None:
    assert [show_tokens(count) for count in (-1, 0, 1, 12_345)] == [
        "unknown", "0 tokens", "1 token", "12,345 tokens",
    ]  # fmt: skip
    assert [show_bytes(size) for size in (-1, 0, 1_023, 1_024, 512 << 20, 3 << 29, 40 << 30)] == [
        "unknown", "0 B", "1023 B", "1.0 KiB", "512 MiB", "1.5 GiB", "40 GiB",
    ]  # fmt: skip
