"""Write docs/reference/, lineclear.example.toml and parts of plugin/ from the program's own tables.

`python docs/generate.py` writes, `--check` compares and exits 1 when a page differs. Everything comes
from the code: verbs and their parsers, settings, events, refusals, tables, moves of tasks. An exit
code without words stops the generator.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from string import Formatter

import merge_coverage
import plugin_files
import settings_file

from lineclear import core
from lineclear.cli.index import GROUPS, INDEX
from lineclear.cli.main import load, make_parser
from lineclear.cli.render import SCHEMA, Output
from lineclear.clients.registry import coding_agents, hook_of
from lineclear.core.agents import hooks
from lineclear.core.log.events import KINDS, Event
from lineclear.core.log.tables import ALL, PROJECTED, LogEntry, Table
from lineclear.core.tasks.states import ENDED, FINISHED, MOVES, STATES
from lineclear.core.words import refusals
from lineclear.core.words.refusals import following, refuse
from lineclear.core.words.row import (
    BUDGET,
    FAILED,
    FINDINGS,
    HELD,
    NOT_ALLOWED,
    NOT_FOUND,
    STALE,
    TIMED_OUT,
    USAGE,
    Row,
)
from lineclear.core.words.sentences import ROWS
from lineclear.mcp.catalog import TOOLS, Tool
from lineclear.mcp.pages import PAGES as PAGES_SHOWN
from lineclear.mcp.pages import TEMPLATES
from lineclear.mcp.prompts import PROMPTS
from lineclear.settings import OTHER_VARIABLES, PREFIX, SETTINGS, Setting
from lineclear.settings.checks import CHECK_PATH_KEYS
from lineclear.settings.prices import PRICE_KEYS
from lineclear.settings.setting import (
    BOTH,
    FREELY,
    IF_UNSET,
    IN_WORKTREE,
    NEVER,
    ON_MAIN,
    ON_USE,
    STRICTER,
    TO_COUNT,
)
from lineclear.settings.strategies import STRATEGY_KEYS
from lineclear.settings.values import expected, write_value
from lineclear.settings.workers import WORKER_KEYS

DOCS = Path(__file__).resolve().parent
REFERENCE = DOCS / "reference"
SOURCE = Path(core.__file__).resolve().parents[1]
FORMAT = 1
MADE_BY = "<!-- Made by `make docs` from the program itself. Do not edit. -->"


class Incomplete(Exception):
    """The program has something that this generator has no words for."""


# -- Markdown ---------------------------------------------------------------------------------


def page(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", MADE_BY, *(part.strip("\n") for part in parts if part)]) + "\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_cell(text) for text in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").strip()


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def codes(texts: Iterable[str]) -> str:
    return ", ".join(code(text) for text in texts)


def block(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def sentence(text: str) -> str:
    """Our short texts have no capital and no full stop; a word such as `postgresql://` keeps its form."""
    is_word = text.partition(" ")[0].rstrip(",;").isalpha()
    return (text[:1].upper() + text[1:] if is_word else text) + ("" if text.endswith((".", "?")) else ".")


# -- commands ---------------------------------------------------------------------------------

GROUP_WORDS = {
    "START": "putting a repository under coordination",
    "WORK": "what agents and people do all day",
    "RUN": "agents at work, each in a place of its own",
    "LAND": "the way of finished work to main",
    "LOOK": "seeing what happened",
    "WIRE": "the store, and the shell",
}

EXIT_CODES = {
    0: ("", "done"),
    FAILED: ("FAILED", "failed: a fault of the environment, or of ours"),
    USAGE: ("USAGE", "the command line or a given value is not valid"),
    HELD: ("HELD", "refused: somebody else holds it, or stands before you"),
    NOT_ALLOWED: ("NOT_ALLOWED", "not allowed for you, or not here"),
    NOT_FOUND: ("NOT_FOUND", "not found, or nothing to take"),
    FINDINGS: (
        "FINDINGS",
        "looked, and found something wrong (`audit`, `check`, `land`, `db verify`, `demo`)",
    ),
    STALE: ("STALE", "stale: read again, then decide again"),
    TIMED_OUT: ("TIMED_OUT", "waited in vain; asking again may work"),
    BUDGET: ("BUDGET", "a budget is used up (no verb gives it yet)"),
    130: ("", "interrupted with Ctrl-C"),
}

EVERYWHERE = "everywhere"
WIDTH = 96


def commands_page() -> str:
    parts = [
        "`lineclear VERB --help` says the same on the command line. `lineclear` alone is `lineclear status`.",
        "## Everywhere",
        table(["option", "what it does"], _options(_parser("claim"), everywhere=True)),
        f"`--key` is known to the verbs that change something: {codes(_writing_verbs())}.",
        "Options stand before or after the verb. `with` passes everything behind `--` to the command it "
        "runs, and gives back that command's exit code.",
        "## Exit codes",
        table(["code", "meaning"], [[str(number), words] for number, (_, words) in exit_codes().items()]),
        "[Refusals](refusals.md) lists every refusal with its exit code.",
    ]
    for group in GROUPS:
        verbs = [verb for verb, (_, where, _) in INDEX.items() if where == group]
        parts.append(f"## {group.capitalize()}: {GROUP_WORDS[group]}")
        parts += [_verb_part(verb) for verb in verbs]
    parts.append("## Called by other programs")
    parts += [_verb_part(verb) for verb, (_, where, _) in INDEX.items() if where not in GROUPS]
    return page("Commands", *parts)


def exit_codes() -> dict[int, tuple[str, str]]:
    """EXIT_CODES, after a look whether the program knows one more."""
    known = {name for name, _ in EXIT_CODES.values()}
    for name, value in vars(refusals).items():
        if name.isupper() and not name.startswith("_") and type(value) is int and name not in known:
            raise Incomplete(f"exit code {value} ({name}) has no words in EXIT_CODES")
    return dict(sorted(EXIT_CODES.items()))


def _parser(verb: str) -> argparse.ArgumentParser:
    return make_parser(verb, load(verb))


def _writing_verbs() -> list[str]:
    return [verb for verb in INDEX if load(verb).is_write]


def _verb_part(verb: str) -> str:
    parser = _parser(verb)
    rows = [*_positionals(parser), *_options(parser, everywhere=False)]
    parts = [f"### {verb}", sentence(INDEX[verb][2]), block(_usage(verb, parser))]
    if rows:
        parts.append(table(["argument", "what it is"], rows))
    return "\n\n".join(parts)


def _actions(parser: argparse.ArgumentParser, *, everywhere: bool) -> list[argparse.Action]:
    group = next(found for found in parser._action_groups if found.title == EVERYWHERE)
    ours = group._group_actions
    return [
        action
        for action in parser._actions
        if (action in ours) == everywhere and not isinstance(action, argparse._HelpAction)
    ]


def _positionals(parser: argparse.ArgumentParser) -> Iterator[list[str]]:
    for action in _actions(parser, everywhere=False):
        if not action.option_strings:
            yield [code(_positional(action)), _about(action)]


def _options(parser: argparse.ArgumentParser, *, everywhere: bool) -> Iterator[list[str]]:
    for action in _actions(parser, everywhere=everywhere):
        if action.option_strings:
            names = [f"{name}{_argument(action)}" for name in action.option_strings]
            yield [codes(names), _about(action)]


def _about(action: argparse.Action) -> str:
    words = [action.help] if action.help else []
    if action.choices is not None and not all(str(choice) in str(action.help) for choice in action.choices):
        words.append(f"one of {codes(map(str, action.choices))}")
    return "; ".join(words)


def _usage(verb: str, parser: argparse.ArgumentParser) -> str:
    """Our own, not argparse's: that one differs between Python versions and terminal widths."""
    if parser.usage:
        return parser.usage
    exclusive = {
        id(action): group for group in parser._mutually_exclusive_groups for action in group._group_actions
    }
    words, shown = ["lineclear", verb], set()
    actions = _actions(parser, everywhere=False)
    for action in sorted(actions, key=lambda action: bool(action.option_strings)):
        group = exclusive.get(id(action))
        if group is None:
            words.append(_option(action) if action.option_strings else _positional(action))
        elif id(group) not in shown:
            shown.add(id(group))
            words.append("[" + " | ".join(_plain_option(one) for one in group._group_actions) + "]")
    return _wrapped(words)


def _wrapped(words: list[str]) -> str:
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) > WIDTH:
            lines.append("   ")
        lines[-1] += f" {word}"
    return "\n".join(line.removeprefix(" ") if place == 0 else line for place, line in enumerate(lines))


def _positional(action: argparse.Action) -> str:
    name = action.metavar if isinstance(action.metavar, str) else _choice_name(action) or action.dest.upper()
    return {"+": f"{name}...", "*": f"[{name}...]", "?": f"[{name}]"}.get(str(action.nargs), name)


def _option(action: argparse.Action) -> str:
    return _plain_option(action) if action.required else f"[{_plain_option(action)}]"


def _plain_option(action: argparse.Action) -> str:
    return f"{action.option_strings[-1]}{_argument(action)}"


def _argument(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    if isinstance(action.metavar, tuple):
        return " " + " ".join(action.metavar)
    name = action.metavar or _choice_name(action) or action.dest.upper().replace("_", "-")
    return {"+": f" {name}...", "*": f" [{name}...]"}.get(str(action.nargs), f" {name}")


def _choice_name(action: argparse.Action) -> str:
    return "" if action.choices is None else "|".join(str(choice) for choice in action.choices)


# -- settings ---------------------------------------------------------------------------------


def settings_page() -> str:
    return page(
        "Settings",
        "A later source wins: the default, `lineclear.toml` in the root of the main worktree (the team's, "
        "committed), `.git/lineclear/local.toml` (for this clone), a variable, a flag. "
        "`lineclear config show --origin` shows the current values and where each one comes from. "
        "`lineclear.example.toml` has every key with its default, ready to copy. "
        "An unknown key is ignored with a warning that suggests the most similar one.",
        "The row *in lineclear.toml* says when the team's file counts. *At once*: as soon as it is saved in "
        "the main worktree, committed or not. *Once committed*: only as the landing branch has it; until "
        "then `trust`, `land`, `check`, `run`, `doctor` and `config show` warn that it is not in force, and "
        "`land` and `run` refuse to land work without a check or a review that is written and not "
        "committed. *At once; in check trees once committed*: agents' worktrees follow the file, checks "
        "follow the landing branch. *Trusted*: only after [`lineclear trust`](../how-to/trust.md). "
        "`queue.branch` counts at once because it says which branch's file counts.",
        *_authority_parts(),
        *(_setting_part(row) for row in SETTINGS.values()),
        *_tables_parts(),
        "## Strategies",
        "`[[strategy]]` entries say how resources are shared. The last one that matches counts; those of "
        "`local.toml` come after those of `lineclear.toml`.",
        table(["key", "meaning"], [[code(key), sentence(words)] for key, words in STRATEGY_KEYS.items()]),
        "## Other variables",
        table(
            ["variable", "meaning"], [[code(PREFIX + name), words] for name, words in OTHER_VARIABLES.items()]
        ),
    )


_WHEN = {
    IN_WORKTREE: "at once", ON_MAIN: "once committed", BOTH: "at once; in check trees once committed",
}  # fmt: skip


_TRUST = {
    "": "needs none", ON_USE: "needed where it is used", TO_COUNT: "needed to count; the default until then",
}  # fmt: skip
_AGENTS = {
    FREELY: "counts", STRICTER: "counts if stricter", IF_UNSET: "counts if no file sets it",
    NEVER: "does not count",
}  # fmt: skip


def _authority_parts() -> list[str]:
    """The rule that the loader enforces: who may set each setting from where."""
    rows = [
        [code(row.name), _WHEN[row.read_from], _trust(row), _AGENTS[row.agents]] for row in SETTINGS.values()
    ]
    committed = "needed where it is used"
    rows += [
        [code("[worktrees.env]"), _WHEN[BOTH], committed, "has none"],
        [code("[[checks.paths]]"), _WHEN[ON_MAIN], committed, "has none"],
        [code("[workers.NAME]"), _WHEN[IN_WORKTREE],
         'needed for `command`, `env`, `permissions = "full"` and `sandbox = "off"`', "has none"],
        [code("[prices]"), _WHEN[IN_WORKTREE], _TRUST[""], "has none"],
        [code("[[strategy]]"), "at once if stricter, else once committed", _TRUST[""], "has none"],
    ]  # fmt: skip
    return [
        "## Who may set what from where",
        "A person may set every setting in `.git/lineclear/local.toml`, by a variable and by a flag; nobody "
        "has to trust that. A cloned repository decides only what its `lineclear.toml` may decide: some "
        "values need [`lineclear trust`](../how-to/trust.md), which shows them, asks once, and asks again "
        "only when a value changes. An agent decides nothing that lifts a rule: the last column says what a "
        "variable does if the caller is an agent. That is everybody with a client's variable, with a token, "
        "with `--as`, or in a linked worktree. A variable that does not count is named in a warning, and a "
        "command that changes something logs it as `AttemptRefused`.",
        table(["setting", "in lineclear.toml", "trust", "an agent's variable"], rows),
    ]


def _trust(row: Setting) -> str:
    return _TRUST[row.trust] + (", unless harmless" if row.is_harmless is not None else "")


def _setting_part(row: Setting) -> str:
    when = _WHEN[row.read_from]
    rows = [
        ["default", code(_default(row))],
        ["allowed", sentence(expected(row))],
        ["variable", code(row.variable)],
        ["in lineclear.toml", f"{when}, trusted" if row.trust else when],
    ]
    if row.is_secret:
        rows.append(["secret", "Its password is never shown; keep it out of `lineclear.toml`."])
    return "\n\n".join([f"## {row.name}", row.help, table(["", ""], rows)])


def _default(row: Setting) -> str:
    return "" if row.default is None else json.dumps(write_value(row, row.default))


def _tables_parts() -> list[str]:
    """The tables whose keys a file chooses itself."""
    workers = [
        [code(key), row.help, sentence(expected(row)), code(_default(row))]
        for key, row in WORKER_KEYS.items()
    ]
    variables = ["`env`", "Variables for this worker.", "A table, NAME = text.", ""]
    return [
        "## Variables of a worktree",
        "`[worktrees.env]` holds variables, NAME = text, for setup commands, checks and agents in a "
        "worktree: at once, in check trees once committed. Variables of `local.toml` are added to those of "
        "`lineclear.toml` and win over them.",
        "## Workers",
        "`[workers.NAME]` is one kind of worker for `lineclear run`. It inherits missing budgets and the "
        "sandbox from `[budgets]` and `[worktrees]`; a source that ranks after the worker's own wins over "
        "the worker.",
        table(["key", "meaning", "allowed", "default"], [*workers, variables]),
        "## Prices",
        '`[prices]` has one line for each model or client: `"NAME" = { input = 3.0, output = 15.0 }`.',
        table(["key", "meaning"], [[code(key), sentence(words)] for key, words in PRICE_KEYS.items()]),
        "## Checks by path",
        "`[[checks.paths]]` entries are separate checks for parts of the repository. They count once "
        "committed.",
        table(["key", "meaning"], [[code(key), sentence(words)] for key, words in CHECK_PATH_KEYS.items()]),
    ]


# -- events and tables ------------------------------------------------------------------------

EVENT_WORDS = {
    "position": "its place in the log; grows, never repeats, jumps ahead when an epoch begins",
    "at_ns": "wall time in nanoseconds since 1970 UTC; for reading, never for deciding (`at` in answers)",
    "actor": "the agent or person that did it",
    "kind": "which of the kinds below",
    "subject": "what it is about: a resource, a task, an agent, a ticket",
    "seen": "the highest position that its actor had been told of; decides before, after, concurrent",
    "op": "the operation id of the command, if it had one",
    "body": "the fields below",
}


def events_page() -> str:
    fields = [name for name in LogEntry.__slots__ if name in Event.__slots__]
    if set(fields) != set(EVENT_WORDS):
        raise Incomplete("an event has other fields than EVENT_WORDS explains")
    rows = [[code(kind), sentence(words), codes(names)] for kind, (words, names) in KINDS.items()]
    return page(
        "Events",
        f"Format {FORMAT}. A kind never changes its meaning; a new meaning is a new kind.",
        "## What every event has",
        table(["field", "what it is"], [[code(name), sentence(EVENT_WORDS[name])] for name in fields]),
        "## Kinds",
        table(["kind", "what it says", "fields of its body"], rows),
    )


def tables_page() -> str:
    return page(
        "Tables",
        "Every engine keeps these. A replay of the log gives all of them, except those marked otherwise; "
        "`lineclear audit` compares. Columns called quiet change without an event (renewed leases), and "
        "audit leaves them out. No column is ever null; lists of names are text with one name on each line.",
        *(_table_part(found) for found in ALL),
    )


def _table_part(found: Table) -> str:  # type: ignore[type-arg]
    kinds = inspect.signature(found.row.__init__).parameters
    rows = [[code(name), _kind(kinds[name].annotation), _role(found, name)] for name in found.columns]
    indexes = [f"{name} ({', '.join(columns)})" for name, columns in found.indexes.items() if name != "key"]
    words = [inspect.cleandoc(found.row.__doc__ or "").replace("\n", " ")]
    if found not in PROJECTED:
        words.append("Not part of the replay.")
    if indexes:
        words.append(f"Indexes: {codes(indexes)}.")
    about = " ".join(word for word in words if word)
    return "\n\n".join(filter(None, [f"## {found.name}", about, table(["column", "type", ""], rows)]))


def _kind(annotation: object) -> str:
    return {"int": "integer", "str": "text"}[str(annotation)]


def _role(found: Table, name: str) -> str:  # type: ignore[type-arg]
    return "key" if name in found.key else "quiet" if name in found.quiet else ""


# -- moves of tasks ---------------------------------------------------------------------------

MOVE_WORDS = {
    "TaskTaken": "taken",
    "TaskReturned": "given back, sent back, or its lease ran out",
    "TaskPutBack": "put back without having been tried (interrupted, over a limit)",
    "TaskHandedOver": "done, with a branch",
    "TaskMerged": "its branch is on main",
    "TaskAccepted": "done, without a branch",
    "TaskFailed": "given up for good",
    "TaskCancelled": "no longer wanted",
    "TaskSame": "the same work as another",
    "TaskReopened": "wanted after all",
}


def states_page() -> str:
    rows = [[state, code(kind), MOVE_WORDS[kind], after] for (state, kind), after in MOVES.items()]
    return page(
        "States of a task",
        "Whatever is not in this table is refused.",
        block(_diagram(), "mermaid"),
        table(["from", "event", "because it is", "to"], rows),
        f"Ended: {', '.join(state for state in STATES if state in ENDED)}. Tasks that come after one become "
        f"ready when it is {' or '.join(state for state in STATES if state in FINISHED)}.",
    )


def _diagram() -> str:
    lines = [
        "stateDiagram-v2",
        *(f'    state "{state}" as {_mermaid(state)}' for state in STATES if " " in state),
    ]
    lines.append(f"    [*] --> {_mermaid(STATES[0])}: TaskAdded")
    joined: dict[tuple[str, str], list[str]] = {}
    for (state, kind), after in MOVES.items():
        joined.setdefault((state, after), []).append(kind)
    lines += [f"    {_mermaid(a)} --> {_mermaid(b)}: {', '.join(kinds)}" for (a, b), kinds in joined.items()]
    lines += [f"    {_mermaid(state)} --> [*]" for state in STATES if state in FINISHED]
    return "\n".join(lines)


def _mermaid(state: str) -> str:
    return state.replace(" ", "_")


# -- refusals ---------------------------------------------------------------------------------


def refusals_page() -> str:
    parts = [
        "A refusal says what is refused, who has it and until when, and one next action that can be run as "
        "it stands. On stderr it is text; with `--json` it is the `error` of the answer (see "
        "[JSON](json.md)). The code never changes its meaning; the words may. A word in capitals "
        "stands for a fact. Where a sentence can be said in several ways, all of them are listed, divided "
        "by `|`.",
    ]
    area, facts = "", _facts_by_code()
    for key, row in sorted([*ROWS.items(), *_not_found_rows()], key=lambda pair: pair[0]):
        code = key.partition("/")[0]
        if code.partition(".")[0] != area:
            area = code.partition(".")[0]
            parts.append(f"## {area}")
        heading = [] if "/" in key else [f"### {code}"]
        told = f" Facts: {codes(facts[key])}." if facts.get(key) else ""
        parts.append("\n\n".join([*heading, f"Exit code {row.exit_code}.{told}", block(_sentences(row))]))
    return page("Refusals", *parts)


def _sentences(row: Row) -> str:
    lines = [" | ".join(_in_capitals(one) for one in part if one) for part in (row.what, row.who)]
    next_ = " | ".join(following(_in_capitals(one), row.next_is) for one in row.next if one)
    return "\n".join(line for line in (*lines, next_) if line)


def _in_capitals(template: str) -> str:
    """`{path:PATH}` as PATH; a fact that may be missing stands in brackets."""
    shown = ""
    for text, name, how, _ in Formatter().parse(template):
        fact = (name or "").upper()
        if how == "?":
            fact = f"[{fact}]"
        elif how and how.isalpha() and how.islower() and how not in ("path", "few", "proposal", "duration"):
            fact = f"{fact} {how}s"
        shown += text + fact
    return shown


def _facts_by_code() -> dict[str, list[str]]:
    """The facts that come as data, read from the places that give the refusal."""
    found: dict[str, dict[str, None]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "refuse":
                names = [keyword.arg or "expires_at" for keyword in node.keywords]
                for constant in ast.walk(node.args[0]):
                    if isinstance(constant, ast.Constant) and constant.value in ROWS:
                        kept = [name for name in names if name not in ROWS[constant.value].words]
                        found.setdefault(constant.value, {}).update(dict.fromkeys(kept))
    return {code: list(names) for code, names in found.items()}


def _not_found_rows() -> list[tuple[str, Row]]:
    """The kinds of thing that the source says are not there, each with its own next action."""
    found: dict[str, Row] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("not_found"):
                kind, _, next_ = node.args
                if not isinstance(kind, ast.Constant):
                    raise Incomplete(f"{path.name}: not_found is asked for a kind that is not a plain text")
                action = str(next_.value) if isinstance(next_, ast.Constant) else "lineclear value list"
                row = Row(NOT_FOUND, f'There is no {kind.value} "{{name}}".', next=action)
                found.setdefault(f"{kind.value}.unknown", row)
    return list(found.items())


# -- JSON -------------------------------------------------------------------------------------


def json_page() -> str:
    answer = _written(lambda out: out.data({"key": "config", "version": 4, "value": {"burst": 20}}))
    warned = _written(_warn_and_answer)
    refused = _written(
        lambda out: out.refuse(refuse("value.stale", key="config", given=3, version=4, holder="codex-2"))
    )
    streamed = _written(lambda out: out.stream({"position": 42, "kind": "ClaimGranted"}, ""))
    return page(
        "JSON",
        f"Every verb takes `--json` and then writes one line of JSON to stdout. The schema is `{SCHEMA}`; "
        "its number grows when a field changes its meaning or goes away. New fields may appear at any time.",
        "## An answer",
        block(answer, "json"),
        "`data` is the answer; its fields depend on the verb. `warnings` holds texts for a person (an "
        "unknown setting, for example):",
        block(warned, "json"),
        "## A refusal",
        block(refused, "json"),
        "There is no `data`, and the exit code is not 0. `code` is stable. `message` is for reading. `next` "
        "is one command that can be run. The other fields are the facts, listed in [Refusals](refusals.md).",
        "## A stream",
        "`log -f --json` writes one line for each event and does not end by itself:",
        block(streamed, "json"),
        "## Conventions",
        "- Instants are UTC in ISO 8601 (`2026-01-01T12:12:00Z`) and end in `at`; durations carry their unit "
        "(`seconds_left`, `waited_ms`).\n"
        "- Tasks are written `T-41`, resources in their one canonical form (`file:src/auth/`).\n"
        "- A repeated operation id adds `replayed: true`, and `still_valid` where something was granted.\n"
        "- With `--json` stderr stays empty, except for what a command under `with` writes there.",
    )


def _warn_and_answer(out: Output) -> None:
    out.warn('lineclear.toml: the key "claims.tll" is unknown and ignored; did you mean "claims.ttl"?')
    out.data({})


def _written(write: Callable[[Output], None]) -> str:
    text = StringIO()
    write(Output(is_json=True, environ={}, out=text, err=text))
    return text.getvalue()


# -- writing ----------------------------------------------------------------------------------

# -- clients ------------------------------------------------------------------------------------


def clients_page() -> str:
    rows = [
        [client.title, code(client.name), held.edits, held.context, held.shell, held.subagents, held.tools,
         held.cost, held.closed, held.seen]
        for client, held in coding_agents()
    ]  # fmt: skip
    columns = [
        "client", "`setup`", "forbidden edit", "context reaches the model", "forbidden shell write",
        "sub-agents", "tools", "cost", "can fail closed", "seen with",
    ]  # fmt: skip
    return page(
        "What each client can be held to",
        "**hard**: lineclear stops it and tells the model why. **after the fact**: it has happened; "
        "lineclear tells the model at once, with the command that undoes it, and does not let it land. "
        "**instructions only**: the model reads the rules in `AGENTS.md`; every landing still checks them. "
        "The commit gate (`lineclear setup git`) works in clients that run git's hooks.",
        table(columns, rows),
        "**tools**: how a model learns of the tools of the MCP server that set-up registers, named in its "
        "first request or to be searched for; where it says no, set-up registers none.",
        "All of them fail open: a hook that breaks lets the call pass, unless `hooks.on_error` is `closed` "
        "and the client has a switch for it. A client without a probe is set up by its documentation, and "
        "`lineclear setup CLIENT --check` says that its hook was not tried.",
        "## What reaches the model",
        "Messages, and notes such as who else is changing a file, are sent only with events whose answer the "
        "client gives to its model, and count as read only then; what comes up at another event waits for "
        "the next of these. A refusal reaches the model at other events: before a tool it says why the call "
        "was stopped, and at a stop what the agent has to know before it goes.",
        table(["client", "events that carry messages and notes", "events that carry a refusal"], _delivery()),
        "[Set up your clients](../how-to/set-up-clients.md) tells how, and which trust steps there are.",
    )


def _delivery() -> list[list[str]]:
    """What the hooks of each client do: the same functions that answer a real call."""
    rows = []
    for client, _ in coding_agents():
        module = hook_of(client.name)
        if module is None:
            continue
        found = {event: module.read_call(event, {}) for event in module.EVENTS}
        calls = {event: call for event, call in found.items() if call is not None}
        told = [event for event, call in calls.items() if call.can_tell]
        deniable = [event for event, call in calls.items() if call.event in (hooks.BEFORE_OTHER, hooks.STOP)]
        refusal = hooks.HookAnswer(is_denied=True, reason="why")
        refused = [event for event in deniable if b"why" in module.write_answer(event, refusal)]
        rows.append([client.title, codes(told), codes(refused)])
    return rows


def tools_page() -> str:
    rows = [
        [code(tool.name), code(tool.verb), codes(_arguments(tool)), tool.words,
         EFFECTS[tool.effect], "" if tool.is_default else "`--tools all`"]
        for tool in TOOLS.values()
    ]  # fmt: skip
    pages_ = [[code(address), words] for address, (_, words) in (PAGES_SHOWN | TEMPLATES).items()]
    prompts_ = [[code(name), words] for name, (words, _) in PROMPTS.items()]
    return page(
        "Tools of the MCP server",
        "`lineclear mcp` serves them. Each is a verb of the command line: what it checks, refuses and "
        "answers is the same. `*` marks what must be given; `key` makes a repeat of a call harmless.",
        "## Tools",
        table(["tool", "verb", "arguments", "what the model reads", "effect", "offered with"], rows),
        "The structured content of an answer is the [envelope](json.md) that `--json` prints; a refusal has "
        "`isError` and `error` with `code`, `message` and `next`.",
        "## Resources",
        table(["address", "shows"], pages_),
        "## Prompts",
        table(["prompt", "for"], prompts_),
    )


EFFECTS = {"read": "only looks", "write": "changes something", "once": "twice is once",
           "destroy": "changes branches or what others see"}  # fmt: skip


def _arguments(tool: Tool) -> list[str]:
    return [f"{name}*" if name in tool.needs else name for name in tool.takes]


PAGES: dict[str, Callable[[], str]] = {
    "clients.md": clients_page,
    "commands.md": commands_page,
    "settings.md": settings_page,
    "events.md": events_page,
    "refusals.md": refusals_page,
    "tables.md": tables_page,
    "tasks-states.md": states_page,
    "json.md": json_page,
    "tools.md": tools_page,
    "merging.md": lambda: page("What merging knows", *merge_coverage.parts()),
}


def outdated() -> dict[Path, str]:
    """Path -> new text of every generated file that differs from what the program says now."""
    makers = (
        {REFERENCE / name: make for name, make in PAGES.items()} | plugin_files.FILES | settings_file.FILES
    )
    made = {path: make() for path, make in makers.items()}
    return {
        path: text
        for path, text in made.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="docs/generate.py", description="Write the generated reference.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when a page differs")
    args = parser.parse_args(arguments)
    pages = outdated()
    for path, text in pages.items():
        sys.stdout.write(
            f"{path.relative_to(DOCS.parent)} {'is out of date' if args.check else 'is written'}\n"
        )
        if not args.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if args.check and pages:
        sys.stdout.write("Next: run `make docs`.\n")
    return 1 if args.check and pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
