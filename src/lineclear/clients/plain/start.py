"""How any command is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.launch import NO_INPUT, PROMPT_INPUT, WorkerCommand, filled

if TYPE_CHECKING:
    from lineclear.clients.launch import Launch


def launch(asked: Launch) -> WorkerCommand:
    """The prompt comes where the command names it; a command that does not, gets it as its input."""
    argv = filled(asked.command, asked)
    names_it = any("{prompt}" in word or "{prompt_file}" in word for word in asked.command)
    return WorkerCommand(argv, stdin=NO_INPUT if names_it else PROMPT_INPUT)
