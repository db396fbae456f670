"""Starts opencode: `opencode run`, with its permissions in a variable."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lineclear.clients.launch import EDIT, FULL, WorkerCommand, option, shell_prefixes

if TYPE_CHECKING:
    from lineclear.clients.launch import Launch


def launch(asked: Launch) -> WorkerCommand:
    argv = [*asked.command, "run", "--format", "json"]
    argv += ["--auto"] if asked.permissions == FULL else []
    argv += option("--model", asked.model)
    argv += option("--session", asked.resume_session)
    env = {"OPENCODE_PERMISSION": _permissions(asked)} if asked.permissions == EDIT else {}
    # opencode takes its directory from this variable, not from the current directory.
    return WorkerCommand(argv, env | ({"PWD": asked.worktree} if asked.worktree else {}))


def _permissions(asked: Launch) -> str:
    """Later patterns win, so the general rule comes first. With `deny` the model gets an error and goes on;
    `ask` would end the whole run, since nobody is there to answer.
    """
    allowed = [form for prefix in shell_prefixes(asked) for form in (prefix, f"{prefix} *")]
    shells = {"*": "deny"} | dict.fromkeys(allowed, "allow")
    rules = {"edit": "allow", "bash": shells, "lineclear_*": "allow", "external_directory": "deny"}
    return json.dumps(rules)
