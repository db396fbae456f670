"""Outages of the shared store, told apart from other failures."""

from __future__ import annotations

from lineclear.core.store_outages import is_outage
from lineclear.core.words.refusals import Refusal, refuse


def test_an_outage_is_told_apart_from_other_failures() -> None:
    lost = refuse("store.failed", path="url", reason="the connection was lost")
    lost.facts["is_lost"] = True
    assert is_outage(lost)
    assert is_outage(refuse("store.unreachable", path="url", since_at="", reason="refused"))
    assert not is_outage(refuse("store.failed", path="file", reason="disk I/O error"))
    assert not is_outage(refuse("store.unreadable", path="file", reason="permission denied"))
    assert not is_outage(Refusal("claim.held", "no"))
