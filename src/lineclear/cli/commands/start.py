"""init, doctor, config show: put a repository under coordination and check it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.command import Command, Context
from lineclear.cli.render import TextTable
from lineclear.core.words.row import FAILED
from lineclear.mirror.checking import examine_files
from lineclear.settings.showing import show
from lineclear.wiring.doctor import examine
from lineclear.wiring.starting import find_settings, init_repo

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def _declare_init(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--store", metavar="URL", default="", help="postgresql://... for a team; embedded by default"
    )


def init(context: Context, args: Namespace) -> None:
    made = init_repo(context.cwd, context.environ, args.store)
    verb = "is now" if made["created"] else "was already"
    context.out.data(
        made,
        f"{made['repo']} {verb} under lineclear ({made['engine']} store).",
        'Next: lineclear task add "..." ; lineclear claim PATH ; lineclear (for the status).',
    )


def _declare_doctor(parser: ArgumentParser) -> None:
    parser.add_argument("--fix", action="store_true", help="repair what can be repaired without losing data")


def doctor(context: Context, args: Namespace) -> int:
    findings = examine(context.cwd, context.environ, fix=args.fix)
    findings += examine_files(context.cwd, context.environ)
    rows = [[f["state"], f["what"], f["text"]] for f in findings]
    problems = sum(1 for finding in findings if finding["state"] == "problem")
    context.out.data({"checks": findings, "problems": problems}, TextTable(["STATE", "CHECK", "FOUND"], rows))
    return FAILED if problems else 0


def _declare_config(parser: ArgumentParser) -> None:
    parser.add_argument("--origin", action="store_true", help="show where each setting comes from")


def config_show(context: Context, args: Namespace) -> None:
    settings = find_settings(context.cwd, context.environ)
    for warning in settings.warnings:
        context.out.warn(warning)
    rows = show(settings)
    columns = ["SETTING", "VALUE", *(["FROM"] if args.origin else []), "ABOUT"]
    table = [[r["name"], r["value"], *([r["origin"]] if args.origin else []), r["about"]] for r in rows]
    context.out.data({"settings": rows}, TextTable(columns, table))


COMMANDS = {
    "init": Command(init, _declare_init),
    "doctor": Command(doctor, _declare_doctor),
    "config show": Command(config_show, _declare_config),
}
