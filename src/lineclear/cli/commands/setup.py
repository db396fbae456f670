"""setup CLIENT: install, check or remove lineclear's hooks and tools in a client's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.setup.applying import apply_setup
from lineclear.app.setup.planning import check_name, plan_install, plan_remove
from lineclear.cli.command import Command, Context
from lineclear.cli.render import TextTable
from lineclear.clients.registry import CLIENTS, SETUP, coding_agents, names_with
from lineclear.core.agents.identity import read_environment
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.core.words.row import FINDINGS
from lineclear.wiring.setup import check_setup, open_clone
from lineclear.wiring.starting import require_git

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from lineclear.app.setup.clone import SetupClone
    from lineclear.app.setup.planning import PlannedSetup


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("client", metavar="CLIENT", nargs="?", default="", help="claude, codex, ..., or git")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--check", action="store_true", help="start the client and check that its hook and tools work"
    )
    how.add_argument("--remove", action="store_true", help="remove exactly what was added")
    how.add_argument("--list", action="store_true", help="list every client and what it supports")
    parser.add_argument("--no-mcp", action="store_true", help="set up hooks only, without the MCP server")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")


def setup(context: Context, args: Namespace) -> int:
    clone = open_clone(context.cwd, context.environ)
    if args.list or not args.client:
        return _list(context, clone)
    check_name(clone, args.client)
    if args.check:
        return _check(context, clone, args.client)
    if args.remove:
        _refuse_agents(context)
        planned = plan_remove(clone, args.client)
    else:
        require_git()
        planned = plan_install(clone, args.client, has_server=not args.no_mcp)
    if not args.dry_run:
        apply_setup(planned)
    return _tell(context, args, planned)


def _refuse_agents(context: Context) -> None:
    """An agent may install its own hooks, but not remove what watches it. Without a store only its marks tell
    who is calling."""
    try:
        name = "" if context.caller.is_person else context.caller.name
    except Refusal:
        client, _, is_agent = read_environment(context.environ)
        name = client or "agent" if is_agent else ""
    if name:
        raise refuse("person.only", what="remove what was set up", agent=name)


def _tell(context: Context, args: Namespace, planned: PlannedSetup) -> int:
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


def _check(context: Context, clone: SetupClone, name: str) -> int:
    result = check_setup(clone, name)
    context.out.data(result, *result["lines"])
    return 0 if result["state"] in ("fired", "absent", "untried") else FINDINGS


def _list(context: Context, clone: SetupClone) -> int:
    installed = clone.installed()
    agents = [
        {
            "name": client.name,
            "title": client.title,
            "installed": client.name in installed,
            "edits": guarantees.edits,
            "shell": guarantees.shell,
        }
        for client, guarantees in coding_agents()
    ]
    held = {client.name: (guarantees.edits, guarantees.shell) for client, guarantees in coding_agents()}
    held["git"] = ("at commit", "")
    table = [
        [name, CLIENTS[name].title, "yes" if name in installed else "", *held.get(name, ("", ""))]
        for name in names_with(SETUP)
    ]
    context.out.data(
        {"clients": agents, "git": "git" in installed},
        TextTable(["NAME", "CLIENT", "SET UP", "FORBIDDEN EDITS", "FORBIDDEN SHELL WRITES"], table),
    )
    return 0


COMMANDS = {"setup": Command(setup, _declare)}
