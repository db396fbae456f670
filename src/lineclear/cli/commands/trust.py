"""trust: a person records which commands of the committed settings file may run here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.cli.command import Command, Context
from lineclear.cli.render import TextTable
from lineclear.core.trust import KNOWN
from lineclear.wiring.checks import warnings_in_force
from lineclear.wiring.trust import TrustClone

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from lineclear.app.agents.trust import Trust


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path", nargs="?", metavar="PATH", default="", help="a repository (default: this one)"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--show", action="store_true", help="show what would be recorded without recording it")
    what.add_argument("--list", action="store_true", help="list what has been recorded so far")
    what.add_argument("--revoke", action="store_true", help="forget everything that was recorded")


def trust(context: Context, args: Namespace) -> None:
    clone = TrustClone(os.path.join(context.cwd, args.path), context.environ, context.given)
    for warning in clone.settings.warnings:
        context.out.warn(warning)
    if args.list:
        _list(context, clone.trust)
    elif args.revoke:
        count = clone.trust.revoke(clone.caller())
        context.out.data({"revoked": count}, f"{count} records of trust are gone.")
    else:
        _record(context, clone, is_dry=args.show)


def _record(context: Context, clone: TrustClone, *, is_dry: bool) -> None:
    seen = clone.trust.judged()
    if not is_dry:
        clone.trust.record(clone.caller(), seen)
    fresh = sum(1 for one in seen if one.state != KNOWN)
    rows = [[one.state, one.stated.where, one.stated.text] for one in seen]
    table = TextTable(
        ["STATE", "WHERE", "SAYS"], rows, empty="lineclear.toml contains nothing that needs trust."
    )
    data = {"stated": [one.as_data() for one in seen], "fresh": fresh, "recorded": not is_dry}
    lines = []
    if seen and is_dry:
        lines = [f"Nothing was recorded; {fresh} of {len(seen)} are not trusted. Next: lineclear trust"]
    elif seen:
        lines = [f"All {len(seen)} are trusted now, {fresh} of them for the first time."]
    for warning in warnings_in_force(clone.layout, context.environ, clone.settings):
        context.out.warn(warning)
    context.out.data(data, table, *lines)


def _list(context: Context, trust: Trust) -> None:
    stated = {one.stated.digest: one.stated.text for one in trust.judged()}
    records = [
        {"digest": digest, "where": where, "text": stated.get(digest, ""), "is_stated": digest in stated}
        for digest, where in trust.recorded().items()
    ]
    rows = [
        [str(entry["digest"])[:12], entry["where"], entry["text"] or "(no longer stated)"]
        for entry in records
    ]
    context.out.data(
        {"trusted": records},
        TextTable(["DIGEST", "WHERE", "SAYS"], rows, empty="Nothing is trusted here yet."),
    )


COMMANDS = {"trust": Command(trust, _declare)}
