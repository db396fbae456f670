"""Limits of a run, a task and a day: what was used, what is allowed, and which limit is exceeded.

Whole numbers only (milliseconds, tokens, micros, bytes). A limit of 0 means none. A number that nobody
reported is -1: it never counts as 0 and cannot exceed a limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.instants import show_duration
from lineclear.core.runs.money import write_money
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lineclear.core.words.refusals import Refusal

UNKNOWN = -1
TIME, TOKENS, MONEY, MEMORY = "time", "tokens", "money", "memory"
RUN, TASK, DAY = "run", "task", "day"


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum: its known part, and how many of its parts nobody reported."""

    known: int = 0
    unknown_parts: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.known + other.known, self.unknown_parts + other.unknown_parts)


def total(numbers: Iterable[int]) -> Amount:
    """The sum over the runs of a task or a day; -1 is a run that reported nothing."""
    known, unknown_parts = 0, 0
    for number in numbers:
        if number < 0:
            unknown_parts += 1
        else:
            known += number
    return Amount(known, unknown_parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLimits:
    """What is allowed; 0 means no limit."""

    run_time_ms: int = 0
    run_tokens: int = 0
    run_money_micros: int = 0
    run_memory_bytes: int = 0
    task_tokens: int = 0
    task_money_micros: int = 0
    day_tokens: int = 0
    day_money_micros: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What this run has used (-1: not reported), and what its task and the day have used, this run
    included."""

    run_time_ms: int = UNKNOWN
    run_tokens: int = UNKNOWN
    run_money_micros: int = UNKNOWN
    run_memory_bytes: int = UNKNOWN
    task_tokens: Amount = Amount()
    task_money_micros: Amount = Amount()
    day_tokens: Amount = Amount()
    day_money_micros: Amount = Amount()


@dataclass(frozen=True, slots=True)
class Breach:
    """One limit that is exceeded. `what` is time, tokens, money or memory; `of` is run, task or day."""

    of: str
    what: str
    used: Amount
    allowed: int

    def words(self) -> str:
        shown = show_amount(self.what, self.used)
        return f"{self.of} {self.what}: used {shown}, allowed {_SHOWN[self.what](self.allowed)}"


# In the order in which they are reported: this run's own limits come before those of the task and the day.
_FIELDS: tuple[tuple[str, str, str], ...] = (
    (RUN, MEMORY, "run_memory_bytes"),
    (RUN, TIME, "run_time_ms"),
    (RUN, MONEY, "run_money_micros"),
    (RUN, TOKENS, "run_tokens"),
    (TASK, MONEY, "task_money_micros"),
    (TASK, TOKENS, "task_tokens"),
    (DAY, MONEY, "day_money_micros"),
    (DAY, TOKENS, "day_tokens"),
)


def breaches(used: Used, limits: BudgetLimits) -> list[Breach]:
    """Every limit that is exceeded. Using all of a limit is allowed; using more is not."""
    return [
        Breach(of, what, amount, allowed)
        for of, what, amount, allowed in _pairs(used, limits)
        if amount.known > allowed
    ]


def spent(used: Used, limits: BudgetLimits) -> list[Breach]:
    """The limits of the task and the day that are used up, so that no run may begin."""
    return [
        Breach(of, what, amount, allowed)
        for of, what, amount, allowed in _pairs(used, limits)
        if of != RUN and amount.known >= allowed
    ]


def _pairs(used: Used, limits: BudgetLimits) -> Iterable[tuple[str, str, Amount, int]]:
    for of, what, field in _FIELDS:
        allowed: int = getattr(limits, field)
        if allowed > 0:
            value = getattr(used, field)
            yield of, what, value if isinstance(value, Amount) else total([value]), allowed


# -- before a run begins ----------------------------------------------------------------------


def needs_price(worker: str, model: str, limits: BudgetLimits, *, is_cost_known: bool) -> Refusal | None:
    """Refuses a run whose cost nobody will know while a limit on money is set.

    `is_cost_known`: the client reports its cost, or [prices] has the prices of its tokens.
    """
    if is_cost_known:
        return None
    for of, what, field in _FIELDS:
        allowed = getattr(limits, field)
        if what == MONEY and allowed > 0:
            return refuse(
                "budget.price",
                worker=worker,
                model=model,
                setting=f"budgets.{of}_money",
                limit=show_money(allowed),
            )
    return None


# -- showing ----------------------------------------------------------------------------------


def show_money(micros: int) -> str:
    """Dollars to the cent, below one cent exactly; "unknown" for -1."""
    if micros < 0:
        return "unknown"
    if 0 < micros < 10_000:
        return f"${write_money(micros)}"
    cents = (micros + 5_000) // 10_000
    return f"${cents // 100:,}.{cents % 100:02d}"


def show_tokens(tokens: int) -> str:
    if tokens < 0:
        return "unknown"
    return "1 token" if tokens == 1 else f"{tokens:,} tokens"


def show_bytes(size_bytes: int) -> str:
    """About three digits, for reading; sizes.write_size writes it exactly."""
    if size_bytes < 0:
        return "unknown"
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size_bytes >= 1 << shift:
            tenths = size_bytes * 10 >> shift
            return f"{tenths // 10}.{tenths % 10} {unit}" if tenths < 100 else f"{tenths // 10} {unit}"
    return f"{size_bytes} B"


def _show_time(duration_ms: int) -> str:
    return show_duration(duration_ms) if duration_ms >= 0 else "unknown"


_SHOWN: dict[str, Callable[[int], str]] = {
    TIME: _show_time,
    TOKENS: show_tokens,
    MONEY: show_money,
    MEMORY: show_bytes,
}


def show_amount(what: str, amount: Amount) -> str:
    """The known amount; "at least" or "unknown" if a part of it is unknown."""
    if not amount.unknown_parts:
        return _SHOWN[what](amount.known)
    if not amount.known:
        return "unknown"
    return f"at least {_SHOWN[what](amount.known)}"
