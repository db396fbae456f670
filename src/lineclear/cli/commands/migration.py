"""migration next: reserve the next migration's name before it is written.

A repeat needs no operation id: until the file exists, the caller gets the same name again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.command import Command, Context
from lineclear.cli.parser import duration, task_number
from lineclear.core.words.refusals import refuse
from lineclear.wiring.migrations import migrations_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

HOUR_MS = 3_600_000
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
MOST_NAME = 100


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", default="", metavar="FOLDER", help="its folder; not needed if there is only one"
    )
    parser.add_argument("--name", default="change", help="what it does, in letters, digits, _ and -")
    parser.add_argument(
        "--ttl", type=duration(1_000, 24 * HOUR_MS), help="how long it stays reserved for you (30m)"
    )
    parser.add_argument("--task", type=task_number, default=0, metavar="T", help="the task this is for")


def next_(context: Context, args: Namespace) -> None:
    if not args.name or len(args.name) > MOST_NAME or not _PLAIN.issuperset(args.name):
        raise refuse(
            "input.bad", name="name", given=args.name, why="it may contain only letters, digits, _ and -"
        )
    folder = context.repo.resource(args.folder, context.cwd).path if args.folder else ""
    task = args.task or context.own_task
    found = migrations_of(context.repo).reserve(
        context.caller, folder, name=args.name, ttl_ms=args.ttl or 0, task=task
    )
    follows = f", after {found['parent']}" if found["parent"] else ""
    if found["how"] != "parent":
        context.out.data(found, found["path"])
        context.out.hint(f"Yours until {found['until_at'][11:16]} UTC{follows}; write it before then.")
    elif found["parent"]:
        words = f"Names in {found['folder']} are random: create it with `alembic revision`{follows}."
        context.out.data(found, words)
    else:
        context.out.data(found, f"{found['folder']} has several heads: run `alembic merge heads` first.")


COMMANDS = {"migration next": Command(next_, _declare)}
