"""What `lineclear mcp` adds to its SDK: until the first answer, and for each claim over stdin and stdout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT, Report, at_most_x, median, quantile, scratch, take_turns, timed_us
from lineclear.app import claims
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.store.copies import new_sqlite
from tests.repository import TemporaryRepo, clean_environment

TITLE = "mcp: the server over stdio, beside the bare SDK"
BARE_IMPORT = "import mcp.server.lowlevel, mcp.server.stdio"
NO_OP = """
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
async def call(asked, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="ok")])
async def main():
    server = Server("no-op", on_call_tool=call)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
anyio.run(main)
"""
GREETING = {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
}  # fmt: skip


class Server:
    """A started server that has answered its greeting."""

    def __init__(self, argv: list[str], repo: TemporaryRepo) -> None:
        self._process = subprocess.Popen(
            argv, cwd=repo.path, env=repo.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._last = 0
        self.ask("initialize", GREETING)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}})

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdout is not None
        self._last += 1
        self._write({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        while True:
            message: dict[str, Any] = json.loads(self._process.stdout.readline())
            if message.get("id") == self._last:
                return message

    def call(self, tool: str, arguments: dict[str, Any]) -> None:
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if "error" in answer or answer["result"].get("isError"):
            raise RuntimeError(f"{tool}: {answer}")

    def end(self) -> float:
        """Close its stdin; gives the CPU of its whole life, in ms."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        _, _, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = 0
        self._process.stdout.close()
        return (usage.ru_utime + usage.ru_stime) * 1_000


def run(quick: bool) -> Report:
    with scratch() as directory:
        home = Path(directory, "home")
        home.mkdir()
        environment = clean_environment(home) | {
            "LINECLEAR_AGENT": "bench",
            "PYTHONPATH": str(ROOT / "src"),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        repo = TemporaryRepo.create(Path(directory, "repo"), environment)
        _command(repo, "init")
        report = Report()
        _first_answer(report, repo, 5 if quick else 15)
        _claims(report, repo, Path(directory, "store"), 100 if quick else 1_000)
        return report


def _argv(*words: str) -> list[str]:
    return [sys.executable, "-m", "lineclear", *words]


def _command(repo: TemporaryRepo, *words: str) -> None:
    subprocess.run(_argv(*words), cwd=repo.path, env=repo.environment, check=True, capture_output=True)


def _first_answer(report: Report, repo: TemporaryRepo, rounds: int) -> None:
    ours_cpu: list[float] = []
    ours_wall: list[float] = []
    bare_cpu: list[float] = []
    bare_wall: list[float] = []

    def bare(_turn: int) -> None:
        began = time.monotonic()
        process = subprocess.Popen([sys.executable, "-c", BARE_IMPORT], cwd=repo.path, env=repo.environment)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        bare_wall.append((time.monotonic() - began) * 1_000)
        bare_cpu.append((usage.ru_utime + usage.ru_stime) * 1_000)

    def ours(_turn: int) -> None:
        began = time.monotonic()
        server = Server(_argv("mcp"), repo)
        ours_wall.append((time.monotonic() - began) * 1_000)
        ours_cpu.append(server.end())

    take_turns(rounds + 1, bare, ours)  # the first round fills caches
    name = "import of the SDK in a process of its own"
    report.add(
        "first answer, CPU of the whole process", median(ours_cpu[1:]), "ms",
        beside=(median(bare_cpu[1:]), name), target=at_most_x(1.2),
    )  # fmt: skip
    report.add(
        "first answer, wall clock", median(ours_wall[1:]), "ms", beside=(median(bare_wall[1:]), "the same")
    )


def _claims(report: Report, repo: TemporaryRepo, directory: Path, rounds: int) -> None:
    served, no_op = Server(_argv("mcp"), repo), Server([sys.executable, "-c", NO_OP], repo)
    store, caller = new_sqlite(str(directory)), Caller("bench", seen=1)
    over_stdio: list[float] = []
    empty: list[float] = []
    in_process: list[float] = []

    def ask(turn: int) -> object:
        resource = parse_resource(f"src/file{turn}.py")
        request = Request(caller.name, caller.tree, EXCLUSIVE, [resource], ttl_ms=1_800_000)
        return claims.ask(store, NobodyDies(), caller, request)

    try:
        take_turns(
            rounds + 10,
            lambda turn: over_stdio.append(
                timed_us(lambda: served.call("claim", {"resources": [f"src/file{turn}.py"]}))
            ),
            lambda _turn: empty.append(timed_us(lambda: no_op.call("nothing", {}))),
            lambda turn: in_process.append(timed_us(lambda: ask(turn))),
        )
    finally:
        store.close()
        served.end()
        no_op.end()
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        floor = quantile(empty[10:], share) + quantile(in_process[10:], share)
        report.add(
            f"claim over stdio, {name}", quantile(over_stdio[10:], share), "us",
            beside=(floor, "a tool that does nothing + the claim in process"),
            target=at_most_x(1.3) if name == "p50" else None,
        )  # fmt: skip
    report.note(
        f"Of that floor, p50: {median(empty[10:]):.0f} us SDK, {median(in_process[10:]):.0f} us claim."
    )
