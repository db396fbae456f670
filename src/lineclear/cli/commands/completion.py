"""completion: a script for the shell, which calls us for the words that may follow."""

from __future__ import annotations

import contextlib
from importlib.resources import files
from typing import TYPE_CHECKING

from lineclear.app.queue.candidates import live
from lineclear.cli.command import Command, Context
from lineclear.cli.index import INDEX, find_verb
from lineclear.cli.main import load, make_parser
from lineclear.core.log.tables import AGENT, CLAIM, TASK, TOKEN, VALUE
from lineclear.core.queue.candidates import show_number
from lineclear.core.tasks.states import show_id
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

SHELLS = ("bash", "zsh", "fish")


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, nargs="?", default="bash")
    parser.usage = "lineclear completion [bash|zsh|fish] | lineclear completion --words -- WORD..."
    parser.add_argument("--words", action="store_true", help="print the words that may follow")


def completion(context: Context, args: Namespace) -> None:
    if not args.words:
        file = files("lineclear.cli") / "completion" / f"lineclear.{args.shell}"
        script = file.read_text(encoding="utf-8")
        context.out.content({"shell": args.shell, "script": script}, script)
        return
    words = complete(context, args.command)
    context.out.data({"words": words}, *words)


def complete(context: Context, words: list[str]) -> list[str]:
    """The last word is the one being typed; the ones before it are complete."""
    *before, typed = words or [""]
    verb, rest = find_verb(before)
    found = _options(verb) + _names(context, verb, rest) if verb else _next_words(before)
    return sorted({word for word in found if word.startswith(typed)})


def _next_words(before: list[str]) -> list[str]:
    return [verb.split()[len(before)] for verb in INDEX if verb.split()[: len(before)] == before]


def _options(verb: str) -> list[str]:
    parser = make_parser(verb, load(verb))
    return [option for action in parser._actions for option in action.option_strings]


def _names(context: Context, verb: str, rest: list[str]) -> list[str]:
    """Names from this repository: agents, tasks, candidates, tokens, values or claims."""
    last = rest[-1] if rest else ""
    with contextlib.suppress(Refusal):
        if last in ("--as", "--to", "--agent") or verb == "agent leave":
            return context.store.read(lambda view: [agent.name for agent in view.scan(AGENT, "key")])
        if verb.startswith("task ") or last == "--task":
            return context.store.read(lambda view: [show_id(task.id) for task in view.scan(TASK, "key")])
        if verb in ("queue checks", "queue list", "queue run", "queue pause", "queue resume"):
            return []
        if verb.startswith("queue ") or last == "--after":
            return context.store.read(lambda view: [show_number(row.id) for row in live(view)])
        if verb == "token revoke":
            rows = context.store.read(lambda view: view.scan(TOKEN, "key"))
            return [word for row in rows if not row.revoked_ns for word in (row.id, row.name)]
        if verb.startswith("value "):
            return context.store.read(lambda view: [value.key for value in view.scan(VALUE, "key")])
        if verb == "release":
            return context.store.read(lambda view: [claim.resource for claim in view.scan(CLAIM, "key")])
    return []


# `wraps_command`: the typed words come after `--`, since they are not ours to parse.
COMMANDS = {"completion": Command(completion, _declare, wraps_command=True)}
