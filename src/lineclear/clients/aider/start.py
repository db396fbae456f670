"""Starts aider, which has no sessions to resume."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.launch import NO_INPUT, NONE, WorkerCommand, option

if TYPE_CHECKING:
    from lineclear.clients.launch import Launch


_QUIET = ("--no-pretty", "--no-stream", "--no-check-update", "--no-show-release-notes", "--analytics-disable")


def launch(asked: Launch) -> WorkerCommand:
    """`--yes-always` answers aider's questions, but does not run shell commands."""
    argv = [*asked.command, *_QUIET]
    argv += [] if asked.permissions == NONE else ["--yes-always"]
    argv += option("--model", asked.model)
    if asked.prompt_file:
        return WorkerCommand([*argv, "--message-file", asked.prompt_file], stdin=NO_INPUT)
    return WorkerCommand([*argv, "--message", asked.prompt], stdin=NO_INPUT)
