"""What tests of the boundary look at: who connected, and what a hook answers."""

from __future__ import annotations

import json
import socket
from pathlib import Path

from tests.e2e.commandline import Answer, CommandLine


class Listener:
    """A server that takes connections and counts them; it never answers."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self.port = self._socket.getsockname()[1]

    def connections(self) -> int:
        count = 0
        while True:
            try:
                self._socket.accept()[0].close()
            except BlockingIOError:
                return count
            count += 1

    def close(self) -> None:
        self._socket.close()


def write_by_hook(line: CommandLine, path: Path) -> Answer:
    """Claude Code is about to write a file."""
    call = {
        "session_id": "s-1", "cwd": str(path.parent), "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": str(path), "content": "a\n"},
    }  # fmt: skip
    return line.run("hook", "claude", "PreToolUse", stdin=json.dumps(call))
