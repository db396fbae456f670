"""diff, open: an agent's work at any time."""

from __future__ import annotations

from lineclear.cli.command import Command, Context
from lineclear.core.words.refusals import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_WHOSE = "an agent, a task (T-12) or a worktree"


def _declare_diff(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="A", help=_WHOSE)
    parser.add_argument("--stat", action="store_true", help="only the files and how much changed in them")


def diff(context: Context, args: Namespace) -> int:
    from lineclear.wiring import look

    found = look.difference(context.repo, context.caller, args.name)
    for item in found.left_out:
        context.out.warn(f"not shown: {item}")
    if not found.is_live:
        context.out.warn("its worktree is not there; this is what was last saved of it")
    if context.out.is_rich:
        context.out.flush()
        return look.on_terminal(context.repo, found, stat=args.stat)
    if context.out.is_json:
        context.out.data(look.as_data(context.repo, found))
    else:
        context.out.content(None, look.as_text(context.repo, found, stat=args.stat))
    return 0


def _declare_open(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="A", help=_WHOSE)
    parser.add_argument("--editor", action="store_true", help="your $VISUAL or $EDITOR instead of a shell")
    parser.add_argument("--print", dest="only_print", action="store_true", help="only print where it is")


def open_(context: Context, args: Namespace) -> None:
    from lineclear.wiring import look

    work = look.work_of(context.repo, args.name)
    if not work.path:
        raise refuse("snapshot.no_worktree", path=work.tree or args.name)
    env = look.environment_at(context.repo, work)
    if args.only_print or context.out.is_json:
        data = {"path": work.path, "worktree": work.tree, "agent": work.agent, "env": env}
        context.out.data(data, work.path)
        return
    argv = look.command_for(context.environ, work.path, editor=args.editor)
    if not args.editor:
        context.out.hint(f"You are in {work.path}; `exit` brings you back.")
    context.out.flush()
    look.become(argv, work.path, {**context.environ, **env})


COMMANDS = {"diff": Command(diff, _declare_diff), "open": Command(open_, _declare_open)}
