"""mcp: serve the verbs as tools over stdin and stdout (Model Context Protocol)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.command import Command
from lineclear.cli.command_runner import CommandRunner
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
    try:
        from lineclear.mcp.server import serve
    except ModuleNotFoundError as missing:
        raise refuse("setup.mcp") from missing
    return serve(
        CommandRunner(context.environ, cwd=context.cwd, given=context.given), is_all=args.tools == "all"
    )


COMMANDS = {"mcp": Command(mcp, _declare)}
