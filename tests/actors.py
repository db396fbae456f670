"""Actors: real processes on one store, spoken with over pipes, stopped and killed at will."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.engines import Place
from tests.verbs import Answer
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[1]


class Actor:
    """One process. Between `begin` and `answer` (or `refusal`) the test may do something else."""

    def __init__(self, place: Place, name: str, program: str = "actor_program.py") -> None:
        self.name = name
        self._rest = b""
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / program), place.spec, place.directory],
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def do(self, verb: str, *arguments: Any, **options: Any) -> Any:
        """Carry it out as this actor and give the answer; a refusal fails the test."""
        self.begin(verb, *arguments, **options)
        return self.answer()

    def refused(self, verb: str, *arguments: Any, **options: Any) -> Answer:
        """The refusal as data; an answer fails the test."""
        self.begin(verb, *arguments, **options)
        return self.refusal()

    def begin(self, verb: str, *arguments: Any, **options: Any) -> None:
        self.say(json.dumps([verb, arguments, options]))

    def answer(self) -> Any:
        heard = self.hear()
        assert "answer" in heard, heard
        return heard["answer"]

    def refusal(self) -> Answer:
        heard: Answer = self.hear()
        assert "refusal" in heard, heard
        return heard

    def say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")

    def hear(self) -> Any:
        """The next line, whenever it comes. A process that dies instead fails the test."""
        line = self._line()
        assert line is not None, f"{self.name} ended with {self._process.wait()} instead of answering"
        return json.loads(line)

    def has_spoken(self) -> bool:
        """Is there an answer already?"""
        assert self._process.stdout is not None
        return bool(self._rest) or bool(select.select([self._process.stdout], [], [], 0)[0])

    def _line(self) -> bytes | None:
        assert self._process.stdout is not None
        give_up_at = time.monotonic() + PATIENCE_S
        while b"\n" not in self._rest:
            left_s = max(0.0, give_up_at - time.monotonic())
            assert select.select([self._process.stdout], [], [], left_s)[0], f"{self.name} says nothing"
            data = os.read(self._process.stdout.fileno(), 65536)
            if not data:
                return None
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def stop(self) -> None:
        """SIGSTOP, and it has really stopped when this returns."""
        self.send(signal.SIGSTOP)
        self.await_stop()

    def await_stop(self) -> None:
        """Come back when it has stopped by itself."""
        _, status = os.waitpid(self.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)

    def wake(self) -> None:
        self.send(signal.SIGCONT)

    def send(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End it, whatever it does now."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


@contextmanager
def acting(place: Place, *names: str) -> Iterator[list[Actor]]:
    """Actors that have opened the store; all are gone afterwards."""
    actors: list[Actor] = []
    try:
        for name in names:
            actors.append(Actor(place, name))
        for actor in actors:
            assert actor.hear() == "ready"
        yield actors
    finally:
        for actor in actors:
            actor.close()
