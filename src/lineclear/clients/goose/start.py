"""Starts goose: `goose run`, with the prompt on standard input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.launch import NONE, WorkerCommand, option

if TYPE_CHECKING:
    from lineclear.clients.launch import Launch


def launch(asked: Launch) -> WorkerCommand:
    argv = [*asked.command, "run", "--output-format", "stream-json", "-i", "-"]
    argv += option("--model", asked.model)
    if asked.resume_session:
        argv += ["--resume", "--session-id", asked.resume_session]
    # goose asks about everything or about nothing, and nobody is there to answer.
    env = {} if asked.permissions == NONE else {"GOOSE_MODE": "auto"}
    return WorkerCommand(argv, env)
