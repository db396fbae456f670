"""What the scripted agents do: one file per task, read into plain records. Nothing is done in here."""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
TASKS, PROGRAM, NAIVE = (os.path.join(HERE, name) for name in ("tasks", "program", "naive.sh"))
# The endings of `program/`, which keep its files from being taken for ours.
ENDING = ".in"


class Script:
    """One task: its title as in TASKS.md, the steps of its first attempt and of those after it, and the
    program that says whether the task is done. `same_as` names the script whose work it repeats."""

    def __init__(self, name: str, read: dict[str, Any]) -> None:
        self.name, self.title = name, str(read["title"])
        self.check, self.same_as = str(read.get("check", "")), str(read.get("same_as", ""))
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
