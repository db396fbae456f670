"""Starts Claude Code: `claude -p`, with the prompt on standard input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.launch import EDIT, FULL, in_session, option, shell_prefixes

if TYPE_CHECKING:
    from lineclear.clients.launch import Launch, WorkerCommand


def launch(asked: Launch) -> WorkerCommand:
    # The prompt goes to standard input: on Linux, one argument holds at most 128 KiB.
    argv = [*asked.command, "-p", "--output-format", "stream-json", "--verbose"]
    argv += _permissions(asked)
    argv += option("--model", asked.model)
    return in_session(argv, asked)


def _permissions(asked: Launch) -> list[str]:
    if asked.permissions == FULL:
        return ["--dangerously-skip-permissions"]
    if asked.permissions != EDIT:
        return []
    shells = [f"Bash({prefix}:*)" for prefix in shell_prefixes(asked)]
    # As one argument: a list of several would swallow the arguments that follow.
    return ["--permission-mode", "acceptEdits", "--allowedTools", ",".join([*shells, "mcp__lineclear"])]
