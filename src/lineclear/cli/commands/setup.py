"""setup CLIENT: lineclear's hooks and tools into a client's own files; look, remove."""

from __future__ import annotations

from lineclear.cli.command import Command, Context
from lineclear.cli.render import Table
from lineclear.core import refusals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from lineclear.wiring.setup import Planned


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("client", metavar="CLIENT", nargs="?", default="", help="claude, codex, ..., or git")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="start the client: do hook and tools work?")
    how.add_argument("--remove", action="store_true", help="take out exactly what was put in")
    how.add_argument("--list", action="store_true", help="show every client, and what holds for it")
    parser.add_argument("--no-mcp", action="store_true", help="hooks only: leave the MCP server out")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be changed")


def setup(context: Context, args: Namespace) -> int:
    if args.list or not args.client:
        return _list(context)
    if args.client == "git":
        return _check(context, "git") if args.check else _git(context, args)
    from lineclear.wiring.setup import check_name

    check_name(args.client)
    return _check(context, args.client) if args.check else _client(context, args)


def _client(context: Context, args: Namespace) -> int:
    from lineclear.wiring import setup as setups

    site = setups.open_site(context.cwd, context.environ)
    if args.remove:
        planned = setups.plan_remove(site, args.client)
    else:
        planned = setups.plan_install(site, args.client, has_server=not args.no_mcp)
    if not args.dry_run:
        setups.carry_out(planned)
    return _tell(context, args, planned)


def _git(context: Context, args: Namespace) -> int:
    from lineclear.wiring import setup_git

    plan = setup_git.plan_remove if args.remove else setup_git.plan_install
    planned = plan(context.cwd, context.environ)
    if not args.dry_run:
        setup_git.carry_out_hooks(planned)
    return _tell(context, args, planned)


def _tell(context: Context, args: Namespace, planned: Planned) -> int:
    steps = planned.steps()
    for note in planned.notes:
        context.out.warn(note)
    lines = [*steps] if steps else ["Nothing to change."]
    if args.dry_run and steps:
        lines.append(
            f"Nothing was changed. Next: lineclear setup {args.client}{' --remove' if args.remove else ''}"
        )
    elif not args.remove and steps:
        lines.append(f"Next: lineclear setup {args.client} --check")
    data = {"client": args.client, "steps": steps, "notes": planned.notes, "dry_run": args.dry_run}
    context.out.data(data, *lines)
    return 0


def _check(context: Context, name: str) -> int:
    from lineclear.wiring.probing import check_client, check_git

    check = check_git if name == "git" else check_client
    result = check(context.cwd, context.environ, name)
    context.out.data(result, *result["lines"])
    return 0 if result["state"] in ("fired", "absent", "untried") else refusals.FINDINGS


def _list(context: Context) -> int:
    from lineclear.wiring.setup import listed, open_site

    site = open_site(context.cwd, context.environ)
    rows = listed(site)
    known = site.known()
    table = [
        [row["name"], row["title"], "yes" if row["installed"] else "", row["edits"], row["shell"]]
        for row in rows
    ]
    table.append(
        ["git", "git's own hooks: commit, push, main", "yes" if "git" in known else "", "at commit", ""]
    )
    table.append(["git-merge", "git's merge driver and mergetool", "", "", ""])
    context.out.data(
        {"clients": rows, "git": "git" in known},
        Table(["NAME", "CLIENT", "SET UP", "FORBIDDEN EDITS", "FORBIDDEN SHELL WRITES"], table),
    )
    return 0


COMMANDS = {"setup": Command(setup, _declare)}
