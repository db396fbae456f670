"""Starts Gemini CLI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.launch import EDIT, FULL, in_session, option, shell_prefixes

if TYPE_CHECKING:
    from lineclear.clients.launch import Launch, WorkerCommand


def launch(asked: Launch) -> WorkerCommand:
    argv = [*asked.command, "--output-format", "stream-json", *_permissions(asked)]
    argv += option("--model", asked.model)
    started = in_session(argv, asked)
    if asked.permissions in (EDIT, FULL):
        # Nobody has trusted a new worktree yet, and in an untrusted folder every mode falls back to asking.
        # Not `--skip-trust`: it (0.61) silently skips the project's hooks.
        started.env["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    return started


def _permissions(asked: Launch) -> list[str]:
    if asked.permissions == FULL:
        return ["--approval-mode", "yolo"]
    if asked.permissions != EDIT:
        return []
    shells = [f"run_shell_command({prefix})" for prefix in shell_prefixes(asked)]
    return ["--approval-mode", "auto_edit", "--allowed-tools", ",".join(shells)]
