"""Tokens become money only when both the tokens and the price are known."""

from __future__ import annotations

import pytest

from lineclear.core.runs.money import Price
from lineclear.core.runs.prices import cost_micros

PRICE = Price("m-1", 3_000_000, 15_000_000, 300_000)


def cost(
    told: int = -1, read: int = 0, written: int = 0, cached: int = -1, price: Price | None = PRICE
) -> int:
    return cost_micros(
        told_micros=told, tokens_in=read, tokens_out=written, tokens_cached=cached, price=price
    )


def test_what_the_client_told_is_taken() -> None:
    assert cost(told=42, read=1_000_000) == 42
    assert cost(told=0, read=1_000_000) == 0


def test_the_price_is_for_a_million_tokens() -> None:
    assert cost(read=1_000_000, written=1_000_000) == 18_000_000


def test_cached_tokens_are_part_of_the_input_and_cost_less() -> None:
    assert cost(read=1_000_000, cached=1_000_000) == 300_000
    assert cost(read=10, cached=4) == 6 * 3 + 2


def test_more_cached_than_read_is_not_believed() -> None:
    assert cost(read=1_000_000, cached=2_000_000) == 300_000


@pytest.mark.parametrize(("read", "written"), [(-1, 5), (5, -1), (-1, -1)])
def test_unknown_tokens_are_not_free(read: int, written: int) -> None:
    assert cost(read=read, written=written) == -1


def test_without_a_price_nothing_is_known() -> None:
    assert cost(read=5, written=5, price=None) == -1
