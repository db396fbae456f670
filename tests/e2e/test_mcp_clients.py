"""The real Claude Code, Codex and Gemini CLI call our tools, and their models are told what came of it.

What a model was told is read from the scripted server's log of requests, never from our own output.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lineclear.mcp.catalog import offered
from tests.clients_server import Asked, running_model, say, tool
from tests.e2e.agents import Office
from tests.repository import TemporaryRepo

pytestmark = pytest.mark.slow

# Names of the agents as hooks and shell commands of the same session know them.
AGENTS = {"claude": "claude-1", "codex": "codex-1", "gemini": "gemini-1"}
# What each gives its model: the structured content, or the text.
GIVES_TEXT = {"claude": False, "codex": False, "gemini": True}


@pytest.fixture
def office(repo: TemporaryRepo, tmp_path: Path) -> Iterator[Office]:
    repo.commit("Begin", {"login.py": "one = 1\n", "pay.py": "two = 2\n"})
    office = Office(repo, tmp_path)
    yield office
    office.close()
    office.no_errors()


# Tool, arguments, and what the model reads: in the structured content, and in the text.
CALLS: list[tuple[str, dict[str, Any], str, str]] = [
    ("status", {}, '"me":"ME"', "bob       agent"),
    (
        "task_add",
        {"title": "login form", "scope": ["login.py"], "priority": 1},
        '"id":"T-1","title":"login form","state":"open","priority":1',
        'T-1 is added: "login form"',
    ),
    ("task_next", {"can": ["python"]}, '"state":"taken"', 'T-1 is yours: "login form"'),
    (
        "claim",
        {"resources": ["login.py", "port:8080"], "note": "login", "ttl": "10m", "task": "T-1"},
        '"agent":"ME","resource":"file:login.py","mode":"exclusive"',
        "file:login.py is yours (exclusive) for 10 min",
    ),
    ("who", {"resource": "login.py"}, '"holders":[{"agent":"ME"', "ME  exclusive  file:login.py"),
    ("task_note", {"task": "T-1", "text": "begun"}, '"note":', "Noted at T-1"),
    ("release", {"resources": ["login.py"]}, '"released":["file:login.py"]', "file:login.py is free."),
    (
        "task_done",
        {"task": "T-1", "result": "it works"},
        '"state":"accepted"',
        "T-1 is accepted\nStill held for it: port:8080.",
    ),
    ("say", {"text": "done", "to": "bob"}, '"audience":"agent:bob"', "was sent to agent bob."),
    ("inbox", {}, '"text":"the port is 4711"', "> the port is 4711"),
    (
        "value_put",
        {"name": "limits", "value": {"most": 3}, "version": 0},
        '"key":"limits","version":1,"value":{"most":3},"by":"ME"',
        "limits is now version 1.",
    ),
    ("value_get", {"name": "limits"}, '"value":{"most":3}', '{"most":3}\nversion 1, written by ME'),
    (
        "propose",
        {"resource": "value:limits", "value": {"most": 4}, "note": "more"},
        '"author":"ME","base_version":1,"payload":{"most":4},"note":"more","state":"open"',
        "for value:limits was created.",
    ),
    (
        "check",
        {},
        '"branch":"topic","main":"main","fits":true',
        "topic merges cleanly into main (fast-forward, 1 file).",
    ),
    ("land", {}, '"result":"landed"', "topic is on main as"),
]
INBOX = [name for name, *_ in CALLS].index("inbox")
NEXT = "lineclear claim file:pay.py --mode intent --wait 10m"


@pytest.mark.parametrize("client", list(AGENTS))
def test_every_default_tool_is_called_and_its_answer_reaches_the_model(office: Office, client: str) -> None:
    assert {name for name, *_ in CALLS} == set(offered(is_all=False))
    me, tree = AGENTS[client], office.repo.add_worktree("topic")
    office.repo.commit("New", {"new.py": "x = 1\n"}, at=tree)
    office.line.ok("claim", "pay.py", "--as", "bob", "--note", "new prices")
    words = office.offer_tools(client, tree)
    steps = [tool("lineclear", name, **arguments) for name, arguments, *_ in CALLS]
    steps.append(tool("lineclear", "claim", resources=["pay.py"]))

    def on_asked(asked: Asked) -> None:
        if asked.step == INBOX:  # not earlier: the hooks would have told it already
            office.line.ok("say", "the port is 4711", "--to", me, "--as", "bob")

    with running_model({"ada": [*steps, say("Done.")]}) as model:
        model.on_asked = on_asked
        office.run(client, "ada", model, tree, words)
        *answers, refusal = model.told("ada")
    for (name, _, content, text), answer in zip(CALLS, answers, strict=True):
        expected = (text if GIVES_TEXT[client] else content).replace("ME", me)
        assert expected in answer.text, (name, answer)
        assert not answer.is_error, (name, answer)
    assert "bob holds file:pay.py (exclusive) until" in refusal.text
    assert NEXT in refusal.text
    assert refusal.is_error or client == "codex"  # which has no mark for it
    assert office.repo.git("show", "main:new.py") == "x = 1"
    assert office.line.json("value", "get", "limits")["by"] == me
    assert [m["text"] for m in office.line.json("inbox", "--as", "bob")["messages"]] == ["done"]
    office.line.ok("audit")


@pytest.mark.parametrize("client", list(AGENTS))
def test_a_claim_by_tool_is_the_agents_own_and_a_refusal_reaches_its_model(
    office: Office, client: str
) -> None:
    office.line.ok("claim", "pay.py", "--as", "bob", "--note", "new prices")
    words = office.offer_tools(client, office.repo.path)
    steps = {
        "ada": [
            tool("lineclear", "claim", resources=["login.py"], note="login"),
            tool("lineclear", "claim", resources=["pay.py"]),
            say("Done."),
        ]
    }
    with running_model(steps) as model:
        office.run(client, "ada", model, words=words)
        assert model.heard("ada", "file:login.py"), office.output("ada")
        assert model.heard("ada", "bob holds file:pay.py"), office.output("ada")
    assert office.line.holders("login.py") == [AGENTS[client]], office.output("ada")
