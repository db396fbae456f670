"""Refusals about runs, their supervisor and budgets: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.refusals import BUDGET, HELD, NOT_FOUND, USAGE, Row, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.runs.budgets import Breach
    from lineclear.core.words.refusals import Refusal

ROWS = {
    "run.none": Row(NOT_FOUND, "No supervisor is running here.", next="lineclear run"),
    "run.client": Row(
        USAGE,
        '"{client:40}" is neither a client nor a worker in lineclear.toml.',
        who="Clients: {known:160}.",
        next="lineclear run --help",
        words=("known",),
    ),
    "run.not_live": Row(
        NOT_FOUND,
        "{agent:32} has no active run to stop, pause or attach to.",
        next="lineclear",
    ),
    "run.running": Row(
        HELD,
        "A supervisor is already running here; a second one would do the work twice.",
        who=(
            "It is process {process}, running since {since} with {agents:agent}. It picks up new tasks.",
            "It has just started. It picks up new tasks.",
        ),
        next="lineclear run --join",
        words=("agents", "process"),
    ),
    "run.no_worker": Row(
        USAGE,
        "No client was chosen for this run.",
        who=(
            "Installed: {installed:120}. lineclear.toml can name workers too, in [workers.NAME].",
            "No known client was found on the PATH. lineclear.toml can name workers too, in [workers.NAME].",
        ),
        next=("lineclear run --client {first}", "lineclear run --client claude"),
        words=("first",),
    ),
    "run.nothing": Row(
        NOT_FOUND,
        "No task can be started.",
        who="{all_reasons:180}",
        next="lineclear task list",
        words=("all_reasons",),
    ),
    "run.nothing/none": Row(NOT_FOUND, "There is no open task.", next="lineclear task add TITLE"),
    "budget.price": Row(
        BUDGET,
        "Cannot start {worker:32}: its cost would be unknown.",
        who=(
            "{setting} allows {limit:24}, but its client reports no cost and [prices] does not list "
            "{model:40}.",
            "{setting} allows {limit:24}, but its client reports no cost and [prices] does not list "
            "its model.",
        ),
        next="lineclear config show",
    ),
    "budget.spent": Row(
        BUDGET,
        "Cannot start a run: the limit on {limited} per {of} is reached.",
        who="{breach:150}; the limit is {setting}.",
        next="lineclear config show",
        words=("breach", "limited", "of"),
    ),
}


def budget_spent(breach: Breach) -> Refusal:
    """Nothing is left of a limit of the task or of the day."""
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


def nothing_to_run(reasons: list[str]) -> Refusal:
    """`reasons`: why the open tasks, if any, cannot be started."""
    if not reasons:
        return refuse("run.nothing/none", reasons=[])
    return refuse("run.nothing", reasons=reasons[:20], all_reasons="; ".join(reasons))
