"""gate: called by git's hooks. It stops git for an agent that breaks a rule, and warns a person."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from lineclear.app.commit_gate import MAIN_TREE, PRE_COMMIT, PRE_PUSH, PRE_REBASE, REFERENCES
from lineclear.cli.command import Command, Context
from lineclear.core.store_outages import is_outage
from lineclear.core.words.refusals import Refusal
from lineclear.core.words.row import NOT_ALLOWED
from lineclear.wiring.commit_gate import (
    commit_gate_of,
    is_closed,
    judge_alone,
    open_hastily,
    tidy_main_tree,
    verb_of_process,
)

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from lineclear.core.queue.commit_gate import GateFinding

HOOKS = (PRE_COMMIT, PRE_PUSH, PRE_REBASE, REFERENCES)


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("hook", metavar="HOOK", choices=HOOKS, help="the git hook that asks")
    help = "the arguments that git gives to that hook; for reference-transaction also git's process id"
    parser.add_argument("words", metavar="WORD", nargs="*", help=help)


def gate(context: Context, args: Namespace) -> int:
    lines = sys.stdin.read().splitlines() if args.hook in (PRE_PUSH, REFERENCES) else []
    verb = verb_of_process(args.words[-1]) if args.hook == REFERENCES and args.words else ""
    try:
        findings, is_person = _judge(context, args.hook, lines, verb)
    except Refusal as refusal:
        if not is_outage(refusal):
            context.out.hint(f"lineclear: commit check skipped; git continues: {refusal.what}")
            return refusal.exit_code if _is_closed(context) else 0
        if _is_closed(context):
            refusal.exit_code = NOT_ALLOWED
            raise
        context.out.hint("lineclear: the shared store is out of reach. Git continues with your local copy.")
        findings, is_person = judge_alone(context.cwd, context.environ, args.hook, lines, context.given)
    if not findings:
        context.out.data({"findings": []})
        return 0
    if is_person:
        for finding in findings:
            who = f" {finding.refusal.who}" if finding.refusal.who else ""
            context.out.warn(f"{finding.refusal.what}{who} You are a person, so git continues.")
        context.out.data({"findings": [finding.refusal.as_data() for finding in findings]})
        return 0
    # The first finding, with the other paths as data: one next action at a time.
    first = findings[0].refusal
    first.facts["paths"] = [finding.path for finding in findings]
    if first.code == MAIN_TREE:
        tidy_main_tree(context.repo.layout, args.hook, lines, verb)
    raise first


def _judge(context: Context, hook: str, lines: list[str], verb: str) -> tuple[list[GateFinding], bool]:
    """What the caller may not change, and whether the caller is a person."""
    context.use(open_hastily(context.cwd, context.environ))
    caller = context.repo.caller(context.given)
    return commit_gate_of(context.repo).judge(hook, caller, lines, verb), caller.is_person


def _is_closed(context: Context) -> bool:
    try:
        return is_closed(context.cwd, context.environ)
    except Refusal:
        return False


COMMANDS = {"gate": Command(gate, _declare)}
