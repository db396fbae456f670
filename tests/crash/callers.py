"""Those who call a server: a command line, a client's hook, a client of its tools.

The command line takes the store for one that it cannot write. It and the client of the tools ask again, under
the same key, when an answer was lost.
"""

from __future__ import annotations

import http.client
import json
import shlex
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from lineclear.wiring.setup import stub_text
from tests.e2e.commandline import CommandLine
from tests.e2e.serve_peer import HttpPeer
from tests.e2e.serving import ServeProcess, state_of

# Six who call and a server that starts, again and again, leave little of a machine to each other.
PATIENCE_S, DEAD_S = 90.0, 0.02


class Caller(ABC):
    """`calls` counts what was answered, `faults` holds what went wrong."""

    def __init__(self, name: str) -> None:
        self.name, self.calls, self.replays = name, 0, 0
        self.faults: list[str] = []
        self.made: list[tuple[str, str]] = []
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """No new call; the one that is at work is answered."""
        self._is_over.set()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), f"{self.name} never came back"

    def _run(self) -> None:
        try:
            while not self._is_over.is_set():
                self.call(self.calls)
                self.calls += 1
        except Exception as error:  # noqa: BLE001  told by the test
            self.faults.append(f"{self.name}, call {self.calls}: {error!r}")

    @abstractmethod
    def call(self, number: int) -> None:
        """One call, with an effect that is noted in `made`: (kind of event, what it is about)."""

    def made_one(self, number: int) -> tuple[str, str]:
        """What the next call is to make: tasks, messages, values and claims in turn."""
        kind = ("TaskAdded", "MessageSent", "ValuePut", "ClaimGranted")[number % 4]
        thing = f"{self.name}.{number}"
        self.made.append((kind, thing))
        return kind, thing


IN_A_SANDBOX = (
    "import sys; from lineclear.wiring import server_address as door; "
    "door.is_writable = lambda directory: False; "
    "from lineclear.__main__ import main; sys.exit(main())"
)


class Sandboxed(CommandLine):
    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-c", IN_A_SANDBOX, *words]


class Shell(Caller):
    def __init__(self, name: str, line: CommandLine) -> None:
        super().__init__(name)
        self._line = Sandboxed(line.place, line.environment)

    def call(self, number: int) -> None:
        kind, thing = self.made_one(number)
        words = {
            "TaskAdded": ("task", "add", thing),
            "MessageSent": ("say", thing),
            "ValuePut": ("value", "put", thing, "1", "--version", "0"),
            "ClaimGranted": ("claim", f"row:{thing}"),
        }[kind]
        answer = self._line.run(*words, "--as", self.name, "--json")
        while answer.code == 1 and (error := json.loads(answer.out)["error"])["code"] == "serve.lost":
            answer = self._line.run(*shlex.split(error["next"])[1:])
        assert answer.code == 0, answer
        assert answer.err == "", answer
        self.replays += "replayed" in answer.data


class Hook(Caller):
    """A client's session that edits one file after the other."""

    def __init__(self, name: str, line: CommandLine) -> None:
        super().__init__(name)
        self._line = line
        self._stub = Path(state_of(line.place), f"hook-{name}")
        self._stub.write_text(stub_text())
        self._stub.chmod(0o755)

    def call(self, number: int) -> None:
        file = f"src/{self.name}_{number}.py"
        (self._line.place / file).write_text("x = 1\n")
        self.made.append(("ClaimGranted", f"file:{file}"))
        said = {
            "session_id": self.name, "transcript_path": "/t.jsonl", "cwd": str(self._line.place),
            "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Edit",
            "tool_input": {"file_path": str(self._line.place / file), "old_string": "1", "new_string": "2"},
            "tool_use_id": f"t{number}",
        }  # fmt: skip
        done = subprocess.run(
            [self._stub, "claude", "PreToolUse"], input=json.dumps(said, separators=(",", ":")).encode(),
            cwd=self._line.place, env={**self._line.environment, "CLAUDECODE": "1"}, capture_output=True,
            check=False, timeout=PATIENCE_S,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b""), done
        assert b"deny" not in done.stdout, done


class Model(Caller):
    """A client of the tools over HTTP; its port and its token outlive the server."""

    def __init__(self, name: str, served: ServeProcess, version: str, token: str) -> None:
        super().__init__(name)
        self._peer = HttpPeer(served, version, proof=token).greet()

    def call(self, number: int) -> None:
        kind, thing = self.made_one(number)
        tools: dict[str, tuple[str, dict[str, Any]]] = {
            "TaskAdded": ("task_add", {"title": thing}),
            "MessageSent": ("say", {"text": thing}),
            "ValuePut": ("value_put", {"name": thing, "value": 1, "version": 0}),
            "ClaimGranted": ("claim", {"resources": [f"row:{thing}"]}),
        }
        tool, given = tools[kind]
        answer = self._insist(tool, {**given, "key": f"key-{thing}"})
        self.replays += "replayed" in answer

    def _insist(self, tool: str, given: dict[str, Any]) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                said = self._peer.call(tool, **given)
            except (OSError, http.client.HTTPException) as lost:
                assert time.monotonic() < end, lost
                time.sleep(DEAD_S)
                continue
            assert said.status == 200, said
            if not said.messages:  # the stream was cut before the answer
                continue
            return said.data
