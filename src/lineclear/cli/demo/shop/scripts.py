"""Read the agents' scripts, one file per task, and the files of the program they work on."""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
TASKS, PROGRAM, NAIVE = (os.path.join(HERE, name) for name in ("tasks", "program", "naive.sh"))
# Every file in `program/` ends in this, so that no tool takes it for our own code.
ENDING = ".in"


class Script:
    """One task: its title as in TASKS.md, the steps of its first and of later attempts, and a program that
    checks whether it is done. `same_as` names the script whose work it repeats; `calls` a function that it
    calls while another script changes its signature."""

    def __init__(self, name: str, read: dict[str, Any]) -> None:
        self.name, self.title = name, str(read["title"])
        self.check, self.same_as = str(read.get("check", "")), str(read.get("same_as", ""))
        self.calls = str(read.get("calls", ""))
        self.steps: list[dict[str, str]] = read["steps"]
        self.first: list[dict[str, str]] = read.get("first", self.steps)


def read_scripts() -> list[Script]:
    """In the order of TASKS.md."""
    found = []
    for name in sorted(os.listdir(TASKS)):
        with open(os.path.join(TASKS, name), "rb") as file:
            found.append(Script(name.removesuffix(".toml"), tomllib.load(file)))
    return found


def read_program() -> dict[str, str]:
    """Path -> content of the repository that the agents work on."""
    found = {}
    for folder, _, names in os.walk(PROGRAM):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                found[os.path.relpath(path, PROGRAM).removesuffix(ENDING)] = file.read()
    return dict(sorted(found.items()))
