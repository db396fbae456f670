"""One worker of the demonstration, a process of its own: take, hold, change, count, finish.

Its diary goes to stdout, one JSON object a line: what it believed it did, and when.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Board(Protocol):
        def take_task(self) -> str: ...
        def claim(self, path: str) -> bool: ...
        def release(self, path: str) -> None: ...
        def count_up(self) -> None: ...
        def finish(self, task: str) -> None: ...


HOT_FILES = ("src/app.py", "src/auth/login.py", "src/db/models.py")
# What an agent does while it holds a file; the same for both boards.
EDIT_S = 0.003
RETRY_S = 0.002
# A lock whose release was overwritten never goes away; like most, we take an old one for stale.
MOST_RETRIES = 40


def work(board: Board, seed: int) -> None:
    choose = random.Random(seed)
    while task := board.take_task():
        path = choose.choice(HOT_FILES)
        for _ in range(MOST_RETRIES):
            if board.claim(path):
                break
            time.sleep(RETRY_S)
        held_from = time.monotonic_ns()
        time.sleep(EDIT_S)
        board.count_up()
        held_until = time.monotonic_ns()
        board.release(path)
        board.finish(task)
        diary = {"task": task, "path": path, "from": held_from, "until": held_until}
        sys.stdout.write(json.dumps(diary) + "\n")


def open_board(kind: str, directory: str, name: str) -> Board:
    if kind == "naive":
        from lineclear.cli.demo.race.naive import NaiveFile

        return NaiveFile(directory, name)
    from lineclear.cli.demo.race.coordinated import Coordinated

    return Coordinated(directory, name, os.environ)


def main() -> None:
    kind, directory, name, seed = sys.argv[1:5]
    board = open_board(kind, directory, name)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()  # the starting gun
    work(board, int(seed))


if __name__ == "__main__":
    main()
