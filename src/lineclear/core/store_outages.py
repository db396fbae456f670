"""Is the store out of reach, or busy? claims/write_rule.py decides which writes are allowed without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineclear.core.words.refusals import Refusal


def is_outage(refusal: Refusal) -> bool:
    """Was this refused only because the store cannot be reached, which usually passes by itself?"""
    return refusal.code == "store.unreachable" or bool(refusal.facts.get("is_lost"))


def passes_by_itself(refusal: Refusal) -> bool:
    """Should work that may be repeated wait and try again? If the store is busy, nothing was written."""
    return is_outage(refusal) or refusal.code == "store.busy"
