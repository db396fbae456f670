"""A real `lineclear serve` for tests."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from lineclear.host.server_address import ServerAddress, read_address
from tests.e2e.commandline import CommandLine, Running
from tests.waiting import PATIENCE_S


class ServeProcess:
    """A server that listens; ends with the test."""

    def __init__(self, line: CommandLine, *words: str, patience_s: float = PATIENCE_S) -> None:
        self.line = line
        self.running: Running = line.start("serve", "--json", *words)
        self.said = json.loads(self.running.line(patience_s))["data"]
        found = read_address(state_of(line.place))
        assert found is not None
        self.door: ServerAddress = found

    @property
    def url(self) -> str:
        return str(self.said["url"])

    def kill(self) -> None:
        self.running.process.kill()
        self.running.wait()

    def end(self) -> int:
        """As a person ends it; the exit code."""
        self.running.process.send_signal(signal.SIGINT)
        return self.running.wait()


def state_of(place: Path) -> str:
    """The state directory of a repository whose main worktree this is."""
    return str(place / ".git" / "lineclear")
