"""Starts any command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.launch import NO_INPUT, PROMPT_INPUT, WorkerCommand, filled

if TYPE_CHECKING:
    from lineclear.clients.launch import Launch


def launch(asked: Launch) -> WorkerCommand:
    """Put the prompt where the command names it; if it does not, pass it on standard input."""
    argv = filled(asked.command, asked)
    names_it = any("{prompt}" in word or "{prompt_file}" in word for word in asked.command)
    return WorkerCommand(argv, stdin=NO_INPUT if names_it else PROMPT_INPUT)
