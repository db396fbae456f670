"""The command line as its users start it: real processes, their output, their exit codes."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lineclear
from tests.waiting import PATIENCE_S, until

SOURCE = Path(lineclear.__file__).parents[1]
LONGEST_S = 120.0  # what one command may take, whatever else the machine does meanwhile


class Answer:
    """What one run left: exit code, both streams, and the JSON envelope where one was asked for."""

    def __init__(self, argv: tuple[str, ...], code: int, out: bytes, err: bytes) -> None:
        self.argv, self.code = argv, code
        self.out, self.err = out.decode(), err.decode()

    def __repr__(self) -> str:
        return f"lineclear {' '.join(self.argv)} -> {self.code}\n{self.out}{self.err}"

    @property
    def envelope(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.out)
        return parsed

    @property
    def data(self) -> Any:
        return self.envelope["data"]

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = self.envelope["error"]
        return found


class Running:
    """A process that goes on by itself; its lines are collected as they come."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._collector = threading.Thread(target=self._collect, daemon=True)
        self._collector.start()

    def _collect(self) -> None:
        if self.process.stdout is not None:
            with self.process.stdout as lines:
                for line in lines:
                    self._lines.put(line.decode().rstrip("\n"))
        self._lines.put(None)

    def line(self, patience_s: float = PATIENCE_S) -> str:
        """The next line of its output; fails when none comes."""
        found = self._lines.get(timeout=patience_s)
        assert found is not None, "the output has ended"
        return found

    def wait(self) -> int:
        return self.process.wait(PATIENCE_S)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._collector.join(PATIENCE_S)

    def rest(self) -> list[str]:
        """What is left of its output after its end."""
        return list(iter(self._lines.get, None))


class CommandLine:
    """`lineclear` in one place, with one environment."""

    def __init__(self, place: Path, environment: Mapping[str, str]) -> None:
        self.place = place
        self.environment = {**environment, "PYTHONPATH": str(SOURCE)}
        self._running: list[Running] = []

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "lineclear", *words]

    def at(self, place: Path) -> CommandLine:
        return CommandLine(place, self.environment)

    def run(self, *words: str, stdin: str = "", env: Mapping[str, str] | None = None) -> Answer:
        done = subprocess.run(
            self.argv(*words),
            cwd=self.place,
            env={**self.environment, **(env or {})},
            input=stdin.encode(),
            capture_output=True,
            timeout=LONGEST_S,
            check=False,
        )
        return Answer(words, done.returncode, done.stdout, done.stderr)

    def ok(self, *words: str, stdin: str = "") -> Answer:
        answer = self.run(*words, stdin=stdin)
        assert answer.code == 0, answer
        return answer

    def json(self, *words: str) -> Any:
        return self.ok(*words, "--json").data

    def refused(self, *words: str, code: int) -> dict[str, Any]:
        """The error's facts; fails when the exit code is another one."""
        answer = self.run(*words, "--json")
        assert answer.code == code, answer
        return answer.error

    def start(self, *words: str) -> Running:
        process = subprocess.Popen(
            self.argv(*words),
            cwd=self.place,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        running = Running(process)
        self._running.append(running)
        return running

    def end_all(self) -> None:
        for running in self._running:
            running.end()

    # -- marks to wait for, instead of sleeping ------------------------------------------------

    def until_waiting(self, *agents: str) -> None:
        """Until exactly these stand in line, in this order."""
        until(lambda: [wait["agent"] for wait in self.json("status")["waits"]] == list(agents))

    def holders(self, resource: str) -> list[str]:
        return [claim["agent"] for claim in self.json("who", resource)["holders"]]

    def shell(self, *words: str) -> str:
        """This command line as text for a shell."""
        import shlex

        return shlex.join(self.argv(*words))
