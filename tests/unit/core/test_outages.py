"""Outages of the shared store, told apart from other failures."""

from __future__ import annotations

from lineclear.core.outages import is_outage
from lineclear.core.refusals import Refusal
from lineclear.core.refusals_store import store_failed, store_unreachable, store_unreadable


def test_an_outage_is_told_apart_from_other_failures() -> None:
    lost = store_failed("url", "the connection was lost")
    lost.facts["is_lost"] = True
    assert is_outage(lost)
    assert is_outage(store_unreachable("url", "refused"))
    assert not is_outage(store_failed("file", "disk I/O error"))
    assert not is_outage(store_unreadable("file", "permission denied"))
    assert not is_outage(Refusal("claim.held", "no"))
