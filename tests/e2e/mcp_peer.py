"""The other end of `lineclear mcp`, written by hand: for what the SDK's own client does not let one do."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from typing import Any

from tests.e2e.commandline import CommandLine
from tests.waiting import PATIENCE_S

MOST_SHOWN = 1_000
OLD, MIDDLE, NEW = "2025-06-18", "2025-11-25", "2026-07-28"


class Peer:
    """A started server. Lines that it writes are collected; answers are found by their number."""

    def __init__(self, line: CommandLine, *words: str, agent: str = "") -> None:
        env = line.environment | ({"LINECLEAR_AGENT": agent} if agent else {})
        self.process = subprocess.Popen(
            line.argv("mcp", *words), cwd=line.place, env=env, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.told: list[dict[str, Any]] = []
        self._answers: dict[int, dict[str, Any]] = {}
        self._lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._last = 0
        self._collector = threading.Thread(target=self._collect, daemon=True)
        self._collector.start()

    def _collect(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self._lines.put(json.loads(line))
        self._lines.put(None)

    def write(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def tell(self, method: str, params: dict[str, Any] | None = None) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}}))

    def ask(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Send a question; gives its number."""
        self._last += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params or {}}))
        return self._last

    def answer(self, number: int) -> dict[str, Any]:
        """The whole message that answers a question; what is told in between is kept."""
        while number not in self._answers:
            self._take()
        return self._answers.pop(number)

    def heard(self, method: str) -> dict[str, Any]:
        """What the next notification of this kind says."""
        while True:
            for place, message in enumerate(self.told):
                if message["method"] == method:
                    params: dict[str, Any] = self.told.pop(place)["params"]
                    return params
            self._take()

    def _take(self) -> None:
        message = self._lines.get(timeout=PATIENCE_S)
        assert message is not None, f"the server has ended: {self.complaints()}"
        if "method" in message:
            self.told.append(message)
        elif message.get("id") is not None:
            self._answers[message["id"]] = message

    def complaints(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()

    def greet(self, version: str = OLD, name: str = "test", **more: Any) -> dict[str, Any]:
        info = {"name": name, "version": "1"}
        asked = {"protocolVersion": version, "capabilities": {}, "clientInfo": info, **more}
        result: dict[str, Any] = self.answer(self.ask("initialize", asked))["result"]
        self.tell("notifications/initialized")
        return result

    def begin(self, tool: str, *, meta: dict[str, Any] | None = None, **arguments: Any) -> int:
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        return self.ask("tools/call", {**params, "_meta": meta} if meta else params)

    def call(self, tool: str, *, meta: dict[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
        """The result of a tool."""
        answer = self.answer(self.begin(tool, meta=meta, **arguments))
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def data(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.call(tool, **arguments)
        assert not result.get("isError"), str(result)[:MOST_SHOWN]
        data: dict[str, Any] = result["structuredContent"]["data"]
        return data

    def refused(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.call(tool, **arguments)
        assert result["isError"], str(result)[:MOST_SHOWN]
        error: dict[str, Any] = result["structuredContent"]["error"]
        return error

    def fell_short(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The data of an error that is no refusal: it was done, and came to less than was asked for."""
        result = self.call(tool, **arguments)
        assert result["isError"], str(result)[:MOST_SHOWN]
        data: dict[str, Any] = result["structuredContent"]["data"]
        return data

    def hang_up(self) -> int:
        """Close its stdin; gives its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._collector.join(PATIENCE_S)
        for stream in (self.process.stdin, self.process.stderr):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
