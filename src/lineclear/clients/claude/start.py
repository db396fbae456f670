"""How Claude Code is started: `claude -p`, the prompt on standard input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.launch import EDIT, FULL, in_session, option, shell_prefixes

if TYPE_CHECKING:
    from lineclear.clients.launch import Launch, WorkerCommand


def launch(asked: Launch) -> WorkerCommand:
    """The prompt goes through standard input: one word of a command line holds at most 128 KiB on Linux."""
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
    # A joined list: as several words it would swallow whatever is added behind it.
    return ["--permission-mode", "acceptEdits", "--allowedTools", ",".join([*shells, "mcp__lineclear"])]
