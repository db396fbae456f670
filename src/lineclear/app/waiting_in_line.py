"""Wait in line for a claim: first come, first served, up to a time limit."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from lineclear.app.claims import TICKET_TTL_MS, ask, is_my_turn, leave_line, stand_in_line, try_ticket
from lineclear.core.store_outages import is_outage
from lineclear.core.words.computed.claims import claim_timed_out
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from lineclear.app.ports import Caller, Listener, Liveness, Store
    from lineclear.core.claims.granting import Request

# A ring may be lost, so every waiter also looks this often.
POLL_S = 0.25
RENEW_S = TICKET_TTL_MS / 3_000


def claim_or_wait(
    store: Store,
    liveness: Liveness,
    caller: Caller,
    request: Request,
    limit_ms: int,
    on_wait: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Claim now, or wait up to the limit. However it ends, no ticket is left behind.

    `on_wait` is called once with the blocker, when the wait begins.
    """
    if limit_ms <= 0:
        return ask(store, liveness, caller, request)
    deadline = monotonic() + limit_ms / 1000
    # Listen before asking, so that no release in between is missed.
    with store.listen() as bell:
        answer = stand_in_line(store, liveness, caller, request)
        if "ticket" not in answer:
            return answer
        request.ticket = answer["ticket"]
        if on_wait is not None:
            on_wait(answer["blocker"])
        try:
            granted = _wait(store, liveness, caller, request, bell, deadline, answer)
            if "claims" in granted:
                return granted
            blocker = granted["blocker"]
            raise claim_timed_out(request.resources[0].text, limit_ms, blocker["agent"], blocker["until_at"])
        except BaseException as error:
            if not (isinstance(error, Refusal) and error.code == "claim.ticket"):
                _leave(store, caller, request.ticket)
            raise


def _wait(
    store: Store, liveness: Liveness, caller: Caller, request: Request, bell: Listener, deadline: float,
    answer: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """The grant, or the last answer when the time is over. Survives outages of the store until then."""
    renew_at = monotonic() + RENEW_S
    was_out = False
    while True:
        until_lapse = POLL_S
        try:
            if not request.ticket:
                answer = stand_in_line(store, liveness, caller, request)
                request.ticket = answer.get("ticket", 0)
            is_turn, lapse_ms = is_my_turn(store, liveness, request) if request.ticket else (False, 0)
            if request.ticket and (is_turn or monotonic() >= renew_at):
                answer = try_ticket(store, liveness, caller, request)
                renew_at = monotonic() + RENEW_S
            if "claims" in answer:
                return answer
            until_lapse = lapse_ms / 1000 + 0.001 if lapse_ms else POLL_S
        except Refusal as refusal:
            if is_outage(refusal) and monotonic() < deadline:
                was_out = True
            elif was_out and refusal.code == "claim.ticket":
                # During the outage our ticket ran out, or the claim was granted and the answer lost.
                request.ticket = 0
                continue
            else:
                raise
        now = monotonic()
        if now >= deadline:
            return answer
        bell.wait(max(0.0, min(POLL_S, until_lapse, deadline - now)))


def _leave(store: Store, caller: Caller, ticket: int) -> None:
    """Give the ticket back; if the store is unreachable, it runs out by itself."""
    try:
        leave_line(store, caller, ticket, "gave up")
    except Refusal as refusal:
        if not is_outage(refusal):
            raise
