"""Refusals about runs, their supervisor and budgets: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.row import BUDGET, HELD, NOT_FOUND, USAGE, Row

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
    "run.nothing/none": Row(
        NOT_FOUND,
        "There is no open task.",
        who=("All tasks have ended: {count}.", "The list is empty."),
        next="lineclear task add TITLE",
        words=("count",),
    ),
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
