"""Refusals whose words are computed; their sentences are in sentences/runs.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from lineclear.core.runs.budgets import Breach
    from lineclear.core.words.refusals import Refusal


def budget_spent(breach: Breach) -> Refusal:
    """A limit of the task or of the day is used up."""
    return refuse(
        "budget.spent",
        of=breach.of,
        limited=breach.what,
        breach=breach.words(),
        setting=f"budgets.{breach.of}_{breach.what}",
        used=breach.used.known,
        allowed=breach.allowed,
    )


def supervisor_running(pid: int, since: str, agents: int) -> Refusal:
    return refuse("run.running", pid=pid, process=pid or None, since=since, agents=agents)


def no_worker(installed: list[str]) -> Refusal:
    return refuse("run.no_worker", installed=installed, first=installed[0] if installed else "")


def nothing_to_run(reasons: list[str], ended: int) -> Refusal:
    """`reasons`: why the open tasks, if any, cannot be started; `ended`: how many tasks have ended."""
    if not reasons:
        return refuse("run.nothing/none", reasons=[], ended=ended, count=ended or None)
    return refuse("run.nothing", reasons=reasons[:20], all_reasons="; ".join(reasons))
