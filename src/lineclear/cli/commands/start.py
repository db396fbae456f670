"""init, doctor, config show, uninstall: put a repository under coordination, check it, take it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.setup import applying
from lineclear.cli.command import Command, Context
from lineclear.cli.render import TextTable
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.core.words.row import FAILED
from lineclear.host.files import remove_tree
from lineclear.mirror.checking import examine_files
from lineclear.mirror.switching import take_away
from lineclear.serve.installing import uninstall as uninstall_service
from lineclear.settings.showing import show
from lineclear.wiring.doctor import examine
from lineclear.wiring.setup import open_clone
from lineclear.wiring.starting import find_settings, init_repo, plan_uninstall

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


def _declare_uninstall(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--yes", action="store_true", help="really remove it (default: only show what would be removed)"
    )


def uninstall(context: Context, args: Namespace) -> None:
    if not context.repo.caller(context.given).is_person:
        raise refuse("person.only", what="uninstall", agent=context.caller.name)
    plan = plan_uninstall(context.cwd, context.environ)
    context.is_mirrored = False
    if args.yes:
        try:
            uninstall_service(context.repo, context.environ)
        except Refusal:
            pass  # this machine has no service manager, or the file is not ours
        take_away(context.repo)
    context.close()
    if args.yes:
        applying.remove_all(open_clone(context.cwd, context.environ))
        for path in plan["paths"]:
            remove_tree(path)
    verb = "removed" if args.yes else "would remove"
    lines = [f"{verb} what `lineclear setup {name}` added" for name in plan["clients"]]
    lines += [f"{verb} {path}" for path in plan["paths"]]
    lines += [f"kept {text}" for text in plan["kept"]]
    if not args.yes:
        lines.append("Nothing was changed. Next: lineclear uninstall --yes")
    context.out.data({**plan, "removed": args.yes}, *lines)


COMMANDS = {
    "init": Command(init, _declare_init),
    "doctor": Command(doctor, _declare_doctor),
    "config show": Command(config_show, _declare_config),
    "uninstall": Command(uninstall, _declare_uninstall),
}
