"""Real coding agents with our hooks installed, each driven by the scripted model: for end-to-end tests."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

import lineclear
from lineclear.clients.registry import hook_of
from tests.clients_server import Model
from tests.conftest import in_ci
from tests.e2e.commandline import CommandLine
from tests.real_clients import ClientsMissing, RealClient, real_client
from tests.repository import TemporaryRepo
from tests.waiting import until

WORDS = {
    "claude": ["-p", "go", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"],
    "codex": [
        "exec",
        "--json",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        "go",
    ],
    "gemini": ["-m", "gemini-3-pro", "-p", "go", "--yolo", "--output-format", "stream-json"],
    "droid": ["exec", "--auto", "high", "-m", "custom:m1", "-o", "stream-json", "go"],
    "kimi": ["-p", "go", "--output-format", "stream-json"],
    "cline": ["--json", "-P", "openai-compatible", "-m", "m1", "Do the work now"],
    "goose": ["run", "--no-session", "--with-builtin", "developer", "-t", "go"],
    "qwen": ["-p", "go", "--yolo", "--auth-type", "openai", "--output-format", "stream-json"],
    "opencode": ["run", "--model", "scripted/m1", "--format", "json", "go"],
    "copilot": [
        "-p",
        "go",
        "--allow-all-tools",
        "--allow-all-paths",
        "--output-format",
        "json",
        "--no-color",
    ],
    "grok": ["--always-approve", "-m", "m1", "-p", "go", "--output-format", "streaming-json"],
}
# Where a project's hooks are, and in which unit a timeout is written.
PLACES = {
    "claude": (".claude/settings.local.json", 20),
    "codex": (".codex/hooks.json", 20),
    "gemini": (".gemini/settings.json", 20_000),
}
PATIENCE_S = 240


class Office:
    """A repository with hooks for three clients; agents are started in it and watched by their model."""

    def __init__(self, repo: TemporaryRepo, directory: Path) -> None:
        self.repo, self.directory = repo, directory
        self._started: list[subprocess.Popen[bytes]] = []
        # By its whole name: Codex runs commands in a login shell, which may have another PATH.
        self.program = self._programs() / "lineclear"
        path = f"{self.program.parent}{os.pathsep}{repo.environment['PATH']}"
        self.line = CommandLine(repo.path, repo.environment | {"PATH": path})
        self.line.ok("init")
        repo.git("config", "user.name", "Ada")  # Gemini CLI hides all other settings of git
        repo.git("config", "user.email", "ada@example.invalid")
        self._install()

    def _programs(self) -> Path:
        scripts = self.directory / "bin"
        scripts.mkdir()
        source = Path(lineclear.__file__).parents[1]
        program = scripts / "lineclear"
        program.write_text(f'#!/bin/sh\nPYTHONPATH="{source}" exec "{sys.executable}" -m lineclear "$@"\n')
        program.chmod(0o755)
        return scripts

    def _install(self) -> None:
        """By hand, so that a fault in `setup` is not a fault here."""
        for client, (place, timeout) in PLACES.items():
            events = getattr(hook_of(client), "EVENTS", {})
            hooks = {}
            for event, matcher in events.items():
                command = f"{self.program} hook {client} {event}"
                handler = {"type": "command", "command": command, "timeout": timeout}
                hooks[event] = [({"matcher": matcher} if matcher else {}) | {"hooks": [handler]}]
            file = self.repo.path / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps({"hooks": hooks}))
        exclude = self.repo.path / ".git/info/exclude"
        places = (".mcp.json", *(place for place, _ in PLACES.values()))
        exclude.write_text("".join(f"/{place}\n" for place in places))

    def client(self, client: str, name: str, model: Model) -> RealClient:
        try:
            return real_client(
                client, model.url(name), self.directory / "homes" / name, self.line.environment
            )
        except ClientsMissing as missing:
            leave_out(missing)

    def start(
        self, client: str, name: str, model: Model, at: Path | None = None, words: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        """`name` is the model's; our own name for the agent is found by the hook itself. `words` are added to
        the client's command line."""
        found, place = self.client(client, name, model), at or self.repo.path
        if place != self.repo.path:
            self._copy_hooks(place)
        env = found.env | {"IS_SANDBOX": "1", "PWD": str(place), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        with (self.directory / f"{name}.out").open("wb") as output:
            process = subprocess.Popen(
                [*found.argv, *WORDS[client], *words], cwd=place, env=env, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        self._started.append(process)
        return process

    def _copy_hooks(self, place: Path) -> None:
        """Settings that git does not know are not in a new worktree."""
        for name, _ in PLACES.values():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text((self.repo.path / name).read_text())

    def offer_tools(self, client: str, place: Path, *options: str) -> list[str]:
        """The one entry that docs/how-to/mcp.md shows; gives words for the client's command line."""
        server: dict[str, Any] = {"command": str(self.program), "args": ["mcp", *options]}
        if client == "codex":
            table = f"command={json.dumps(server['command'])}, args={json.dumps(server['args'])}"
            return ["--config", f"mcp_servers.lineclear={{{table}, required=true}}"]
        if client == "claude":
            servers = {"lineclear": server | {"alwaysLoad": True}}
            (place / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
            return []
        file = self.repo.path / PLACES["gemini"][0]  # copied into each worktree
        settings = json.loads(file.read_text())
        settings["mcpServers"] = {"lineclear": server}
        file.write_text(json.dumps(settings))
        return []

    def run(
        self, client: str, name: str, model: Model, at: Path | None = None, words: Sequence[str] = ()
    ) -> None:
        process = self.start(client, name, model, at, words)
        assert process.wait(PATIENCE_S) == 0, self.output(name)

    def output(self, name: str) -> str:
        return (self.directory / f"{name}.out").read_text()[-4_000:]

    def close(self) -> None:
        """End what a failed test left running."""
        self.line.end_all()
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def no_errors(self) -> None:
        log = self.repo.path / ".git/lineclear/hook-errors.log"
        assert not log.exists(), log.read_text()


# Where a client looks for its model until it is known which one that is.
_NOWHERE = "http://model.invalid/nobody"


class Studio(Office):
    """A repository into which `lineclear setup` has put the hooks of some clients, as a person does it. Each
    agent gets a copy of that person's home."""

    def __init__(self, repo: TemporaryRepo, directory: Path, *clients: str) -> None:
        self.name, self.clients, self.sam = clients[0], clients, directory / "homes" / "sam"
        super().__init__(repo, directory)

    def _install(self) -> None:
        self._found = {name: self._point(name) for name in self.clients}
        programs = [str(Path(found.argv[0]).parent) for found in self._found.values()]
        path = os.pathsep.join([*dict.fromkeys(programs), self._found[self.name].env["PATH"]])
        self.line = CommandLine(self.repo.path, self.line.environment | {"HOME": str(self.sam), "PATH": path})
        for name in self.clients:
            self.line.ok("setup", name)

    def _point(self, name: str) -> RealClient:
        try:
            return real_client(name, _NOWHERE, self.sam, self.line.environment)
        except ClientsMissing as missing:
            leave_out(missing)

    def _copy_hooks(self, place: Path) -> None:
        """`lineclear worktree add` has put them in."""

    def client(self, client: str, name: str, model: Model) -> RealClient:
        found, home = self._found[client], self.directory / "homes" / name
        shutil.copytree(self.sam, home)
        swaps = {_NOWHERE: model.url(name), str(self.sam): str(home)}
        for file in home.rglob("*"):
            if file.is_file() and _NOWHERE.encode() in file.read_bytes():
                file.write_text(file.read_text().replace(_NOWHERE, model.url(name)))
        env = {key: _swapped(value, swaps) for key, value in found.env.items()}
        return dataclasses.replace(found, env=env)


def _swapped(text: str, swaps: dict[str, str]) -> str:
    for old, new in swaps.items():
        text = text.replace(old, new)
    return text


def worker_settings(client: RealClient, line: CommandLine) -> str:
    """What a person writes into the clone's own settings, who keeps keys out of the repository."""
    text = (
        f"[workers.{client.name}]\ncommand = {json.dumps(client.argv)}\nmodel = {json.dumps(client.model)}\n"
    )
    text += f"[workers.{client.name}.env]\n"
    for variable, value in client.env.items():
        if line.environment.get(variable) != value:
            text += f"{variable} = {json.dumps(value)}\n"
    return text


def leave_out(missing: ClientsMissing) -> NoReturn:
    """Loudly; where everything must be there, it is a failure."""
    words = f"NOT TESTED WITH REAL CLIENTS: {missing}"
    if in_ci():
        pytest.fail(words)
    pytest.skip(words)


def until_asked(model: Model, name: str, step: int) -> None:
    """Until the agent's model has been asked for this step."""
    until(lambda: any(asked.agent == name and asked.step >= step for asked in model.asked))
