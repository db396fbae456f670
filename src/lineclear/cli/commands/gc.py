"""gc: show or remove what is no longer needed, and say what stays and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.command import Command, Context
from lineclear.cli.render import TextTable
from lineclear.wiring.gc import apply, plan

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from lineclear.core.worktrees.cleanup import CleanupItem


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("--apply", action="store_true", help="remove it (default: only show it)")
    parser.add_argument(
        "--checks", action="store_true", help="also remove check trees that no check is using"
    )


def gc(context: Context, args: Namespace) -> None:
    found = plan(context.repo, checks=args.checks)
    if args.apply:
        found = apply(context.repo, context.caller, found)
    removals, kept = [_as_data(item) for item in found.removals], [_as_data(item) for item in found.kept]
    title, empty = (
        ("Removed", "Nothing was removed.") if args.apply else ("Can go", "There is nothing to remove.")
    )
    context.out.data(
        {"is_applied": args.apply, "removals": removals, "kept": kept},
        TextTable(["KIND", "NAME", "WHY"], [_row(item) for item in found.removals], title=title, empty=empty),
        *(
            [TextTable(["KIND", "NAME", "WHY"], [_row(item) for item in found.kept], title="Stays")]
            if kept
            else []
        ),
    )
    if removals and not args.apply:
        words = "gc --checks --apply" if args.checks else "gc --apply"
        context.out.hint(f"Nothing was removed; run `lineclear {words}` to remove it.")


def _as_data(item: CleanupItem) -> dict[str, Any]:
    return {"kind": item.kind, "name": item.key, "why": item.why}


def _row(item: CleanupItem) -> list[str]:
    return [item.kind, item.key, item.why]


COMMANDS = {"gc": Command(gc, _declare)}
