"""Starts GitHub Copilot CLI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.launch import EDIT, FULL, WorkerCommand, option, shell_prefixes

if TYPE_CHECKING:
    from lineclear.clients.launch import Launch


def launch(asked: Launch) -> WorkerCommand:
    argv = [*asked.command, "--output-format", "json", "--no-color", *_permissions(asked)]
    argv += option("--model", asked.model)
    # One option for both: an unknown id starts a new session.
    argv += option("--session-id", asked.resume_session or asked.session)
    return WorkerCommand(argv, session=asked.resume_session or asked.session)


def _permissions(asked: Launch) -> list[str]:
    if asked.permissions == FULL:
        return ["--allow-all-tools", "--allow-all-paths"]
    if asked.permissions != EDIT:
        return []
    # Except for git, Copilot's rules know only the program, not its subcommand.
    rules = [
        prefix if prefix.startswith("git ") else prefix.partition(" ")[0] for prefix in shell_prefixes(asked)
    ]
    shells = [f"shell({rule}:*)" for rule in dict.fromkeys(rules)]
    return [f"--allow-tool={tool}" for tool in ("write", "lineclear", *shells)]
