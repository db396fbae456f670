"""The real Claude Code, Codex and Gemini CLI call tools of one running server, each with its agent's token.

What a model was told is read from the scripted server's log of requests, never from our own output.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients_server import running_model, say, tool
from tests.e2e.agents import PLACES, Office
from tests.e2e.commandline import CommandLine
from tests.e2e.serve_peer import token_for
from tests.e2e.serving import ServeProcess
from tests.repository import TemporaryRepo

pytestmark = pytest.mark.slow

TOKEN = "LINECLEAR_TOKEN"


@pytest.fixture
def office(repo: TemporaryRepo, tmp_path: Path) -> Iterator[Office]:
    repo.commit("Begin", {"login.py": "one = 1\n", "pay.py": "two = 2\n"})
    office = Office(repo, tmp_path)
    yield office
    office.close()
    office.line.end_all()
    office.no_errors()


def _offer(office: Office, client: str, url: str) -> list[str]:
    """The entry that docs/how-to/mcp.md shows; gives words for the client's command line."""
    if client == "codex":
        return [
            "--config",
            f'mcp_servers.lineclear={{url="{url}", bearer_token_env_var="{TOKEN}", required=true}}',
        ]
    if client == "claude":
        headers = {"Authorization": f"Bearer ${{{TOKEN}}}"}
        server: dict[str, Any] = {"type": "http", "url": url, "headers": headers, "alwaysLoad": True}
        (office.repo.path / ".mcp.json").write_text(json.dumps({"mcpServers": {"lineclear": server}}))
        return []
    file = office.repo.path / PLACES["gemini"][0]
    settings = json.loads(file.read_text())
    server = {"httpUrl": url, "headers": {"Authorization": f"Bearer ${TOKEN}"}}
    file.write_text(json.dumps(settings | {"mcpServers": {"lineclear": server}}))
    return []


@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
def test_a_real_client_calls_tools_over_http_as_the_agent_of_its_token(office: Office, client: str) -> None:
    person = CommandLine(office.repo.path, dict(office.line.environment))
    person.ok("claim", "pay.py", "--as", "bob", "--note", "new prices")
    served = ServeProcess(office.line)
    words = _offer(office, client, f"{served.url}/mcp")
    office.line.environment[TOKEN] = token_for(person, "ada")
    steps = [
        tool("lineclear", "claim", resources=["login.py"], note="login"),
        tool("lineclear", "status"),
        tool("lineclear", "claim", resources=["pay.py"]),
        say("Done."),
    ]
    with running_model({"model": steps}) as model:
        office.run(client, "model", model, words=words)
        claimed, status, refusal = model.told("model")
    assert "file:login.py" in claimed.text, claimed
    assert "ada" in status.text, status
    assert "bob holds file:pay.py (exclusive) until" in refusal.text, refusal
    assert person.holders("login.py") == ["ada"], office.output("model")
    person.ok("audit")
