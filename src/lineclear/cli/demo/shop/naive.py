"""The naive run: a shell script with worktrees and plain `git merge`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from lineclear.cli.demo.shop.scripts import NAIVE, read_program
from lineclear.cli.demo.surroundings import run_group
from lineclear.wiring.scratch import ScratchRepo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.cli.demo.shop.judge import Show

# Several times as long as a task takes, so that no healthy agent is stopped.
LIMIT_S = 8


class NaiveRun:
    """Its repository, its agents' output, and what git said meanwhile."""

    def __init__(self, directory: str, environ: Mapping[str, str], seed: int) -> None:
        self.repo = ScratchRepo(os.path.join(directory, "naive"))
        self._work = f"{self.repo.directory}.worktrees"
        self._environ = {
            **environ,
            "PYTHON": sys.executable,
            "SEED": str(seed),
            "LIMIT_S": str(LIMIT_S),
            "WORK": self._work,
        }

    def run(self, show: Show) -> float:
        """How long it took, in seconds."""
        os.makedirs(self.repo.directory)
        ScratchRepo.make(self.repo.directory, read_program())
        show("$ sh naive.sh")
        started = time.monotonic()
        code, _ = run_group(
            ["sh", NAIVE], cwd=self.repo.directory, env=self._environ,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, tell=lambda line: show(f"  {line}"),
        )  # fmt: skip
        if code != 0:  # failing agents and merges do not cause this
            raise RuntimeError(f"the run with plain git failed (exit code {code})")
        return time.monotonic() - started

    def outputs(self) -> list[str]:
        """The files with what the agents wrote."""
        return sorted(
            os.path.join(self._work, name) for name in os.listdir(self._work) if name.endswith(".log")
        )

    def conflicts(self) -> int:
        """Branches that are not on main: their merges were aborted."""
        return len(self.repo.unmerged_branches())
