"""hook, for help and completion only: `__main__` calls hook/entry.py directly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.command import Command
from lineclear.clients.registry import HOOK, names_with
from lineclear.hook.entry import main

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from lineclear.cli.command import Context


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("client", metavar="CLIENT", help=f"the calling client: {', '.join(names_with(HOOK))}")
    parser.add_argument(
        "event", metavar="EVENT", help="the client's own name for the event; reads JSON from stdin"
    )


def _hook(context: Context, args: Namespace) -> int:
    return main([args.client, args.event], context.environ)


COMMANDS = {"hook": Command(_hook, _declare)}
