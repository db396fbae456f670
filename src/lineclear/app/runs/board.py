"""What a supervisor's agents are doing now, as data: one line each, for the terminal, the status file and the
web page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.runs.spending import cost_of, tokens_of
from lineclear.app.runs.workers import RESTING, WORKING
from lineclear.core.runs.budgets import show_money
from lineclear.core.tasks.states import show_id

if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.runs.workers import LiveRun, WorkerSlot

PAUSED, STOPPING = "paused", "stopping"


def board(slots: list[WorkerSlot], now_ns: int) -> list[dict[str, Any]]:
    return [_line(slot, now_ns) for slot in slots]


def _line(slot: WorkerSlot, now_ns: int) -> dict[str, Any]:
    line: dict[str, Any] = {
        "agent": slot.agent, "client": slot.client, "state": slot.phase,
        "task": show_id(slot.task) if slot.task else "", "title": "", "attempt": 0, "action": "",
        "seconds": None, "silent_seconds": None, "tokens": None, "cost_usd": None, "cost": "", "run": 0,
    }  # fmt: skip
    if slot.phase == RESTING:
        left_s = max(0, slot.rest_until_ns - now_ns) // 1_000_000_000
        line["action"] = f"{slot.rest_why} (again in {left_s} s)"
    if slot.live is not None:
        line |= _live_part(slot.live, now_ns)
        if slot.phase != WORKING:
            line["state"] = slot.phase
    return line


def _live_part(live: LiveRun, now_ns: int) -> dict[str, Any]:
    tokens, cost = tokens_of(live), cost_of(live)
    state = STOPPING if live.stopped_by else PAUSED if live.is_paused else WORKING
    return {
        "run": live.run,
        "state": state,
        "task": show_id(live.task),
        "title": live.title,
        "attempt": live.attempt,
        "action": live.stop_detail or live.last_action,
        "seconds": live.worked_ms(now_ns) // 1000,
        "silent_seconds": max(0, now_ns - live.active_ns) // 1_000_000_000,
        "tokens": None if tokens < 0 else tokens,
        "cost_usd": None if cost < 0 else cost / 1_000_000,
        "cost": show_money(cost),
    }
