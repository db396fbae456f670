"""Find the verb, parse its arguments, run it, and turn the outcome into an exit code.

What `--version` and the help do not need is imported where it is used.
"""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from lineclear import __version__
from lineclear.cli.command import Surroundings
from lineclear.cli.index import (
    CALLED_BY_GIT,
    GROUPS,
    INDEX,
    before_dashes,
    find_verb,
    is_served,
    split_globals,
)
from lineclear.cli.render import Output, Unwritable
from lineclear.core.agents.names import OWN_OPERATION, agent_name, operation_id
from lineclear.core.words.refusals import Refusal, quote, refuse
from lineclear.core.words.row import FAILED, USAGE

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping

    from lineclear.cli.command import Command

INTERRUPTED = 130


def run(argv: list[str], environ: Mapping[str, str] | None = None, around: Surroundings | None = None) -> int:
    """Run a command line and return its exit code. Errors are printed, except those in `around.passes`."""
    environ, around = os.environ if environ is None else environ, around or Surroundings()
    is_json = "--json" in before_dashes(argv)
    out = Output(is_json=is_json, environ=environ, out=around.out, err=around.err)
    code = 0
    try:
        code, refusal = _attempt(argv, out, environ, around)
        if refusal is not None:
            verb, _ = find_verb(split_globals(argv)[1])
            if verb in CALLED_BY_GIT and code <= 128:
                code += 128  # git would take a smaller one for a conflict
            out.refuse(refusal)
        out.flush()
    except Unwritable as lost:
        out.silence()
        if not lost.is_reader_gone:
            out.hint(str(lost))
            return code or FAILED
    return code


def _attempt(
    argv: list[str], out: Output, environ: Mapping[str, str], around: Surroundings
) -> tuple[int, Refusal | None]:
    """The exit code, and the refusal if there is one."""
    passes: tuple[type[Exception], ...] = (Unwritable, *around.passes)
    try:
        return _dispatch(*split_globals(argv), out, environ, around), None
    except Refusal as refusal:
        _add_name_to_next(refusal, argv)
        return refusal.exit_code, refusal
    except KeyboardInterrupt:
        out.hint("Interrupted.")
        return INTERRUPTED, None
    except SystemExit:  # argparse has shown its help
        return 0, None
    except passes:
        raise
    except Exception as error:  # noqa: BLE001 - the one boundary of this surface
        return FAILED, as_bug(error)


def _add_name_to_next(refusal: Refusal, argv: list[str]) -> None:
    """Repeat the caller's `--as NAME` in the next command, which is meant to be pasted."""
    own, following = before_dashes(argv), refusal.next
    if "--as" not in own[:-1] or not following.startswith("lineclear ") or following.endswith("--help"):
        return
    if " -- " not in following and " --as " not in following:
        refusal.next += f" --as {quote(own[own.index('--as') + 1])}"


def _dispatch(
    ahead: list[str], words: list[str], out: Output, environ: Mapping[str, str], around: Surroundings
) -> int:
    if "--version" in ahead:
        out.data({"version": __version__}, f"lineclear {__version__}")
        return 0
    if words[:1] == ["help"] and len(words) > 1:
        words = [*words[1:], "--help"]
    if (ahead and ahead[0] in ("-h", "--help")) or words[:1] == ["help"]:
        _show_help(out)
        return 0
    if not words:
        words = ["status"]
    verb, arguments = find_verb(words)
    if not verb:
        return _unknown(words, out)
    return _run_verb(verb, [*ahead, *arguments], out, environ, around)


def load(verb: str) -> Command:
    module = import_module(f"lineclear.cli.commands.{INDEX[verb][0]}")
    command: Command = module.COMMANDS[verb]
    return command


def make_parser(verb: str, command: Command) -> ArgumentParser:
    from lineclear.cli.parser import Parser

    parser = Parser(prog=f"lineclear {verb}", description=INDEX[verb][2] + ".")
    everywhere = parser.add_argument_group("everywhere")
    everywhere.add_argument("--json", action="store_true", help="answer as JSON")
    everywhere.add_argument("--as", dest="given", metavar="NAME", default="", help="act as this agent")
    everywhere.add_argument("-C", dest="cwd", metavar="DIR", default="", help="work as if started in DIR")
    if command.is_write:
        everywhere.add_argument(
            "--key",
            dest="operation",
            metavar="OPERATION-ID",
            default="",
            help="make a repeat of this command harmless",
        )
    if command.declare is not None:
        command.declare(parser)
    return parser


def _run_verb(
    verb: str, arguments: list[str], out: Output, environ: Mapping[str, str], around: Surroundings
) -> int:
    command = load(verb)
    own = before_dashes(arguments) if command.wraps_command else arguments
    _refuse_unreadable(verb, own)
    args = make_parser(verb, command).parse_args(own)
    args.command = arguments[len(own) + 1 :]
    cwd = os.path.abspath(os.path.join(around.cwd, args.cwd)) if args.cwd else around.cwd
    if cwd and not os.path.isdir(cwd):
        raise refuse("input.bad", name="directory", given=args.cwd, why="it does not exist")
    given = args.given or environ.get("LINECLEAR_AGENT", "")
    if given:
        agent_name(given)  # refuse a bad name now, before anything is printed
    key = _key(args, environ)
    if around.asks_server:
        needs_key = command.is_write and not key
        code = ask_server(verb, arguments, out, environ, cwd, needs_key=needs_key)
        if code is not None:
            return code
    context = around.make(out, environ, cwd=cwd, given=args.given, key=key)
    try:
        return context.perform(verb, command, args)
    finally:
        context.close()


def ask_server(
    verb: str, arguments: list[str], out: Output, environ: Mapping[str, str], cwd: str, *, needs_key: bool
) -> int | None:
    """Let a server run the command and return its exit code; None if we must run it here.

    A write gets an operation id, so that the command can be repeated if its answer is lost.
    """
    if environ.get("LINECLEAR_SERVE") == "0" or not is_served([*verb.split(), *arguments]):
        return None
    from lineclear.wiring.server_address import find_needed_door

    address = find_needed_door(cwd or os.getcwd(), environ)
    if address is None:
        return None
    from lineclear.cli.server_client import perform

    # Before the arguments: after a `--` it would be an ordinary word.
    key = ["--key", OWN_OPERATION + os.urandom(12).hex()] if needs_key else []
    return perform(address, [*verb.split(), *key, *arguments], environ, out)


def _refuse_unreadable(verb: str, words: list[str]) -> None:
    """Refuse arguments that are not text: Python passes bytes that are not UTF-8 as lone surrogates."""
    for word in words:
        if any("\ud800" <= ch <= "\udfff" for ch in word):
            raise refuse("input.bad", name="argument", given=word, why="it contains bytes that are not UTF-8")
    for word in before_dashes(words):
        # argparse of Python 3.11 drops this `--` and leaves the option without a value.
        if word.startswith("-") and word.endswith(("=--", "-C--")):
            raise refuse("usage", command=f"lineclear {verb}", message="an option cannot have the value --")


def _key(args: Namespace, environ: Mapping[str, str]) -> str:
    if not hasattr(args, "operation"):
        return ""
    key: str = args.operation or environ.get("LINECLEAR_KEY", "")
    return operation_id(key) if key else ""


def _show_help(out: Output) -> None:
    lines = [
        "lineclear keeps many coding agents in sync on one codebase.",
        "",
        "usage: lineclear [VERB] [ARGUMENTS]",
        "",
    ]
    for group in GROUPS:
        lines.append(group)
        lines += [f"  {verb:<16} {summary}" for verb, (_, where, summary) in INDEX.items() if where == group]
    lines += ["", "`lineclear VERB --help` explains a verb; every verb takes --json and --as NAME."]
    out.data({"verbs": {verb: summary for verb, (_, _, summary) in INDEX.items()}}, *lines)


def _unknown(words: list[str], out: Output) -> int:
    from difflib import get_close_matches

    nouns = [verb for verb in INDEX if verb.startswith(words[0] + " ")]
    wants_help = words[-1] in ("-h", "--help")
    if nouns and (len(words) == 1 or wants_help):
        out.data({"verbs": nouns}, *(f"  lineclear {verb:<16} {INDEX[verb][2]}" for verb in nouns))
        return 0 if wants_help else USAGE
    typed = " ".join(words[:2])
    close = get_close_matches(typed, INDEX, 1) or get_close_matches(words[0], INDEX, 1) or nouns[:1]
    raise refuse("usage.verb", typed=typed, close=close[0] if close else "")


# The file system takes no writes: not a bug of ours.
_UNWRITABLE = (errno.EROFS, errno.ENOSPC, errno.EDQUOT)


def as_bug(error: Exception) -> Refusal:
    """The refusal for an exception that nobody expected: a bug, unless the machine refused to write."""
    import traceback

    where = traceback.extract_tb(error.__traceback__)
    place = f"{os.path.basename(where[-1].filename)}:{where[-1].lineno}" if where else "nowhere"
    if os.environ.get("LINECLEAR_DEBUG"):
        traceback.print_exception(error, file=sys.stderr)
    if isinstance(error, OSError) and error.errno in _UNWRITABLE and isinstance(error.filename, str):
        return refuse("host.unwritable", path=_existing(error.filename), why=str(error.strerror))
    return refuse("bug", error=f"{type(error).__name__}: {error}", place=place)


def _existing(path: str) -> str:
    """The path, or the first directory above it that exists."""
    while not os.path.lexists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return path
