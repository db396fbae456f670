"""agent list, agent leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.agents import membership
from lineclear.cli.command import Command, Context
from lineclear.cli.render import TextTable
from lineclear.core.agents.names import agent_name
from lineclear.core.instants import show_duration

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def list_(context: Context, _args: Namespace) -> None:
    presence = context.repo.presence
    agents, head = context.store.read(lambda view: (membership.list_agents(view, presence), view.head))
    rows = [
        [a["name"], a["state"], a["kind"], a["client"], a["tree"], a["incarnation"], _idle(a["idle_seconds"])]
        for a in agents
    ]
    columns = ["NAME", "STATE", "KIND", "CLIENT", "WORKTREE", "INCARNATION", "LAST SEEN"]
    context.out.data({"agents": agents}, TextTable(columns, rows, empty="No agent has been here yet."))
    context.delivered(head)


def _idle(seconds: int | None) -> str:
    return "never" if seconds is None else f"{show_duration(seconds * 1000)} ago"


def _declare_leave(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        default="",
        metavar="NAME",
        help="who leaves (default: you); only a person may name others",
    )


def leave(context: Context, args: Namespace) -> None:
    caller = context.caller
    name = agent_name(args.name) if args.name else caller.name
    why = "left" if name == caller.name else f"removed by {caller.name}"
    answer = membership.leave(context.store, caller, name, why)
    freed = answer["freed"]
    context.out.data(answer, f"{name} has left.", *(f"{thing} is free." for thing in freed))


COMMANDS = {
    "agent list": Command(list_),
    "agent leave": Command(leave, _declare_leave, is_write=True),
}
