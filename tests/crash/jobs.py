"""The test's side of tests/crash/actor.py: hand out a job with a planned fault, hear what became of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL
from typing import Any

from tests.crash.commands import Command
from tests.engines import Place

ROOT = Path(__file__).parents[2]


@dataclass
class Outcome:
    """What was acknowledged before the end, how it ended, and the steps taken if it came that far."""

    answers: list[dict[str, Any]] = field(default_factory=list)
    points: list[str] = field(default_factory=list)
    exit_code: int = 0

    @property
    def was_killed(self) -> bool:
        return self.exit_code == -SIGKILL


class Workshop:
    """A process that is told what to do in forks of itself."""

    def __init__(self, engine: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "crash" / "actor.py"), engine],
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        assert self._hear() == "ready"

    def run(
        self,
        place: Place,
        *steps: Command,
        at: int = 0,
        how: str = "",
        settings: dict[str, Any] | None = None,
    ) -> Outcome:
        """Carry out the steps with a fault at the given point; 0: none, only count the points."""
        job = {
            "place": [place.spec, place.directory], "at": at, "how": how, "steps": steps,
            "settings": settings or {},
        }  # fmt: skip
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        outcome, broken = Outcome(), ""
        while "ended" not in (line := self._hear()):
            if "points" in line:
                outcome.points = line["points"]
            elif "broken" in line:
                broken = line["broken"]
            else:
                outcome.answers.append(line)
        assert not broken, f"{how} {at}: {broken}"
        outcome.exit_code = line["ended"]
        return outcome

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _hear(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the workshop ended with {self._process.wait()}"
        return json.loads(line)


@contextmanager
def working(engine: str) -> Iterator[Workshop]:
    workshop = Workshop(engine)
    try:
        yield workshop
    finally:
        workshop.close()
