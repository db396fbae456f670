"""Coordination as many teams start: one JSON file that everybody reads, changes and writes back.

It is written with care (a temporary file and a rename, so that it is never torn). What it lacks is
what a file cannot give: nobody is told that it changed between reading and writing.
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class NaiveFile:
    def __init__(self, directory: str, name: str) -> None:
        self._path = os.path.join(directory, "coordination.json")
        self._name = name

    @staticmethod
    def create(directory: str, tasks: int) -> None:
        board = {"tasks": {f"T-{n}": "open" for n in range(1, tasks + 1)}, "locks": {}, "counter": 0}
        with open(os.path.join(directory, "coordination.json"), "w", encoding="utf-8") as file:
            json.dump(board, file)

    def take_task(self) -> str:
        def take(board: dict[str, Any]) -> str:
            task = next((task for task, state in board["tasks"].items() if state == "open"), "")
            if task:
                board["tasks"][task] = f"taken by {self._name}"
            return task

        return str(self._change(take))

    def claim(self, path: str) -> bool:
        def lock(board: dict[str, Any]) -> bool:
            if board["locks"].get(path):
                return False
            board["locks"][path] = self._name
            return True

        return bool(self._change(lock))

    def release(self, path: str) -> None:
        self._change(lambda board: board["locks"].pop(path, None))

    def count_up(self) -> None:
        def add(board: dict[str, Any]) -> None:
            board["counter"] += 1

        self._change(add)

    def finish(self, task: str) -> None:
        self._change(lambda board: board["tasks"].__setitem__(task, f"done by {self._name}"))

    def _change(self, change: Callable[[dict[str, Any]], Any]) -> Any:
        with open(self._path, encoding="utf-8") as file:
            board = json.load(file)
        answer = change(board)
        scratch = f"{self._path}.{self._name}"
        with open(scratch, "w", encoding="utf-8") as file:
            json.dump(board, file)
        os.replace(scratch, self._path)
        return answer


def read_counter(directory: str) -> int:
    with open(os.path.join(directory, "coordination.json"), encoding="utf-8") as file:
        return int(json.load(file)["counter"])
