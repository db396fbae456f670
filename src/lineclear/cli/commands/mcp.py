"""mcp: the verbs as tools for a client that speaks the Model Context Protocol over stdin and stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.command import Command
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from lineclear.cli.command import Context


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--tools", choices=("default", "all"), default="default",
        help="default: the tools for everyday work; all: also lists, proposals, the queue and sync",
    )  # fmt: skip


def mcp(context: Context, args: Namespace) -> int:
    from lineclear.cli.command_runner import CommandRunner

    try:
        from lineclear.mcp.server import serve
    except ModuleNotFoundError as missing:
        raise refuse("setup.mcp") from missing
    return serve(
        CommandRunner(context.environ, cwd=context.cwd, given=context.given), is_all=args.tools == "all"
    )


COMMANDS = {"mcp": Command(mcp, _declare)}
