"""db info, backup, verify, copy."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.app.log import audit
from lineclear.cli.command import Command, Context
from lineclear.cli.render import TextTable
from lineclear.core.words.row import FINDINGS
from lineclear.wiring.copies import POSTGRES, copy_store
from lineclear.wiring.copies import backup as make

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def info(context: Context, _args: Namespace) -> None:
    facts = context.store.info()
    context.out.data(facts, TextTable(["FACT", "VALUE"], sorted(facts.items())))


def _declare_backup(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a new file; an existing one is never overwritten")


def backup(context: Context, args: Namespace) -> None:
    made = make(context.repo, os.path.join(context.cwd, args.file))
    context.out.data(made, f"{made['path']} holds the whole store ({made['size_bytes']} bytes).")


def verify(context: Context, _args: Namespace) -> int:
    findings, events = context.store.check(), 0
    if not findings:
        report = audit(context.store)
        events = report["events"]
        findings = [f"{f['kind']} at {f['position']}: {f['text']}" for f in report["findings"]]
    context.out.data(
        {"events": events, "findings": findings},
        *findings or (f"{events} events, the tables and the file are intact.",),
    )
    return FINDINGS if findings else 0


def _declare_copy(parser: ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help="postgresql://... or a directory for a SQLite store")


def copy(context: Context, args: Namespace) -> None:
    is_url = args.target.startswith(POSTGRES)
    target = args.target if is_url else os.path.join(context.cwd, args.target)
    made = copy_store(context.repo, target)
    lines = [f"{made['events']} events copied into the {made['engine']} store."]
    if is_url:
        lines.append("This clone still uses its old store. Next: lineclear init --store URL")
    context.out.data(made, *lines)


COMMANDS = {
    "db info": Command(info),
    "db backup": Command(backup, _declare_backup),
    "db verify": Command(verify),
    "db copy": Command(copy, _declare_copy),
}
