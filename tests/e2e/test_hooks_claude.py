"""What only the real Claude Code can show: its worktrees are ours, and its own words reach lineclear."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients_server import edit, running_model, say, shell, write
from tests.e2e.agents import PLACES, Office
from tests.repository import TemporaryRepo

pytestmark = pytest.mark.slow


@pytest.fixture
def office(repo: TemporaryRepo, tmp_path: Path) -> Iterator[Office]:
    repo.commit("Begin", {"login.py": "one = 1\n"})
    office = Office(repo, tmp_path)
    yield office
    office.close()
    office.no_errors()


def test_a_worktree_of_its_own_is_made_and_known_by_us(office: Office) -> None:
    steps = {"ada": [write("new.py", "x = 1\n"), say("Done.")]}
    with running_model(steps) as model:
        office.run("claude", "ada", model, words=["--worktree", "feat1"])
    rows = {row["name"]: row for row in office.line.json("worktree", "list")["worktrees"]}
    assert list(rows) == ["feat1"], office.output("ada")
    assert (rows["feat1"]["agent"], rows["feat1"]["origin"]) == ("claude-1", "lineclear")
    assert (Path(rows["feat1"]["path"]) / "new.py").read_text() == "x = 1\n"
    assert not (office.repo.path / "new.py").exists()


def test_every_edit_and_command_reaches_lineclear(office: Office, tmp_path: Path) -> None:
    (office.repo.path / PLACES["claude"][0]).unlink()
    office.line.ok("setup", "claude")
    asked = _watch_stub(office, tmp_path)
    tree = office.repo.add_worktree("own")
    changes = [edit("login.py", f"one = {n}", f"one = {n + 1}") for n in range(1, 7)]
    steps = {"ada": [*changes, *(shell(f'echo "{n}"') for n in range(4)), say("Done.")]}
    with running_model(steps) as model:
        office.run("claude", "ada", model, tree)
    assert (tree / "login.py").read_text() == "one = 7\n", office.output("ada")
    calls = asked.read_text().split("\n")
    assert calls.count("PreToolUse") == 10, calls
    assert calls.count("PostToolUse") == 10, calls
    errors = office.repo.path / ".git/lineclear/hook-errors.log"
    assert not errors.exists(), errors.read_text()


def _watch_stub(office: Office, tmp_path: Path) -> Path:
    """Have every call written down for which the stub starts an interpreter."""
    asked, between = tmp_path / "asked", tmp_path / "between"
    between.write_text(f'#!/bin/sh\necho "$7" >>{asked}\nexec "$@"\n')
    between.chmod(0o755)
    stub = office.repo.path / ".git/lineclear/hook"
    before = stub.read_text()
    stub.write_text(before.replace(f"exec {sys.executable} ", f"exec {between} {sys.executable} "))
    assert stub.read_text() != before
    return asked
