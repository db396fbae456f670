"""Tokens to money. An unknown amount stays unknown: it never counts as zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineclear.core.runs.money import Price

UNKNOWN = -1


def cost_micros(
    *, told_micros: int, tokens_in: int, tokens_out: int, tokens_cached: int, price: Price | None
) -> int:
    """The cost of a run: as the client reported it, else by the price; -1 if neither is known.

    `tokens_in` is the whole input; `tokens_cached` of it (none, if unknown) have the lower price.
    """
    if told_micros >= 0:
        return told_micros
    if price is None or tokens_in < 0 or tokens_out < 0:
        return UNKNOWN
    cached = min(max(tokens_cached, 0), tokens_in)
    return price.cost_micros(tokens_in=tokens_in - cached, tokens_out=tokens_out, tokens_cached=cached)
