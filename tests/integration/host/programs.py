"""Small programs of ours in processes of their own, spoken with line by line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).parents[3] / "src"


class Program:
    """A Python program that prints lines when something has happened, and reads lines to go on."""

    def __init__(self, text: str, *arguments: object, keep_fds: tuple[int, ...] = ()) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-c", text, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=keep_fds,
        )

    @property
    def pid(self) -> int:
        return self.process.pid

    def line(self) -> str:
        """The next line it prints; "" when there will be none."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def rest(self) -> str:
        """All that is still printed, by it and by everybody who inherited its standard output."""
        assert self.process.stdout is not None
        return self.process.stdout.read()

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """End it if it still runs; a stopped one too."""
        self.kill()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


@contextmanager
def running(text: str, *arguments: object, keep_fds: tuple[int, ...] = ()) -> Iterator[Program]:
    program = Program(text, *arguments, keep_fds=keep_fds)
    try:
        yield program
    finally:
        program.close()


def interrupted_at_start(monkeypatch: pytest.MonkeyPatch, has_begun: Callable[[], None]) -> None:
    """Ctrl-C comes when the next child is at work and its starter has not heard so yet."""

    class Slow(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            monkeypatch.undo()
            super().__init__(*arguments, **options)
            has_begun()
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Slow)
