"""Money in whole micros: no amount is changed by reading, writing or adding up."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.runs.money import LARGEST_MICROS, Price, micros_of_float, parse_money, write_money
from lineclear.core.words.refusals import Refusal

AMOUNTS = st.integers(0, LARGEST_MICROS)
TOKENS = st.integers(0, 10**10)


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("0", 0),
        ("2", 2_000_000),
        ("2.5", 2_500_000),
        (" $0.05 ", 50_000),
        ("0.000001", 1),
        ("007.10", 7_100_000),
    ],
)
def test_an_amount_is_read(text: str, micros: int) -> None:
    assert parse_money(text) == micros


@pytest.mark.parametrize(
    "text", ["", "$", ".5", "1.", "-1", "1e3", "1,5", "0.0000001", "٣", "1" * 40, "2 USD"]
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="write US dollars like"):
        parse_money(text)


def test_an_amount_out_of_its_bounds_is_refused_with_the_bound() -> None:
    with pytest.raises(Refusal, match=r"the minimum is 0\.01"):
        parse_money("0", least_micros=10_000)
    with pytest.raises(Refusal, match=r"the maximum is 1\.00"):
        parse_money("1.000001", most_micros=1_000_000)


@pytest.mark.parametrize(
    ("dollars", "micros"),
    [(0.3, 300_000), (0.1 + 0.2, None), (1e-7, None), (float("inf"), None), (-1.0, None)],
)
def test_a_fraction_counts_only_when_six_decimals_hold_it(dollars: float, micros: int | None) -> None:
    assert micros_of_float(dollars) == micros


@given(AMOUNTS)
def test_a_written_amount_reads_back_as_the_same(micros: int) -> None:
    assert parse_money(write_money(micros)) == micros


@given(st.integers(0, 10**12))
def test_a_price_written_as_a_fraction_is_the_one_that_was_meant(micros: int) -> None:
    assert micros_of_float(float(f"{micros // 10**6}.{micros % 10**6:06d}")) == micros


@given(TOKENS, TOKENS, TOKENS, st.tuples(*[st.integers(0, 10**9)] * 3))
def test_a_cost_is_exact_but_for_the_last_micro_which_is_rounded_up(
    tokens_in: int, tokens_out: int, cached: int, prices: tuple[int, int, int]
) -> None:
    price = Price("m", prices[0], prices[1], prices[2])
    exact = Fraction(tokens_in * prices[0] + tokens_out * prices[1] + cached * prices[2], 1_000_000)
    cost = price.cost_micros(tokens_in=tokens_in, tokens_out=tokens_out, tokens_cached=cached)
    assert 0 <= cost - exact < 1


def test_a_million_tokens_cost_their_price() -> None:
    price = Price("m", 3_000_000, 15_000_000, 300_000)
    assert price.cost_micros(tokens_in=10**6, tokens_out=10**6, tokens_cached=10**6) == 18_300_000
