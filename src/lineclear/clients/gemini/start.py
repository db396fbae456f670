"""How Gemini CLI is started."""

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
        # A fresh worktree is a folder that nobody has trusted, and there every mode is lowered to asking.
        # Not `--skip-trust`: with that one (0.61) the hooks of the project are skipped, in silence.
        started.env["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    return started


def _permissions(asked: Launch) -> list[str]:
    if asked.permissions == FULL:
        return ["--approval-mode", "yolo"]
    if asked.permissions != EDIT:
        return []
    shells = [f"run_shell_command({prefix})" for prefix in shell_prefixes(asked)]
    return ["--approval-mode", "auto_edit", "--allowed-tools", ",".join(shells)]
