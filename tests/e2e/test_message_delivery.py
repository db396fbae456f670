"""A message counts as read only when the model of the real client has received it.

A message is sent while the model thinks, before each of its calls: the next hook of the client is then the
one before a tool, whose answer several clients throw away. What a model received is read from the scripted
server's log of requests. One run shows several things at once: a start of a client costs seconds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients_server import Asked, edit, read, running_model, say, shell, tool
from tests.e2e.agents import Studio
from tests.repository import TemporaryRepo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

LOGIN = "class Login:\n    def check(self):\n        return 1\n"


@pytest.mark.parametrize("client", ["claude", "codex", "copilot", "gemini", "qwen", "opencode"])
def test_every_message_that_counts_as_read_was_received(
    client: str, repo: TemporaryRepo, tmp_path: Path
) -> None:
    repo.commit("Begin", {"login.py": LOGIN})
    studio = Studio(repo, tmp_path, client)
    line, name = studio.line, f"{client}-1"
    line.ok("claim", "login.py", "--mode", "intent", "--note", "renaming check", "--as", "ben")
    sent: list[str] = []

    def speak(asked: Asked) -> None:
        if asked.step == len(sent):
            sent.append(f"number {asked.step} of ben")
            line.ok("say", sent[-1], "--to", name, "--as", "ben", *(["--urgent"] if asked.step == 1 else []))

    steps = [
        shell("echo one"),
        read(f"{repo.path}/login.py"),
        edit(f"{repo.path}/login.py", "        return 1", "        return 7"),
        tool("lineclear", "who", resource="login.py"),
        shell("echo three"),
        say("Done."),
    ]
    with running_model({"ada": steps}) as model:
        model.on_asked = speak
        studio.run(client, "ada", model)
        unread = [message["text"] for message in line.json("inbox", "--peek", "--as", name)["messages"]]
        assert len(sent) >= len(steps), studio.output("ada")
        lost = [text for text in sent if text not in unread and not model.heard("ada", text)]
        assert not lost, studio.output("ada")
        # All but the last arrive in time: that one is sent while the model says its last words.
        assert all(model.heard("ada", text) for text in sent[:-1]), studio.output("ada")
        assert model.heard("ada", "ben is changing file:login.py"), studio.output("ada")
    studio.close()
    studio.no_errors()
