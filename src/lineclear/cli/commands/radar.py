"""radar, and radar mute."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lineclear.app.radar import findings
from lineclear.cli.command import Command, Context
from lineclear.cli.render import plain
from lineclear.core.log.tables import AGENT, split_names
from lineclear.core.words.findings import words_for
from lineclear.core.words.refusals import refuse
from lineclear.core.words.row import FINDINGS
from lineclear.wiring.radar import run_pass

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from lineclear.core.log.tables import FindingRow

# An edited file rings no bell.
AGAIN_S = 2.0


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument(
        "agents", nargs="*", metavar="AGENT", help="only what concerns this agent, or both of two"
    )
    parser.add_argument("--watch", action="store_true", help="compare again every few seconds")
    parser.add_argument("--known", action="store_true", help="show the last findings without comparing again")
    parser.add_argument(
        "--fail-on",
        action="append",
        default=[],
        metavar="KIND",
        help="exit with 6 if there is one (or any)",
    )


def radar(context: Context, args: Namespace) -> int | None:
    if len(args.agents) > 2:
        raise refuse("usage", command="lineclear radar", message="give at most two agents")
    for kind in args.fail_on:
        if kind != "any":
            findings.check_kind(kind)
    while True:
        rows = _look(context, args)
        if not args.watch:
            break
        context.out.flush()
        time.sleep(AGAIN_S)
    fails = any("any" in args.fail_on or row.kind in args.fail_on for row in rows)
    return FINDINGS if fails else None


def _look(context: Context, args: Namespace) -> list[FindingRow]:
    sides: list[str] = []
    skipped: list[str] = []
    if not args.known:
        report = run_pass(context.repo, context.caller, snapshots=True)
        sides, skipped = report.sides, report.skipped
    rows = context.store.read(findings.open_findings)
    _check_names(context, args.agents, sides, rows)
    shown = findings.between(rows, args.agents)
    if args.watch:
        context.out.clear()
    me = context.caller.name
    data = {
        "findings": [findings.show(row, me) for row in shown],
        "sides": sides,
        "skipped": skipped,
        "muted": context.store.read(findings.mutes),
    }
    lines = [line for row in shown for line in (*words_for(row, me).split("\n"), "")]
    if not shown:
        lines = [f"No findings between {_counted(len(sides))} and main." if sides else "No findings."]
    context.out.data(data, *lines, *(f"Skipped: {plain(words)}" for words in skipped))
    return shown


def _counted(count: int) -> str:
    return "1 piece of unmerged work" if count == 1 else f"{count} pieces of unmerged work"


def _check_names(context: Context, names: list[str], sides: list[str], rows: list[FindingRow]) -> None:
    known = {*sides, *(name for row in rows for name in split_names(row.agents))}
    if names:
        known |= {agent.name for agent in context.store.read(lambda view: view.scan(AGENT, "key"))}
    for name in names:
        if name not in known:
            raise refuse("radar.side", name=name, known=sorted(known))


def _declare_mute(parser: ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", help="which kind of finding")
    parser.add_argument("path", metavar="PATH", help="a file or directory; `.` for everything")
    parser.add_argument("--undo", action="store_true", help="report it again")


def mute(context: Context, args: Namespace) -> None:
    path = "" if args.path == "." else args.path
    answer = findings.mute(context.store, context.caller, args.kind, path, muted=not args.undo)
    where = answer["path"] or "the whole repository"
    words = "is no longer reported" if answer["muted"] else "is reported again"
    context.out.data(answer, f"{answer['kind']} {words} for {where}.")


COMMANDS = {
    "radar": Command(radar, _declare),
    "radar mute": Command(mute, _declare_mute, is_write=True),
}
