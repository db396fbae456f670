"""worktree add, list, adopt, remove."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.cli.command import Command, Context
from lineclear.cli.parser import task_number
from lineclear.cli.render import TextTable
from lineclear.core.agents.names import agent_name
from lineclear.core.words.refusals import refuse
from lineclear.wiring.worktrees import worktrees_in

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any


def _declare_add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", default="", metavar="NAME", help="its name (the agent's or task's)"
    )
    parser.add_argument("--agent", type=agent_name, metavar="A", help="who works in it")
    parser.add_argument("--task", type=task_number, default=0, metavar="T", help="the task of the work")
    parser.add_argument("--branch", default="", metavar="B", help="its branch (created if needed)")
    parser.add_argument("--base", default="", metavar="REF", help="where a new branch starts (main)")
    parser.add_argument("--path", default="", metavar="P", help="its directory (beside the repository)")
    parser.add_argument(
        "--no-setup", action="store_true", help="do not run the commands of [worktrees] setup"
    )


def add(context: Context, args: Namespace) -> None:
    caller = context.caller
    agent = args.agent or ("" if args.name or caller.is_person else caller.name)
    if not (args.name or agent or args.task):
        raise refuse("usage", command="lineclear worktree add", message="give NAME, --agent or --task")
    worktrees = worktrees_in(context.repo)
    place = worktrees.make(
        caller, name=args.name, agent=agent, task=args.task, branch=args.branch, base=args.base,
        path=os.path.join(context.cwd, args.path) if args.path else "", run_setup=not args.no_setup,
    )  # fmt: skip
    for note in (*place.notes, worktrees.base_warning(place)):
        if note:
            context.out.warn(note)
    context.out.data(place.as_dict(), *_told(place.as_dict()))


def _told(place: dict[str, Any]) -> list[str]:
    lines = [f"The worktree {place['name']} is at {place['path']}", f"branch {place['branch']}"]
    if place["ports"]:
        lines.append(f"ports {place['ports']}")
    return lines


def list_(context: Context, _args: Namespace) -> None:
    found = worktrees_in(context.repo).overview()
    columns = ["NAME", "STATE", "AGENT", "TASK", "BRANCH", "AHEAD", "BEHIND", "CHANGED", "PORTS", "PATH"]
    rows = [[tree[column.lower()] for column in columns] for tree in found]
    empty = "There is only the main worktree."
    context.out.data({"worktrees": found}, TextTable(columns, rows, empty=empty))


def _declare_adopt(parser: ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help="its directory (default: here)")
    parser.add_argument("--agent", type=agent_name, metavar="A", help="who works in it")
    parser.add_argument("--task", type=task_number, default=0, metavar="T", help="the task of the work")


def adopt(context: Context, args: Namespace) -> None:
    path = os.path.join(context.cwd, args.path)
    caller = context.caller
    agent = args.agent or ("" if caller.is_person else caller.name)
    place = worktrees_in(context.repo).adopt(caller, path, agent=agent, task=args.task)
    known = "is adopted" if place.is_new else "was already known"
    told = [f"The worktree {place.tree} {known}; it is at {place.path}", *_told(place.as_dict())[1:]]
    context.out.data(place.as_dict(), *told)


def _declare_remove(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="which one")
    parser.add_argument(
        "--force", action="store_true", help="remove it even with unsaved work (a person only)"
    )


def remove(context: Context, args: Namespace) -> None:
    gone = worktrees_in(context.repo).remove(context.caller, args.name, force=args.force)
    kept = f"Its branch {gone['branch']} stays." if gone["branch"] else ""
    context.out.data(gone, f"The worktree {gone['name']} was removed.", *([kept] if kept else []))


COMMANDS = {
    "worktree add": Command(add, _declare_add, is_write=True),
    "worktree list": Command(list_),
    "worktree adopt": Command(adopt, _declare_adopt, is_write=True),
    "worktree remove": Command(remove, _declare_remove, is_write=True),
}
