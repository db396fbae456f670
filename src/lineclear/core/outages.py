"""Is the shared store out of reach? What may go on without it is decided in write_rule.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineclear.core.words.refusals import Refusal


def is_outage(refusal: Refusal) -> bool:
    """Is it only that the store cannot be reached, which passes by itself?"""
    return refusal.code == "store.unreachable" or bool(refusal.facts.get("is_lost"))
