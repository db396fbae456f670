"""The MCP Inspector, which shares no code with our server, lists and calls everything that it offers."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lineclear.mcp.catalog import offered
from lineclear.mcp.pages import PAGES, TEMPLATES
from lineclear.mcp.prompts import PROMPTS
from tests.conftest import in_ci
from tests.e2e.commandline import CommandLine
from tests.e2e.serve_peer import token_for
from tests.e2e.serving import ServeProcess
from tests.real_clients import ClientsMissing, node_directory, program_of
from tests.repository import TemporaryRepo

# Each question starts the Inspector and a server.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

OK, TOOL_FAILED = 0, 5
PATIENCE_S = 60


class Inspector:
    """Its command line: each call starts it anew. `target` is how it reaches the server."""

    def __init__(self, target: list[str], place: Path, environment: dict[str, str]) -> None:
        try:
            self._argv = [str(program_of("mcp-inspector")), "--cli", *target, "--format", "json", "--quiet"]
            path = f"{node_directory()}{os.pathsep}{environment['PATH']}"
        except ClientsMissing as missing:
            words = f"NOT TESTED WITH THE INSPECTOR: {missing}"
            pytest.fail(words) if in_ci() else pytest.skip(words)
        self._place, self._environment = place, environment | {"PATH": path}

    def run(self, method: str, *words: str, era: str = "auto", code: int = OK) -> dict[str, Any]:
        done = subprocess.run(
            [*self._argv, "--protocol-era", era, "--method", method, *words], cwd=self._place,
            env=self._environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        assert done.returncode == code, (words, done.stdout, done.stderr)
        result: dict[str, Any] = json.loads(done.stdout)["result"]
        return result

    def call(self, tool: str, arguments: dict[str, Any], *, code: int = OK) -> dict[str, Any]:
        words = ("--tool-name", tool, "--tool-args-json", json.dumps(arguments))
        return self.run("tools/call", *words, code=code)

    def data(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.call(tool, arguments)
        assert result["isError"] is False
        assert result["content"][0]["text"]
        data: dict[str, Any] = result["structuredContent"]["data"]
        return data


def over_stdio(line: CommandLine, agent: str) -> list[str]:
    """It gives the server no more of its environment than it is told to."""
    told = line.environment | {"LINECLEAR_AGENT": agent}
    return [*line.argv("mcp"), *(word for name, value in told.items() for word in ("-e", f"{name}={value}"))]


def over_http(line: CommandLine, agent: str) -> list[str]:
    """To a `lineclear serve` that is started for it, with a token of the agent."""
    url, token = ServeProcess(line).url, token_for(line, agent)
    return ["--transport", "http", "--server-url", f"{url}/mcp", "--header", f"Authorization: Bearer {token}"]


WAYS = {"stdio": over_stdio, "http": over_http}


@pytest.fixture(params=WAYS)
def inspector(line: CommandLine, request: pytest.FixtureRequest) -> Inspector:
    return Inspector(WAYS[request.param](line, "ada"), line.place, line.environment)


@pytest.mark.parametrize(
    ("inspector", "era"), [("stdio", "legacy"), ("http", "modern")], indirect=["inspector"]
)
def test_everything_is_listed_and_no_schema_is_beyond_some_client(inspector: Inspector, era: str) -> None:
    """With `--strict` it ends with another code when a schema has a fault."""
    tools = inspector.run("tools/list", "--strict", era=era)["tools"]
    assert [tool["name"] for tool in tools] == list(offered(is_all=False))
    pages = inspector.run("resources/list", era=era)["resources"]
    assert [page["uri"] for page in pages] == list(PAGES)
    templates = inspector.run("resources/templates/list", era=era)["resourceTemplates"]
    assert [template["uriTemplate"] for template in templates] == list(TEMPLATES)
    prompts = inspector.run("prompts/list", era=era)["prompts"]
    assert [prompt["name"] for prompt in prompts] == list(PROMPTS)
    read = inspector.run("resources/read", "--uri", "lineclear://status", era=era)["contents"][0]
    assert json.loads(read["text"])["data"]["me"] == "ada"
    words = ("--prompt-name", "start_work", "--prompt-args", "task=7")
    got = inspector.run("prompts/get", *words, era=era)
    assert "task_next with task T-7" in got["messages"][0]["content"]["text"]


def test_every_default_tool_answers_the_inspector(
    inspector: Inspector, line: CommandLine, repo: TemporaryRepo
) -> None:
    tree = repo.add_worktree("topic")
    repo.commit("New", {"new.py": "x = 1\n"}, at=tree)
    line.ok("say", "hello", "--to", "ada", "--as", "bob")
    line.ok("claim", "pay.py", "--as", "bob", "--note", "new prices")
    called: dict[str, dict[str, Any]] = {}

    def data(tool: str, **arguments: Any) -> dict[str, Any]:
        called[tool] = inspector.data(tool, **arguments)
        return called[tool]

    assert data("status")["me"] == "ada"
    assert data("task_add", title="login", scope=["login.py"], priority=1)["task"]["id"] == "T-1"
    assert data("task_next", can=["python"])["task"]["agent"] == "ada"
    claims = data("claim", resources=["login.py", "port:8080"], note="login", ttl="10m")["claims"]
    assert [claim["resource"] for claim in claims] == ["file:login.py", "port:8080"]
    assert data("who", resource="login.py")["holders"][0]["note"] == "login"
    assert data("task_note", task="T-1", text="begun")["task"]["id"] == "T-1"
    assert data("release", resources=["login.py"])["released"] == ["file:login.py"]
    assert data("task_done", task="T-1", result="it works")["task"]["reason"] == "it works"
    assert data("say", text="done", to="bob", urgent=True)["audience"] == "agent:bob"
    assert data("inbox")["messages"][0]["text"] == "hello"
    assert data("value_put", name="limits", value={"most": 3}, version=0)["version"] == 1
    assert data("value_get", name="limits")["value"] == {"most": 3}
    assert data("propose", resource="value:limits", value={"most": 4})["proposal"]["payload"] == {"most": 4}
    assert data("check", branch="topic")["fits"] is True
    assert data("land", branch="topic")["result"] == "landed"
    assert set(called) == set(offered(is_all=False))
    assert repo.git("show", "main:new.py") == "x = 1"

    refusal = inspector.call("claim", {"resources": ["pay.py"]}, code=TOOL_FAILED)
    assert refusal["isError"] is True
    assert refusal["structuredContent"]["error"]["holder"] == "bob"
    assert "Next: run `lineclear claim file:pay.py" in refusal["content"][0]["text"]
    line.ok("audit")
