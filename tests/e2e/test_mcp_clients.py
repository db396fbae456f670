"""The real Claude Code, Codex and Gemini CLI call our tools, and their models are told what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients_server import running_model, say, tool
from tests.e2e.agents import Office
from tests.repository import TemporaryRepo

pytestmark = pytest.mark.slow

# Names of the agents as hooks and shell commands of the same session know them.
AGENTS = {"claude": "claude-1", "codex": "codex-1", "gemini": "gemini-1"}


@pytest.fixture
def office(repo: TemporaryRepo, tmp_path: Path) -> Iterator[Office]:
    repo.commit("Begin", {"login.py": "one = 1\n", "pay.py": "two = 2\n"})
    office = Office(repo, tmp_path)
    yield office
    office.close()
    office.no_errors()


def _register(office: Office, client: str) -> list[str]:
    """The one entry that docs/how-to/mcp.md shows; gives words for the client's command line."""
    program = str(office.program)
    if client == "claude":
        servers = {"lineclear": {"command": program, "args": ["mcp"]}}
        (office.repo.path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
        return []
    if client == "codex":
        table = f'mcp_servers.lineclear={{command="{program}", args=["mcp"], required=true}}'
        return ["--config", table]
    file = office.repo.path / ".gemini/settings.json"
    settings = json.loads(file.read_text())
    settings["mcpServers"] = {"lineclear": {"command": program, "args": ["mcp"]}}
    file.write_text(json.dumps(settings))
    return []


@pytest.mark.parametrize("client", list(AGENTS))
def test_a_claim_by_tool_is_the_agents_own_and_a_refusal_reaches_its_model(
    office: Office, client: str
) -> None:
    office.line.ok("claim", "pay.py", "--as", "bob", "--note", "new prices")
    words = _register(office, client)
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
