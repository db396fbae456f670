"""PostgreSQL's errors as refusals: which of them are outages that pass by themselves."""

from __future__ import annotations

import pytest

from lineclear.core.store_outages import is_outage
from lineclear.store.postgres.failures import refusal_of
from lineclear.store.postgres.wire import LostError, ServerError, TurnedAwayError


@pytest.mark.parametrize("state", ["57P01", "57P02", "57P03"])
@pytest.mark.parametrize("unknown", [False, True])
def test_a_server_that_is_stopped_or_restarted_is_an_outage(state: str, unknown: bool) -> None:
    error = ServerError(state, "terminating connection due to administrator command")
    refusal = refusal_of(error, "url", unknown=unknown)
    assert is_outage(refusal)
    assert refusal.code == ("store.failed" if unknown else "store.unreachable")


@pytest.mark.parametrize(
    "error",
    [ServerError("57014", "canceled"), ServerError("42501", "denied"), TurnedAwayError("no such role")],
)
def test_what_does_not_pass_by_itself_is_not_an_outage(error: LostError | ServerError) -> None:
    assert not is_outage(refusal_of(error, "url", unknown=False))
