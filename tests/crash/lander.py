"""A program that lands a branch and dies on the way: told per line where, it forks, and says how it ended.

Each line is `STEP PATH`: the child kills itself before its STEPth step in the repository at PATH; step 0
lands in peace and answers with the number of steps. A step is everything that changes the disk: a git
command, a file replaced, renamed, linked, copied or removed.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lineclear.app.ports import Caller
from lineclear.core.queue.landing_results import Landed
from lineclear.git import branch_moves, commits, landing, restoring, trees
from lineclear.wiring.repo import open_repo
from tests.landings import land

BRANCH, TASK, AGENT = "side", 1, "claude-1"


class Steps:
    def __init__(self, last: int) -> None:
        self.count, self._last = 0, last

    def wrap(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **more: Any) -> Any:
            self.count += 1
            if self.count == self._last:
                os.kill(os.getpid(), signal.SIGKILL)
            return act(*args, **more)

        return step

    def count_all(self, *modules: ModuleType) -> None:
        """From here on everything that these modules do to the disk is a step."""
        for module in modules:
            name = "run_git" if "run_git" in vars(module) else "git"
            vars(module)[name] = self.wrap(vars(module)[name])
        acts = ((os, "replace"), (os, "rename"), (os, "link"), (os, "unlink"), (shutil, "copy2"))
        for place, name in acts:
            setattr(place, name, self.wrap(getattr(place, name)))


def serve(act: Callable[[int, str], int]) -> None:
    for line in sys.stdin:
        number, path = line.rstrip("\n").split(" ", 1)
        ear, mouth = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(mouth, str(act(int(number), path)).encode())
            os._exit(0)
        os.close(mouth)
        _, status = os.waitpid(child, 0)
        with open(ear, encoding="ascii") as told:
            answer = str(-os.WTERMSIG(status)) if os.WIFSIGNALED(status) else told.read()
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def _land(last: int, path: str) -> int:
    steps = Steps(last)
    os.chdir(path)
    steps.count_all(branch_moves, commits, landing, restoring, trees)
    repo = open_repo(path, os.environ)
    result = land(repo, Caller(AGENT, tree="main"), task=TASK, branch=BRANCH)
    if not isinstance(result, Landed):
        raise RuntimeError(result)
    return steps.count


if __name__ == "__main__":
    serve(_land)
