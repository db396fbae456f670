"""The main job with real programs: Claude Code, Codex and Gemini CLI at once, and three landings."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

import lineclear
from tests.clients_server import Fault, Model, Step, edit, running_model, say, shell, write
from tests.e2e.agents import leave_out, worker_settings
from tests.e2e.commandline import CommandLine
from tests.real_clients import NAMES, ClientsMissing, real_client
from tests.repository import TemporaryRepo
from tests.waiting import until

TASKS = {"claude": "Greet", "codex": "Part", "gemini": "Thank"}


def script(name: str) -> list[Step]:
    """Each changes the one file that they share, adds one of its own, and tells what it found out."""
    word = TASKS[name].lower()
    return [
        edit("words.py", f'{word} = ""', f'{word} = "{name}"'),
        write(f"{word}.txt", f"{name}\n"),
        shell("git add ."),
        shell(f"git commit --quiet --message={word}"),
        shell(f"lineclear task note T-{NAMES.index(name) + 1} halfway"),
        say("All done.", tokens_in=2000, tokens_out=70),
    ]


@pytest.fixture
def line(repo: TemporaryRepo, tmp_path: Path) -> CommandLine:
    repo.git("config", "user.name", "Ada")  # Gemini CLI hides all other settings of git
    repo.git("config", "user.email", "ada@example.invalid")
    words = "".join(f'{word.lower()} = ""\n\n\n\n' for word in TASKS.values())
    repo.commit("Words", {"words.py": words})
    line = CommandLine(repo.path, repo.environment | {"PATH": _path_with_lineclear(tmp_path, repo)})
    line.ok("init")
    for name in NAMES:
        line.ok("task", "add", f"{TASKS[name]} people", "--needs", name)
    return line


def _path_with_lineclear(tmp_path: Path, repo: TemporaryRepo) -> str:
    scripts = tmp_path / "bin"
    scripts.mkdir()
    source = Path(lineclear.__file__).parents[1]
    program = scripts / "lineclear"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{source}" exec "{sys.executable}" -m lineclear "$@"\n')
    program.chmod(0o755)
    return f"{scripts}{os.pathsep}{repo.environment['PATH']}"


def state_workers(line: CommandLine, model: Model, home: Path) -> None:
    text = ""
    for name in NAMES:
        try:
            client = real_client(name, model.url(name), home / name, line.environment)
        except ClientsMissing as missing:
            leave_out(missing)
        text += worker_settings(client, line)
    (line.place / ".git/lineclear/local.toml").write_text(text)


def test_three_real_clients_at_once_land_three_branches(
    line: CommandLine, repo: TemporaryRepo, tmp_path: Path
) -> None:
    with running_model({name: script(name) for name in NAMES}) as model:
        state_workers(line, model, tmp_path / "homes")
        report = line.json("run", "-n", "3")
        assert all(model.heard(name, "Noted at T-") for name in NAMES)
    assert sorted(report["landed"]) == ["T-1", "T-2", "T-3"], report
    for name in NAMES:
        word = TASKS[name].lower()
        assert (repo.path / f"{word}.txt").read_text() == f"{name}\n"
        assert f'{word} = "{name}"' in (repo.path / "words.py").read_text()
    ended = {event["subject"]: event["body"] for event in events(line, "RunEnded")}
    for name in NAMES:
        end = ended[f"T-{NAMES.index(name) + 1}"]
        assert (end["how"], end["exit_code"]) == ("done", 0)
        assert (end["tokens_in"], end["tokens_out"]) == (5 * 1000 + 2000, 5 * 50 + 70)
    sessions = {event["body"]["session"] for event in events(line, "RunNamed")}
    assert len(sessions) == len(NAMES)
    assert "" not in sessions
    assert line.json("audit")["findings"] == []


def test_a_client_that_is_not_logged_in_waits_and_the_others_finish(
    line: CommandLine, tmp_path: Path
) -> None:
    """Its task is not used up: open again, no attempt counted."""
    faults = {"claude": {0: Fault(401)}}
    with running_model({name: script(name) for name in NAMES}, faults) as model:
        state_workers(line, model, tmp_path / "homes")
        running = line.start("run", "-n", "3", "--json")
        until(lambda: {"T-2", "T-3"} <= {event["subject"] for event in events(line, "TaskMerged")})
        until(lambda: any(event["body"]["how"] == "login" for event in events(line, "RunEnded")))
        running.process.send_signal(signal.SIGINT)
        assert running.wait() == 130
    task = line.json("task", "show", "T-1")
    assert (task["state"], task["attempt"]) == ("open", 0)


def events(line: CommandLine, kind: str) -> list[dict[str, Any]]:
    return list(line.json("log", "--limit", "1000", "--kind", kind)["events"])
