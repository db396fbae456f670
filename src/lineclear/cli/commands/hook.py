"""`lineclear hook`, as help and completion see it; what really runs is hook/entry.py, by its own way in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.command import Command

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from lineclear.cli.command import Context


def _declare(parser: ArgumentParser) -> None:
    from lineclear.clients.registry import HOOK, names_with

    parser.add_argument("client", metavar="CLIENT", help=f"the calling client: {', '.join(names_with(HOOK))}")
    parser.add_argument(
        "event", metavar="EVENT", help="the client's own name for the event; reads JSON from stdin"
    )


def _hook(context: Context, args: Namespace) -> int:
    from lineclear.hook.entry import main

    return main([args.client, args.event], context.environ)


COMMANDS = {"hook": Command(_hook, _declare)}
