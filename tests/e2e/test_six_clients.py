"""Six real clients, and what went wrong with them: what each did, and what its model received.

What a model received is read from the scripted server's log of requests. One run shows several things at
once: a start of a client costs seconds. Messages: test_message_delivery.py.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.clients_server import Asked, edit, read, running_model, say, shell, tool
from tests.e2e.agents import PATIENCE_S, Studio
from tests.repository import TemporaryRepo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

PAIRS = [("claude", "codex"), ("copilot", "gemini"), ("qwen", "opencode")]


@pytest.mark.parametrize("pair", PAIRS)
def test_who_holds_a_file_is_told_what_the_command_of_another_did_to_it(
    pair: tuple[str, str], repo: TemporaryRepo, tmp_path: Path
) -> None:
    """Two in one tree; each holds a file, and each takes back what the other has changed."""
    repo.commit("Begin", {f"{client}.ini": "x = 1\n" for client in pair})
    studio = Studio(repo, tmp_path, *pair)
    steps = {
        me: [
            shell(f"{studio.program} claim {me}.ini --mode exclusive --ttl 10m"),
            read(f"{repo.path}/{me}.ini"),
            edit(f"{repo.path}/{me}.ini", "x = 1", "x = 2"),
            shell(f"git checkout -- {other}.ini"),
            shell("echo on"),
            tool("lineclear", "claim", resources=[f"value:{me}"], mode="exclusive"),
            say("Done."),
        ]
        for me, other in (pair, pair[::-1])
    }
    first, second = pair
    reached = {(client, step): threading.Event() for client in pair for step in (3, 4)}
    # One command after the other: what two change at the same time is nobody's for sure.
    waits = {(first, 3): (second, 3), (second, 3): (first, 4), (first, 4): (second, 4)}

    def meet(asked: Asked) -> None:
        at = (asked.agent, asked.step)
        if at in reached:
            reached[at].set()
            assert reached[waits.get(at, at)].wait(PATIENCE_S)

    with running_model(steps) as model:
        model.on_asked = meet
        for process in [studio.start(client, client, model) for client in pair]:
            assert process.wait(PATIENCE_S) == 0, [studio.output(client) for client in pair]
        for me, other in (pair, pair[::-1]):
            assert model.heard(me, f"file:{me}.ini is yours (exclusive)"), studio.output(me)
            assert model.heard(me, "your command changed files that you may not change"), studio.output(me)
            assert model.heard(me, f"{other}-1 holds file:{other}.ini"), studio.output(me)
            told = f"A command of {other}-1 changed file:{me}.ini, which you hold exclusively"
            assert model.heard(me, told), studio.output(me)
            # A claim by tool and a claim in the shell are one agent's.
            assert studio.line.holders(f"value:{me}") == studio.line.holders(f"{me}.ini") == [f"{me}-1"]
    studio.close()
    studio.no_errors()
