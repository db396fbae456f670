"""What runs have used, for the limits of a run, a task and a day. What a client does not report is
unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.runs.records import runs_of_task
from lineclear.app.runs.workers import NOTHING, Spent
from lineclear.core.log.tables import RUN
from lineclear.core.runs.budgets import Used, total
from lineclear.core.runs.prices import cost_micros
from lineclear.core.runs.states import ENDED

if TYPE_CHECKING:
    from lineclear.app.ports import View
    from lineclear.app.runs.workers import LiveRun
    from lineclear.core.log.tables import Run

DAY_NS = 24 * 3_600 * 1_000_000_000


def spent_before(view: View, task: int, run: int) -> Spent:
    """What the task's other runs used, and all runs that ended since midnight UTC."""
    earlier = [other for other in runs_of_task(view, task) if other.id != run]
    today = []
    midnight_ns = view.now.wall_ns - view.now.wall_ns % DAY_NS
    for other in view.scan(RUN, "state", (ENDED,), reverse=True):
        if other.ended_ns < midnight_ns and other.started_ns < midnight_ns - DAY_NS:
            break  # ids follow the starts, and nothing runs for days
        if other.ended_ns >= midnight_ns:
            today.append(other)
    return Spent(
        total(map(_tokens, earlier)),
        total(run.cost_micros for run in earlier),
        total(map(_tokens, today)),
        total(run.cost_micros for run in today),
    )


def _tokens(run: Run) -> int:
    return -1 if run.tokens_in < 0 and run.tokens_out < 0 else max(0, run.tokens_in) + max(0, run.tokens_out)


def used_now(live: LiveRun, lives: list[LiveRun], now_ns: int) -> Used:
    """What this run has used, and its task and the day including it; the day includes all live runs.

    The day is summed only if it has a limit: this is called often, for each of many agents.
    """
    tokens, cost, limits = tokens_of(live), cost_of(live), live.slot.limits
    day_tokens = total(map(tokens_of, lives)) if limits.day_tokens else NOTHING
    day_money = total(map(cost_of, lives)) if limits.day_money_micros else NOTHING
    return Used(
        run_time_ms=live.worked_ms(now_ns),
        run_tokens=tokens,
        run_money_micros=cost,
        run_memory_bytes=live.memory_bytes,
        task_tokens=live.spent.task_tokens + total([tokens]),
        task_money_micros=live.spent.task_money_micros + total([cost]),
        day_tokens=live.spent.day_tokens + day_tokens,
        day_money_micros=live.spent.day_money_micros + day_money,
    )


def used_before(spent: Spent) -> Used:
    """What the task and the day have used before a run begins."""
    return Used(
        task_tokens=spent.task_tokens,
        task_money_micros=spent.task_money_micros,
        day_tokens=spent.day_tokens,
        day_money_micros=spent.day_money_micros,
    )


def tokens_of(live: LiveRun) -> int:
    used = live.usage
    if used.tokens_in < 0 and used.tokens_out < 0:
        return -1
    return max(0, used.tokens_in) + max(0, used.tokens_out)


def cost_of(live: LiveRun) -> int:
    used = live.usage
    return cost_micros(
        told_micros=used.cost_micros, tokens_in=used.tokens_in, tokens_out=used.tokens_out,
        tokens_cached=used.tokens_cached, price=live.slot.price,
    )  # fmt: skip
