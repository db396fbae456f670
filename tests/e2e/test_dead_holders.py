"""A holder that is killed blocks nobody: not the edits of others, not their values, on either engine."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo
from tests.waiting import is_alive, until, until_there


@pytest.fixture(params=["sqlite", "postgres"])
def line(request: pytest.FixtureRequest, repo: TemporaryRepo, bare_line: CommandLine) -> CommandLine:
    repo.commit("Files", {"src/a.py": "one\n"})
    if request.param == "sqlite":
        bare_line.ok("init")
    else:
        fresh_postgres: Callable[[], str] = request.getfixturevalue("fresh_postgres")
        bare_line.ok("init", "--store", fresh_postgres())
    return bare_line


def denied(line: CommandLine) -> str:
    """Why the edit hook of a session that is not ben's denies an edit of src/a.py; "" when it does not."""
    given = {"file_path": str(line.place / "src/a.py"), "old_string": "one", "new_string": "two"}
    said = {"session_id": "s1", "cwd": str(line.place), "tool_name": "Edit", "tool_input": given}
    answer = line.run("hook", "claude", "PreToolUse", stdin=json.dumps(said | {"tool_use_id": "t1"}))
    assert answer.code == 0, answer
    found: dict[str, Any] = json.loads(answer.out) if answer.out else {}
    return str(found.get("hookSpecificOutput", {}).get("permissionDecisionReason", ""))


def test_what_with_held_is_free_for_every_door_as_soon_as_both_processes_are_killed(
    line: CommandLine, tmp_path: Path
) -> None:
    started = tmp_path / "started"
    inside = f"echo $$ > {started}; exec sleep 300"
    guard = line.start("with", "src/a.py", "value:plan", "--as", "ben", "--", "sh", "-c", inside)
    until_there(started)
    assert "ben holds file:src/a.py (exclusive)" in denied(line)
    assert line.refused("value", "put", "plan", "1", "--as", "ada", code=3)["holder"] == "ben"

    child = int(started.read_text())
    guard.process.kill()
    guard.wait()
    os.kill(child, signal.SIGKILL)
    until(lambda: not is_alive(child))
    # Nothing has ended the claims yet: each door has to see by itself that their holder is dead.
    assert line.json("log", "--kind", "ClaimReleased")["events"] == []
    assert denied(line) == ""
    line.ok("value", "put", "plan", "1", "--as", "ada")
    assert line.json("audit")["findings"] == []
