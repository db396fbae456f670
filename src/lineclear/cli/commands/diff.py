"""diff, open: look at an agent's work at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.worktrees.work import command_for
from lineclear.cli.command import Command, Context
from lineclear.core.words.refusals import refuse
from lineclear.host.commands import become
from lineclear.wiring.worktrees import agent_work_in

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_WHOSE = "an agent, a task (T-12) or a worktree"


def _declare_diff(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="A", help=_WHOSE)
    parser.add_argument(
        "--stat", action="store_true", help="show only the files and how much changed in them"
    )


def diff(context: Context, args: Namespace) -> int:
    work = agent_work_in(context.repo)
    found = work.difference(context.caller, args.name)
    for item in found.left_out:
        context.out.warn(f"not shown: {item}")
    if not found.is_live:
        context.out.warn("its worktree does not exist; this is its last snapshot")
    if context.out.is_rich:
        context.out.flush()
        return work.on_terminal(found, stat=args.stat)
    if context.out.is_json:
        context.out.data(work.as_data(found))
    else:
        context.out.content(None, work.as_text(found, stat=args.stat))
    return 0


def _declare_open(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="A", help=_WHOSE)
    parser.add_argument("--editor", action="store_true", help="open $VISUAL or $EDITOR instead of a shell")
    parser.add_argument("--print", dest="only_print", action="store_true", help="only print its path")


def open_(context: Context, args: Namespace) -> None:
    works = agent_work_in(context.repo)
    work = works.find(args.name)
    if not work.path:
        raise refuse("snapshot.no_worktree", path=work.tree or args.name)
    env = works.environment(work)
    if args.only_print or context.out.is_json:
        data = {"path": work.path, "worktree": work.tree, "agent": work.agent, "env": env}
        context.out.data(data, work.path)
        return
    argv = command_for(context.environ, work.path, editor=args.editor)
    if not args.editor:
        context.out.hint(f"You are in {work.path}; type `exit` to return.")
    context.out.flush()
    become(argv, work.path, {**context.environ, **env})


COMMANDS = {"diff": Command(diff, _declare_diff), "open": Command(open_, _declare_open)}
