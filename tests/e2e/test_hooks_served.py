"""Hooks beside a real `lineclear serve`: the installed stub asks it, and does without it when it is gone."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lineclear.wiring.setup import stub_text
from tests.clients_server import edit, read, running_model, say, shell, write
from tests.e2e.agents import PLACES, Office
from tests.e2e.commandline import CommandLine
from tests.e2e.serve_peer import token_for
from tests.e2e.serving import ServeProcess
from tests.repository import TemporaryRepo

SETTINGS = '[[strategy]]\nmatch = "logo.svg"\nstrategy = "locked"\n'


def patient(stub: str) -> str:
    """On a busy machine a server may need longer than the stub gives it."""
    longer = stub.replace("read -r -t 2 ", "read -r -t 60 ").replace("$SECONDS -lt 3", "$SECONDS -lt 60")
    assert longer.count("60") == stub.count("60") + 4
    return longer


class Client:
    """A session of Claude Code as its hooks show it. `alone`: the calls for which an interpreter started."""

    def __init__(self, repo: TemporaryRepo, tmp_path: Path) -> None:
        self._state = repo.path / ".git/lineclear"
        self.stub, self._alone = self._state / "hook", tmp_path / "alone"
        between = tmp_path / "between"
        between.write_text(f'#!/bin/sh\necho "$6" >>{self._alone}\nexec {sys.executable} "$@"\n')
        between.chmod(0o755)
        self.stub.write_text(patient(stub_text(str(between))))
        self.stub.chmod(0o755)
        self.tree, self.environ = repo.add_worktree("desk"), repo.environment | {"CLAUDECODE": "1"}

    @property
    def alone(self) -> list[str]:
        return self._alone.read_text().split() if self._alone.exists() else []

    def call(self, event: str, **more: Any) -> str:
        told = {"session_id": "s1", "cwd": str(self.tree), "hook_event_name": event} | more
        done = subprocess.run(
            [self.stub, "claude", event], input=json.dumps(told).encode(), cwd=self.tree, env=self.environ,
            capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b""), done
        assert not (self._state / "hook-errors.log").exists()
        return done.stdout.decode()

    def edit(self, name: str, event: str = "PreToolUse") -> str:
        given = {"file_path": str(self.tree / name), "old_string": "x"}
        return self.call(event, tool_name="Edit", tool_input=given, tool_use_id=name)


@pytest.fixture
def client(line: CommandLine, repo: TemporaryRepo, tmp_path: Path) -> Client:
    (repo.path / "lineclear.toml").write_text(SETTINGS)
    return Client(repo, tmp_path)


def test_with_a_server_no_interpreter_is_started(line: CommandLine, client: Client) -> None:
    served = ServeProcess(line)
    assert "You are claude-1" in client.call("SessionStart")
    assert client.edit("a.py") == ""
    assert "is locked" in client.edit("logo.svg")
    line.ok("say", "--to", "claude-1", "hello there")
    assert "hello there" in client.edit("a.py", "PostToolUse")
    client.call("Stop")
    assert client.alone == []
    assert line.json("who", "a.py")["holders"][0]["agent"] == "claude-1"
    served.end()


def test_a_server_that_was_killed_or_has_ended_is_not_missed(line: CommandLine, client: Client) -> None:
    served = ServeProcess(line)
    client.call("SessionStart")
    assert client.edit("a.py") == ""
    served.kill()
    assert "is locked" in client.edit("logo.svg")
    assert client.alone == ["PreToolUse"]
    again = ServeProcess(line)
    assert "is locked" in client.edit("logo.svg")
    assert client.alone == ["PreToolUse"]
    again.end()
    assert "is locked" in client.edit("logo.svg")
    assert client.alone == ["PreToolUse"] * 2


def test_a_call_from_another_repository_is_answered_there(
    line: CommandLine, client: Client, tmp_path: Path
) -> None:
    other = TemporaryRepo.create(tmp_path / "other", line.environment)
    elsewhere = CommandLine(other.path, other.environment)
    elsewhere.ok("init")
    served = ServeProcess(line)
    given = {"file_path": str(other.path / "README.md"), "old_string": "x"}
    client.call("PreToolUse", cwd=str(other.path), tool_name="Edit", tool_input=given, tool_use_id="t1")
    assert client.alone == ["PreToolUse"]
    assert [row["agent"] for row in elsewhere.json("who", "README.md")["holders"]] == ["claude-1"]
    served.end()


def test_an_http_hook_with_a_token_acts_as_the_one_who_has_it(line: CommandLine, client: Client) -> None:
    token = token_for(line, "ada")
    served = ServeProcess(line)
    given = {"file_path": str(client.tree / "a.py"), "old_string": "x"}
    told = {"session_id": "s1", "cwd": str(client.tree), "tool_name": "Edit", "tool_input": given}

    def post(proof: str) -> int:
        connection = http.client.HTTPConnection(served.door.host, served.door.port, timeout=60)
        try:
            headers = {"Authorization": f"Bearer {proof}"}
            connection.request("POST", "/hook/claude/PreToolUse", json.dumps(told), headers)
            return connection.getresponse().status
        finally:
            connection.close()

    assert post("guessed") == 401
    assert line.json("who", "a.py")["holders"] == []
    assert post(token) == 200
    assert [row["agent"] for row in line.json("who", "a.py")["holders"]] == ["ada"]
    served.end()


# -- the real client ---------------------------------------------------------------------------


@pytest.fixture
def office(repo: TemporaryRepo, tmp_path: Path) -> Iterator[Office]:
    repo.commit("Begin", {"login.py": "one = 1\n", "logo.svg": "<svg/>\n", "lineclear.toml": SETTINGS})
    office = Office(repo, tmp_path)
    yield office
    office.close()
    office.no_errors()


@pytest.mark.slow
def test_claude_code_calls_the_server_by_its_own_http_hooks(office: Office) -> None:
    served = ServeProcess(office.line)
    file = office.repo.path / PLACES["claude"][0]
    settings = json.loads(file.read_text())
    for event, groups in settings["hooks"].items():
        url = f"{served.url}/hook/claude/{event}"
        headers = {"Authorization": f"Bearer {served.door.key}"}
        groups[0]["hooks"] = [{"type": "http", "url": url, "headers": headers, "timeout": 20}]
    # It makes no worktree here, and has no http hook for it.
    del settings["hooks"]["WorktreeCreate"]
    file.write_text(json.dumps(settings))
    tree = office.repo.add_worktree("own")
    steps = {
        "ada": [
            read("login.py"), edit("login.py", "one = 1", "one = 2"), write("logo.svg", "mine\n"),
            shell("echo by a command >logo.svg"), say("Done."),
        ]
    }  # fmt: skip
    with running_model(steps) as model:
        office.run("claude", "ada", model, tree)
        assert model.heard("ada", "You are claude-1"), office.output("ada")
        assert model.heard("ada", "file:logo.svg is locked"), office.output("ada")
        assert model.heard("ada", "cat-file blob") or model.heard("ada", "restore --source"), office.output(
            "ada"
        )
    assert (tree / "login.py").read_text() == "one = 2\n"
    assert (tree / "logo.svg").read_text() == "by a command\n"
    assert [row["agent"] for row in office.line.json("who", "login.py")["holders"]] == ["claude-1"]
    served.end()
