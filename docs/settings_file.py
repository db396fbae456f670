"""Writes lineclear.example.toml from the table of settings.

The help, the bounds and the default of each key come from `lineclear.settings`. Only the introduction and the
examples of tables whose keys a file chooses itself are written here.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from lineclear.settings import SECTIONS, SETTINGS, Setting
from lineclear.settings.checks import CHECK_PATH_KEYS
from lineclear.settings.prices import PRICE_KEYS
from lineclear.settings.setting import CHOICE, COUNT, DURATION, SIZE
from lineclear.settings.strategies import STRATEGY_KEYS
from lineclear.settings.values import write_value
from lineclear.settings.workers import WORKER_KEYS

EXAMPLE = Path(__file__).resolve().parents[1] / "lineclear.example.toml"
WIDTH = 108

INTRODUCTION = """\
All settings of lineclear with their defaults. This file is generated: `make docs` writes it.

To change a setting for the whole team, copy it into `lineclear.toml` in the root of your repository and \
commit that file. Settings for your clone alone go into `.git/lineclear/local.toml`, which git ignores. To \
change a setting for one command, set a variable: LINECLEAR_CLAIMS_TTL=45m is the key "ttl" of [claims]. \
A variable wins over local.toml, and local.toml wins over lineclear.toml.

Write durations like "90s", "30m", "2h", "1h30m" or "7d", sizes like "10MiB" or "500MB", and money in US \
dollars like "2.50". Commands in the committed file run only after `lineclear trust`. \
`lineclear config show --origin` shows the current values and where each one comes from."""

SECTION_HELP = {
    "mirror": "Files for agents that only read files. They are off by default because they add files to your "
    "worktrees (git never sees them). lineclear rewrites them after every change.",
    "serve": "What `lineclear serve` does in the background besides answering. A running server notices when "
    "these settings change.",
}

WORKTREE_VARIABLES = (
    "Variables for setup commands, checks and agents in a worktree. Keep secrets in "
    "`.git/lineclear/local.toml`.",
    """\
[worktrees.env]
NODE_ENV = "test"
""",
)
CHECKS = (
    "A separate check for a part of the repository. It runs when a file that matches has changed.",
    """\
[[checks.paths]]
match = "web/"
command = "npm --prefix web test"
retries = 1
""",
)
PRICES = (
    "The cost of a million tokens in US dollars, by the name of a model or a client. Budgets in money need "
    "it for clients that report tokens but no cost. Put a name with a dot in quotes.",
    """\
[prices]
"some-model-4.1" = { input = 3.0, output = 15.0, cached = 0.3 }
""",
)
WORKERS = (
    "Who does the work of `lineclear run`. Without any entry it is the client that you name.",
    """\
[workers.writer]
client = "claude"
count = 2
labels = ["ui"]
model = "some-model"
permissions = "edit"
worktree = true
run_time = "1h"
run_tokens = 2000000
run_money = "5.00"
run_memory = "4GiB"
sandbox = "off"
env = { LANG = "C.UTF-8" }

[workers.reviewer]
client = "plain"
command = ["./review.sh", "{prompt_file}"]
stream = "plain"
worktree = false
""",
)
STRATEGY_MEANINGS = {
    "isolated": "everyone has their own copy; the copies are merged later",
    "single-writer": "one agent writes, all others propose",
    "optimistic": "everyone writes, but never over a version that they have not read",
    "locked": "an exclusive claim first, then the write",
    "read-only": "no agent writes",
}
STRATEGIES = (
    "How resources are shared. Each [[strategy]] covers one match. When several match, the last one counts, "
    "and entries of local.toml come after those of lineclear.toml. Without any entry files are isolated, "
    "values are optimistic, and images, archives and other binary files are locked.",
    """\
[[strategy]]
match = "src/"
strategy = "isolated"

[[strategy]]
match = "docs/architecture.md"
strategy = "single-writer"
owner = "architect"
phase = "integrate"

[[strategy]]
match = "value:build/**"
strategy = "optimistic"

[[strategy]]
match = "**/*.blend"
strategy = "locked"

[[strategy]]
match = "vendor/"
strategy = "read-only"
""",
)


def example() -> str:
    parts = [_comment(INTRODUCTION)]
    for section in SECTIONS:
        parts.append(_section(section))
        parts += [_chosen(*WORKTREE_VARIABLES)] if section == "worktrees" else []
        parts += [_chosen(*CHECKS, CHECK_PATH_KEYS)] if section == "checks" else []
    workers = {key: _sentences(row) for key, row in WORKER_KEYS.items()} | {
        "env": "Variables for this worker."
    }
    meanings = "\n".join(_columns(STRATEGY_MEANINGS))
    parts += [
        _chosen(*PRICES, PRICE_KEYS),
        _chosen(*WORKERS, workers),
        _chosen(*STRATEGIES, STRATEGY_KEYS, more=meanings),
    ]
    return "\n\n\n".join(parts) + "\n"


def _section(name: str) -> str:
    keys = [_key(row) for row in SETTINGS.values() if row.name.startswith(f"{name}.")]
    about = SECTION_HELP.get(name)
    return f"[{name}]\n" + "\n\n".join([_comment(about), *keys] if about else keys)


def _key(row: Setting) -> str:
    value = json.dumps(write_value(row, row.default))
    return f"{_comment(_sentences(row))}\n# {row.name.partition('.')[2]} = {value}"


def _sentences(row: Setting) -> str:
    """The help with the bounds of a number or the choices, unless the row inherits them."""
    if row.inherits:
        return row.help
    if row.kind in (COUNT, DURATION, SIZE):
        return f"{row.help} From {write_value(row, row.least)} to {write_value(row, row.most)}."
    choices = [json.dumps(choice) for choice in row.choices]
    if row.kind == CHOICE and not all(choice in row.help for choice in choices):
        return f"{row.help} Choices: {', '.join(choices)}."
    return row.help


def _chosen(about: str, sample: str, keys: Mapping[str, str] | None = None, more: str = "") -> str:
    """A table whose keys a file chooses itself: what it is for, its keys, an example."""
    lines = [_comment(about), "#"]
    lines += [*_columns(keys), "#"] if keys else []
    lines += [more, "#"] if more else []
    lines += [f"# {line}".rstrip() if line else "" for line in sample.rstrip("\n").split("\n")]
    return "\n".join(lines)


def _columns(rows: Mapping[str, str]) -> Iterator[str]:
    wide = max(map(len, rows)) + 3
    for name, words in rows.items():
        yield _wrapped(words, f"# {name:<{wide}}", "# " + " " * wide)


def _comment(text: str) -> str:
    return "\n".join(_wrapped(line, "# ", "# ") if line else "#" for line in text.split("\n"))


def _wrapped(text: str, first: str, others: str) -> str:
    """Lines of a comment; neither a command in backticks nor a path is broken in two."""
    whole = re.sub("`[^`]*`", lambda found: found[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(
        whole,
        WIDTH,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace("\0", " ")


FILES: dict[Path, Callable[[], str]] = {EXAMPLE: example}
