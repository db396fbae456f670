"""Starts Qwen Code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.launch import EDIT, FULL, in_session, option, shell_prefixes

if TYPE_CHECKING:
    from lineclear.clients.launch import Launch, WorkerCommand


def launch(asked: Launch) -> WorkerCommand:
    argv = [*asked.command, "--output-format", "stream-json", *_permissions(asked)]
    argv += option("--model", asked.model)
    return in_session(argv, asked)


def _permissions(asked: Launch) -> list[str]:
    if asked.permissions == FULL:
        return ["--approval-mode", "yolo"]
    if asked.permissions != EDIT:
        return []
    shells = [f"run_shell_command({prefix})" for prefix in shell_prefixes(asked)]
    return ["--approval-mode", "auto-edit", "--allowed-tools", ",".join(shells)]
