"""Refusals about budgets. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import BUDGET, Refusal, named, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.runs.budgets import Breach


def price_unknown(worker: str, model: str, setting: str, limit: str) -> Refusal:
    """`limit` is the money allowed, as shown."""
    what = f"model {shorten(model, 40)}" if model else "its model"
    return Refusal(
        "budget.price",
        f"{named(worker)} is not started: nobody would know what it costs.",
        who=f"{setting} allows {shorten(limit, 24)}, but its client tells no cost and [prices] has "
        f"no price for {what}.",
        next_="lineclear config show",
        exit_code=BUDGET,
        worker=worker,
        model=shorten(model, 200),
        setting=setting,
        limit=limit,
    )


def budget_spent(breach: Breach) -> Refusal:
    """Nothing is left of a limit of the task or of the day."""
    return Refusal(
        "budget.spent",
        f"No run is started: nothing is left of the {breach.of}'s {breach.what}.",
        who=f"{shorten(breach.words(), 150)}; the limit is budgets.{breach.of}_{breach.what}.",
        next_="lineclear config show",
        exit_code=BUDGET,
        setting=f"budgets.{breach.of}_{breach.what}",
        used=breach.used.known,
        allowed=breach.allowed,
    )
