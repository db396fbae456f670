"""Refusals about runs and their supervisor. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import HELD, NOT_FOUND, USAGE, Refusal, named, shorten


def supervisor_running(pid: int, since: str, agents: int) -> Refusal:
    told = f"It is process {pid}, since {since}, with {agents} agents." if pid else "It has just begun."
    return Refusal(
        "run.running",
        "A supervisor is at work here already; a second one would do the work twice.",
        who=f"{told} It takes new tasks as they are added.",
        next_="lineclear run --join",
        exit_code=HELD,
        pid=pid,
        since=since,
    )


def no_supervisor() -> Refusal:
    return Refusal("run.none", "No supervisor is at work here.", next_="lineclear run", exit_code=NOT_FOUND)


def no_worker(installed: list[str]) -> Refusal:
    """Which client is to do the work was not said, and does not say itself."""
    found = f"Installed: {', '.join(installed)}." if installed else "No known client was found on the PATH."
    client = installed[0] if installed else "claude"
    return Refusal(
        "run.no_worker",
        "It is not said which client is to do the work.",
        who=f"{found} Workers can also be stated in lineclear.toml, [workers.NAME].",
        next_=f"lineclear run --client {client}",
        exit_code=USAGE,
        installed=installed,
    )


def unknown_client(name: str, known: list[str]) -> Refusal:
    return Refusal(
        "run.client",
        f'"{shorten(name, 40)}" is neither a client nor a worker of lineclear.toml.',
        who=f"Clients: {shorten(', '.join(known), 160)}.",
        next_="lineclear run --help",
        exit_code=USAGE,
        client=shorten(name, 100),
    )


def nothing_to_run(reasons: list[str]) -> Refusal:
    """`reasons`: why the open tasks, if any, cannot be started."""
    return Refusal(
        "run.nothing",
        "No task can be started." if reasons else "There is no open task.",
        who=shorten("; ".join(reasons), 180),
        next_="lineclear task list" if reasons else "lineclear task add TITLE",
        exit_code=NOT_FOUND,
        reasons=[shorten(reason, 200) for reason in reasons[:20]],
    )


def not_running(agent: str) -> Refusal:
    return Refusal(
        "run.not_live",
        f"{named(agent)} is not at work: it has no run that could be stopped, paused or looked at.",
        next_="lineclear",
        exit_code=NOT_FOUND,
        agent=agent,
    )
