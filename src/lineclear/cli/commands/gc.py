"""gc: show or remove what is no longer needed, and say what stays and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.command import Command, Context
from lineclear.cli.render import TextTable
from lineclear.wiring.gc import cleanup_in

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("--apply", action="store_true", help="remove it (default: only show it)")
    parser.add_argument(
        "--checks", action="store_true", help="also remove check trees that no check is using"
    )


def gc(context: Context, args: Namespace) -> None:
    cleanup = cleanup_in(context.repo)
    found = cleanup.plan(checks=args.checks)
    if args.apply:
        found = cleanup.apply(context.caller, found)
    columns = ["KIND", "NAME", "WHY"]
    removals, kept = (
        [{"kind": item.kind, "name": item.key, "why": item.why} for item in items]
        for items in (found.removals, found.kept)
    )
    title, empty = (
        ("Removed", "Nothing was removed.") if args.apply else ("Can go", "There is nothing to remove.")
    )
    tables = [TextTable(columns, [list(row.values()) for row in removals], title=title, empty=empty)]
    if kept:
        tables.append(TextTable(columns, [list(row.values()) for row in kept], title="Stays"))
    context.out.data({"is_applied": args.apply, "removals": removals, "kept": kept}, *tables)
    if removals and not args.apply:
        words = "gc --checks --apply" if args.checks else "gc --apply"
        context.out.hint(f"Nothing was removed; run `lineclear {words}` to remove it.")


COMMANDS = {"gc": Command(gc, _declare)}
