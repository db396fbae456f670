"""Is the shared store out of reach? claims/write_rule.py decides which writes are allowed without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineclear.core.words.refusals import Refusal


def is_outage(refusal: Refusal) -> bool:
    """Was this refused only because the store cannot be reached, which usually passes by itself?"""
    return refusal.code == "store.unreachable" or bool(refusal.facts.get("is_lost"))
