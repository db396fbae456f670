"""status: one page that shows what needs you, who works on what, and who holds what.

It runs often: the modules that read a supervisor's status are imported only while agents run.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lineclear.app.status import status as read_status
from lineclear.cli.command import Command, Context
from lineclear.cli.queue_output import paused_line, phase_line
from lineclear.cli.render import TextTable, plain
from lineclear.core.instants import show_duration
from lineclear.core.queue.candidates import LIVE
from lineclear.core.queue.phases import PARALLEL

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from lineclear.wiring.repo import Repo

REFRESH_S = 2.0
MOST_FINDINGS = 5


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("--watch", action="store_true", help="show it again whenever something changes")


def status(context: Context, args: Namespace) -> None:
    if not args.watch:
        context.delivered(_show(context))
        return
    with context.store.listen() as bell:
        while True:
            context.out.clear()
            head = _show(context)
            context.delivered(head)
            context.out.flush()
            _wait_for_news(context, bell, head)


def _wait_for_news(context: Context, bell: Any, head: int) -> None:
    """Wait for a new event; on a terminal also return after a while, since the ages shown there change."""
    deadline = time.monotonic() + REFRESH_S
    while True:
        bell.wait(0.25)
        if context.store.read(lambda view: view.head) != head:
            return
        if context.out.is_rich and time.monotonic() >= deadline:
            return


def _show(context: Context) -> int:
    repo, caller = context.repo, context.caller
    facts = context.store.read(
        lambda view: read_status(view, repo.presence, caller.name, lambda: _review(repo))
    )
    facts["supervisor"] = None
    if facts["runs"]:
        from lineclear.wiring.runs import supervision_of

        facts["supervisor"] = supervision_of(repo).read_status()
    context.out.data(facts, *_lines(facts))
    head: int = facts["head"]
    return head


def _review(repo: Repo) -> str:
    from lineclear.wiring.checks import settings_in_force

    return settings_in_force(repo).queue_review


def _run_lines(facts: dict[str, Any]) -> list[str | TextTable]:
    """A table of the runs, with each agent's last action if a supervisor follows it."""
    if not facts["runs"]:
        return []
    if facts["supervisor"] is not None:
        from lineclear.cli.run_display import COLUMNS, row

        return [TextTable(COLUMNS, [row(agent) for agent in facts["supervisor"]["agents"]]), ""]
    rows = [[r["agent"], r["task"], r["client"], r["state"], r["started_at"]] for r in facts["runs"]]
    table = TextTable(["AGENT", "TASK", "CLIENT", "RUN", "SINCE"], rows)
    return [table, "They have no supervisor: `lineclear run` takes over.", ""]


def finding_lines(findings: list[dict[str, Any]]) -> list[str | TextTable]:
    """One line for each finding that interrupts; the others are counted."""
    urgent = [found for found in findings if found["interrupts"]]
    lines: list[str | TextTable] = [
        f"  {found['id']} {found['kind']} between {plain(' and '.join(found['agents']))}: "
        f"{plain(found['symbol'] or found['files'][0])}"
        for found in urgent[:MOST_FINDINGS]
    ]
    left = len(findings) - len(lines)
    if not findings:
        return []
    more = [f"  {left} more"] if left else []
    return ["RADAR (`lineclear radar` explains)", *lines, *more, ""]


def _lines(facts: dict[str, Any]) -> list[str | TextTable]:
    lines: list[str | TextTable] = []
    if facts["needs_you"]:
        lines.append("NEEDS YOU")
        for need in facts["needs_you"]:
            lines += [f"  {plain(need['what'])} ({plain(need['why'])})", f"    {need['next']}"]
    lines += finding_lines(facts["findings"])
    if facts["phase"]["phase"] != PARALLEL:
        lines += [phase_line(facts["phase"]), ""]
    lines += _run_lines(facts)
    agents = [
        [a["name"], a["kind"], a["client"], a["tree"], a["tasks"], a["claims"], _idle(a["idle_seconds"])]
        for a in facts["agents"]
    ]
    lines.append(
        TextTable(
            ["AGENT", "KIND", "CLIENT", "WORKTREE", "TASK", "CLAIMS", "LAST SEEN"], agents,
            empty="No agents yet. Start one with `--as NAME`, for example: lineclear task next --as codex-1",
        )
    )  # fmt: skip
    if facts["claims"]:
        held = [
            [
                c["resource"],
                c["mode"],
                c["agent"],
                show_duration(c["seconds_left"] * 1000),
                c["task"],
                c["note"],
            ]
            for c in facts["claims"]
        ]
        lines += ["", TextTable(["RESOURCE", "MODE", "HOLDER", "LEFT", "TASK", "NOTE"], held)]
    if facts["claims_hidden"]:
        lines.append(
            f"  and {facts['claims_hidden']} more claims (--json shows counts; `who RESOURCE` explains one)"
        )
    lines += [f"waits: {w['agent']} for {', '.join(w['resources'])} ({w['mode']})" for w in facts["waits"]]
    tasks = facts["tasks"]
    lines += [
        "",
        f"tasks: {tasks['ready']} ready, {tasks['open'] - tasks['ready']} waiting, "
        f"{len(tasks['taken'])} taken, {tasks['handed_over']} handed over; "
        f"{facts['unread']} unread messages for {facts['me']}",
    ]
    return [*lines, *_queue_lines(facts["queue"])]


def _queue_lines(queue: dict[str, Any]) -> list[str]:
    """Lines about the queue; none if it is empty and running."""
    lines = [paused_line(queue)] if queue["state"] == "paused" else []
    if any(queue[name] for name in LIVE):
        counts = ", ".join(f"{queue[name]} {name}" for name in LIVE)
        lines.append(f"queue: {counts} (`lineclear queue list`)")
    return lines


def _idle(seconds: int | None) -> str:
    return "never" if seconds is None else f"{show_duration(seconds * 1000)} ago"


COMMANDS = {"status": Command(status, _declare)}
