"""When no task is given out, `task next` and `run` say which of the possible reasons it is."""

from __future__ import annotations

from typing import Any

from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo

RUN = ("run", "--", "true")


def error(line: CommandLine, *words: str) -> dict[str, Any]:
    answer = line.run("--json", *words)
    assert answer.code == 5, answer
    return answer.error


def test_run_and_next_say_why_they_give_out_nothing(line: CommandLine, repo: TemporaryRepo) -> None:
    repo.commit("Base", {"src/a.py": "a = 1\n"})
    assert "The list is empty." in error(line, *RUN)["message"]
    assert "The list is empty." in error(line, "task", "next", "--as", "ada")["message"]
    assert error(line, "run", "T-9", "--", "true")["code"] == "task.unknown"

    line.ok("task", "add", "Change a", "--scope", "src/")
    line.ok("claim", "src/a.py", "--as", "ben")
    line.ok("task", "add", "Draw", "--needs", "figma")
    line.ok("task", "add", "Then", "--after", "T-1")
    held, unfit, later = error(line, *RUN)["reasons"]
    assert held.startswith("T-1: ben holds file:src/a.py until ")
    assert unfit == "T-2: it needs figma, which no worker has"
    assert later == "T-3: it comes after T-1, which is open"

    line.ok("task", "next", "T-1", "--as", "ben")
    refused = error(line, "task", "next", "--as", "ada")
    assert refused["needs"] == ["T-2: figma"]
    assert "1 for skills you have not named (T-2: figma), 1 waiting for other tasks" in refused["message"]
    assert "T-1: ben works on it" in error(line, *RUN)["reasons"]

    for number in ("T-3", "T-2", "T-1"):
        line.ok("task", "cancel", number)
    assert "All tasks have ended: 3." in error(line, *RUN)["message"]
    assert "All tasks have ended" in error(line, "task", "next", "--as", "ada")["message"]
    assert error(line, "run", "T-2", "--", "true")["reasons"] == ["T-2: it is cancelled"]
