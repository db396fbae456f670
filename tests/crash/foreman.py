"""`lineclear run` that kills itself: `foreman.py POINT WORD...`; POINT names the moment or counts steps.

A name is one of WINDOWS: the moment right after something was done. A number is the step before which it
dies; a step is everything that changes the store or the disk: a transaction, a git command, a process
started, a file replaced. With `0 FILE` it dies of nothing and writes the number of its steps into FILE.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from lineclear.app import tasks
from lineclear.app.agents import membership
from lineclear.app.queue.runner import Runner
from lineclear.app.runs import records
from lineclear.app.worktrees.lifecycle import Worktrees
from lineclear.cli.main import run
from lineclear.git import run as git_run
from lineclear.git.landing import LockedMain
from lineclear.host import process_groups
from lineclear.store.sqlite.engine import SqliteStore

# name: (where the function is, its name there)
WINDOWS: dict[str, tuple[Any, str]] = {
    "the task was taken": (tasks, "take"),
    "the worktree was made": (Worktrees, "prepare"),
    "the run was begun in the log": (records, "begin"),
    "the client was started": (subprocess, "Popen"),
    "the client was noted": (process_groups, "start"),
    "the run was ended and its work handed over": (records, "end"),
    "main was moved": (LockedMain, "move"),
    "the task was merged": (Runner, "_conclude"),
    "the worktree was removed": (Worktrees, "discard"),
    "the agent has left": (membership, "leave"),
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_after(place: Any, name: str) -> None:
    act = getattr(place, name)

    def last(*args: Any, **more: Any) -> Any:
        answer = act(*args, **more)
        if name != "Popen" or more.get("start_new_session"):
            die()
        return answer

    setattr(place, name, last)


class Steps:
    def __init__(self, last: int) -> None:
        self.count, self._last, self._lock = 0, last, threading.Lock()

    def wrap(self, place: Any, name: str) -> None:
        act: Callable[..., Any] = getattr(place, name)

        def step(*args: Any, **more: Any) -> Any:
            with self._lock:
                self.count += 1
                if self.count == self._last:
                    die()
            return act(*args, **more)

        setattr(place, name, step)


def main() -> int:
    point, *words = sys.argv[1:]
    if point in WINDOWS:
        die_after(*WINDOWS[point])
        return run(words)
    steps = Steps(int(point))
    for place, name in (
        (SqliteStore, "transact"), (git_run.Started, "__init__"), (git_run.Started, "finish"),
        (subprocess, "Popen"), (os, "replace"), (os, "unlink"),
    ):  # fmt: skip
        steps.wrap(place, name)
    if int(point) == 0:
        told, *words = words
        code = run(words)
        with open(told, "w", encoding="ascii") as file:
            file.write(f"{steps.count}\n")
        return code
    return run(words)


if __name__ == "__main__":
    sys.exit(main())
