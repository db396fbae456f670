"""Waiting in line for a claim: first come, first served, woken by the bell, never for ever."""

from __future__ import annotations

from time import monotonic

from lineclear.app.claims import TICKET_TTL_MS, ask, is_my_turn, leave_line, stand_in_line, try_ticket
from lineclear.core import refusals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller, Listener, Liveness, Store
    from lineclear.core.claims import Request

# The bell is only a hint: beneath it every waiter looks for itself this often.
POLL_S = 0.25
RENEW_S = TICKET_TTL_MS / 3_000


def claim_or_wait(store: Store, liveness: Liveness, caller: Caller, request: Request, limit_ms: int) -> dict[str, Any]:
    """Grant now, or wait up to the limit. However it ends, no ticket is left behind."""
    if limit_ms <= 0:
        return ask(store, liveness, caller, request)
    started = monotonic()
    # The ear is open before the question is asked, so that no release in between goes unheard.
    with store.listen() as bell:
        answer = stand_in_line(store, liveness, caller, request)
        if "ticket" not in answer:
            return answer
        request.ticket = answer["ticket"]
        try:
            return _wait(store, liveness, caller, request, bell, started + limit_ms / 1000, answer)
        except BaseException as error:
            if not (isinstance(error, refusals.Refusal) and error.code == "claim.ticket"):
                leave_line(store, caller, request.ticket, "gave up")
            raise


def _wait(
    store: Store, liveness: Liveness, caller: Caller, request: Request, bell: Listener, deadline: float,
    answer: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    renew_at = monotonic() + RENEW_S
    started = monotonic()
    while True:
        is_turn, lapse_ms = is_my_turn(store, liveness, request)
        now = monotonic()
        if is_turn or now >= renew_at:
            answer = try_ticket(store, liveness, caller, request)
            if "claims" in answer:
                return answer
            renew_at = now + RENEW_S
        if now >= deadline:
            wanted, blocker = request.resources[0].text, answer["blocker"]
            raise refusals.claim_timed_out(wanted, int((now - started) * 1000), blocker["agent"], blocker["until_at"])
        until_lapse = lapse_ms / 1000 + 0.001 if lapse_ms else POLL_S
        bell.wait(max(0.0, min(POLL_S, until_lapse, deadline - now)))
