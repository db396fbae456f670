"""How goose is started: `goose run`, the prompt on standard input."""

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
    # It asks about everything or about nothing, and there is no person to answer.
    env = {} if asked.permissions == NONE else {"GOOSE_MODE": "auto"}
    return WorkerCommand(argv, env)
