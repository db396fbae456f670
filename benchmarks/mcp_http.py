"""What `lineclear serve` adds to its SDK for a claim over HTTP, how fair it is to many, and what it keeps."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import (
    ROOT,
    Report,
    at_least,
    at_most,
    at_most_x,
    median,
    quantile,
    scratch,
    take_turns,
    timed_us,
)
from lineclear.app import claims
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.host.server_address import read_address
from lineclear.store.copies import new_sqlite
from tests.repository import TemporaryRepo, clean_environment

TITLE = "mcp: one server for many clients over HTTP, beside the bare SDK"
NEW, OLD = "2026-07-28", "2025-06-18"
META = "io.modelcontextprotocol"
CLIENTS, MOST_MIB = 64, 120
# The same SDK, transport and web server, with a tool that does nothing.
NO_OP = """
import contextlib, socket, anyio, uvicorn, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
async def call(asked, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="ok")])
async def main():
    manager = StreamableHTTPSessionManager(Server("no-op", on_call_tool=call))
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    config = uvicorn.Config(
        manager.handle_request, interface="asgi3", log_config=None, access_log=False, lifespan="off",
        http="h11", loop="asyncio", proxy_headers=False,
    )
    print(listener.getsockname()[1], flush=True)
    async with manager.run():
        await uvicorn.Server(config).serve(sockets=[listener])
anyio.run(main)
"""


class Client:
    """One connection that stays, and for an older revision one session on it."""

    def __init__(self, port: int, version: str, key: str = "", agent: str = "") -> None:
        self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._version, self._last = version, 0
        self._headers = {
            "content-type": "application/json", "accept": "application/json, text/event-stream",
            "mcp-protocol-version": version, "authorization": f"Bearer {key}", "x-lineclear-agent": agent,
        }  # fmt: skip
        self.begin()

    def begin(self) -> None:
        if self._version == NEW:
            return
        self._headers.pop("mcp-session-id", None)
        asked = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        _, headers = self._send("initialize", asked)
        self._headers["mcp-session-id"] = headers["mcp-session-id"]
        self._send("notifications/initialized", None)

    def end(self) -> None:
        """As a client does that says goodbye."""
        if self._version != NEW:
            self._line.request("DELETE", "/mcp", headers=self._headers)
            self._line.getresponse().read()

    def close(self) -> None:
        self._line.close()

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer, _ = self._send("tools/call", {"name": tool, "arguments": arguments})
        if "error" in answer:
            raise RuntimeError(f"{tool}: {answer}")
        result: dict[str, Any] = answer["result"]
        return result

    def done(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """A call that must not be refused."""
        result = self.call(tool, arguments)
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {result}")
        return result

    def _send(self, method: str, params: dict[str, Any] | None) -> tuple[dict[str, Any], dict[str, str]]:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        headers = self._headers
        if params is not None:
            self._last += 1
            message |= {"id": self._last, "params": params}
        if self._version == NEW and params is not None:
            params["_meta"] = {f"{META}/protocolVersion": NEW, f"{META}/clientCapabilities": {}}
            headers = headers | {"mcp-method": method, "mcp-name": params["name"]}
        self._line.request("POST", "/mcp", json.dumps(message), headers)
        reply = self._line.getresponse()
        body = reply.read()
        if reply.status >= 300:
            raise RuntimeError(f"{method}: {reply.status} {body[:300]!r}")
        if params is None:
            return {}, {}
        if b"data: " in body[:100]:
            body = body.rpartition(b"data: ")[2]
        return json.loads(body), {name.lower(): value for name, value in reply.getheaders()}


def run(quick: bool) -> Report:
    with scratch() as directory:
        home = Path(directory, "home")
        home.mkdir()
        environment = clean_environment(home) | {"PYTHONPATH": str(ROOT / "src")}
        repo = TemporaryRepo.create(Path(directory, "repo"), environment)
        argv = [sys.executable, "-m", "lineclear", "init"]
        subprocess.run(argv, cwd=repo.path, env=repo.environment, check=True, capture_output=True)
        report = Report()
        with _started(repo) as door:
            _claims(report, repo, door, Path(directory, "store"), 100 if quick else 1_000)
        with _started(repo) as (port, key, _):
            _crowd(report, port, key, 2.0 if quick else 20.0)
        with _started(repo) as door:
            _memory(report, door, 2_000 if quick else 100_000)
        return report


@contextmanager
def _started(repo: TemporaryRepo) -> Iterator[tuple[int, str, int]]:
    """A server's port, key and process."""
    argv = [sys.executable, "-m", "lineclear", "serve", "--json"]
    process = subprocess.Popen(argv, cwd=repo.path, env=repo.environment, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        process.stdout.readline()
        door = read_address(str(repo.path / ".git" / "lineclear"))
        assert door is not None
        yield door.port, door.key, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        process.stdout.close()


# -- one client ---------------------------------------------------------------------------------


def _claims(
    report: Report, repo: TemporaryRepo, door: tuple[int, str, int], directory: Path, rounds: int
) -> None:
    argv = [sys.executable, "-c", NO_OP]
    no_op = subprocess.Popen(argv, cwd=repo.path, env=repo.environment, stdout=subprocess.PIPE)
    assert no_op.stdout is not None
    store, caller = new_sqlite(str(directory)), Caller("bench", seen=1)
    try:
        empty_port = int(no_op.stdout.readline())
        for shift, version in ((0, NEW), (1_000_000, OLD)):
            served, empty = Client(*_at(door, version), agent="bench"), Client(empty_port, version)
            _in_turns(
                report, version, rounds,
                Side(partial(_claim_by, served), door[2], shift),
                Side(partial(_do_nothing_by, empty), no_op.pid),
                Side(partial(_ask, store, caller), 0, shift),
            )  # fmt: skip
            served.close()
            empty.close()
    finally:
        store.close()
        no_op.terminate()
        no_op.wait()
        no_op.stdout.close()


def _at(door: tuple[int, str, int], version: str) -> tuple[int, str, str]:
    return door[0], version, door[1]


def _file(turn: int) -> dict[str, Any]:
    return {"resources": [f"src/file{turn}.py"]}


def _claim_by(client: Client, turn: int) -> object:
    return client.done("claim", _file(turn))


def _do_nothing_by(client: Client, _turn: int) -> object:
    return client.done("nothing", {})


def _ask(store: Any, caller: Caller, turn: int) -> object:
    resource = parse_resource(_file(turn)["resources"][0])
    request = Request(caller.name, caller.tree, EXCLUSIVE, [resource], ttl_ms=1_800_000)
    return claims.ask(store, NobodyDies(), caller, request)


class Side:
    """One of those that take turns: how long each turn took, and the CPU of whoever did the work."""

    def __init__(self, work: Callable[[int], object], pid: int, shift: int = 0) -> None:
        """`pid` 0: we do it ourselves."""
        self._work, self._pid, self._shift = work, pid, shift
        self.took_us: list[float] = []
        self.cpu_us = 0.0

    def skip(self, turns: int) -> None:
        self._shift += turns

    def turn(self, turn: int) -> None:
        began = self._cpu_us()
        self.took_us.append(timed_us(lambda: self._work(turn + self._shift)))
        self.cpu_us += self._cpu_us() - began

    def _cpu_us(self) -> float:
        if not self._pid:
            return time.thread_time() * 1e6
        total_ns = 0
        for thread in os.listdir(f"/proc/{self._pid}/task"):
            with open(f"/proc/{self._pid}/task/{thread}/schedstat", encoding="ascii") as file:
                total_ns += int(file.read().split()[0])
        return total_ns / 1_000


def _in_turns(report: Report, version: str, rounds: int, served: Side, empty: Side, ask: Side) -> None:
    sides = (served, empty, ask)
    take_turns(10, *(side.turn for side in sides))
    for side in sides:
        side.took_us.clear()
        side.cpu_us = 0.0
        side.skip(10)
    take_turns(rounds, *(side.turn for side in sides))
    name = "a tool that does nothing + the claim in process"
    for share_name, share in (("p50", 0.5), ("p99", 0.99)):
        floor = quantile(empty.took_us, share) + quantile(ask.took_us, share)
        report.add(
            f"claim over HTTP, {version}, {share_name}", quantile(served.took_us, share), "us",
            beside=(floor, name), target=at_most_x(1.3) if share_name == "p50" else None,
        )  # fmt: skip
    floor = (empty.cpu_us + ask.cpu_us) / rounds
    report.add(f"claim over HTTP, {version}, CPU", served.cpu_us / rounds, "us", beside=(floor, name))
    report.note(
        f"Of that floor, {version}, p50: {median(empty.took_us):.0f} us SDK and web server, "
        f"{median(ask.took_us):.0f} us claim."
    )


# -- many clients -------------------------------------------------------------------------------


def _crowd(report: Report, port: int, key: str, seconds: float) -> None:
    """Each claims and releases a file of its own as often as it can, half of them in a session."""
    counts, waits, faults = [0] * CLIENTS, [0.0] * CLIENTS, [0] * CLIENTS
    ready, over = threading.Barrier(CLIENTS + 1), threading.Event()

    def work(place: int) -> None:
        client = Client(port, NEW if place % 2 else OLD, key, f"agent-{place}")
        ready.wait()
        while not over.is_set():
            for tool in ("claim", "release"):
                began = time.monotonic()
                try:
                    is_wrong = bool(client.call(tool, {"resources": [f"own{place}.py"]}).get("isError"))
                except (OSError, RuntimeError, http.client.HTTPException):
                    is_wrong = True
                faults[place] += is_wrong
                counts[place] += 1
                waits[place] = max(waits[place], time.monotonic() - began)
        client.close()

    threads = [threading.Thread(target=work, args=(place,)) for place in range(CLIENTS)]
    for thread in threads:
        thread.start()
    ready.wait()
    began = time.monotonic()
    over.wait(seconds)
    over.set()
    for thread in threads:
        thread.join()
    took = time.monotonic() - began
    fair = sum(counts) ** 2 / (CLIENTS * sum(count * count for count in counts))
    report.add(f"{CLIENTS} clients at once, calls", sum(counts) / took, "/s")
    report.add(f"{CLIENTS} clients at once, errors", sum(faults), target=at_most(0))
    report.add(f"{CLIENTS} clients at once, Jain's index of fairness", fair, target=at_least(0.95))
    mean = took * CLIENTS / sum(counts) * 1_000
    report.add(
        f"{CLIENTS} clients at once, the longest wait of all", max(waits) * 1_000, "ms",
        beside=(mean, "the mean wait"),
    )  # fmt: skip


# -- memory -------------------------------------------------------------------------------------


def _memory(report: Report, door: tuple[int, str, int], calls: int) -> None:
    """Four clients that begin and end sessions, one in ten without a goodbye."""
    marks = [calls // 5, calls * 3 // 5, calls]
    found: list[float] = []
    lock, made = threading.Lock(), [0]

    def work(place: int) -> None:
        dice = random.Random(place)
        version = NEW if place == 0 else OLD
        client = Client(*_at(door, version), agent=f"agent-{place}")
        for number in range(calls // 4):
            if number % 100 == 99:
                if dice.random() < 0.9:
                    client.end()
                client.begin()
            client.done(*_mixed(dice, place, number))
            with lock:
                made[0] += 1
                if made[0] in marks:
                    found.append(_resident_mib(door[2]))
        client.close()

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(found) != len(marks):
        raise RuntimeError(f"a client ended early: {made[0]} of {calls} calls")
    report.add(f"memory after {calls:,} calls", found[-1], "MiB", target=at_most(MOST_MIB))
    report.add(
        f"memory after {calls:,} calls beside {marks[0]:,}", found[-1], "MiB",
        beside=(found[0], f"after {marks[0]:,} calls"), target=at_most_x(1.05),
    )  # fmt: skip
    report.note(
        "MiB after " + ", ".join(f"{mark:,}: {mib:.1f}" for mark, mib in zip(marks, found, strict=True))
    )


def _mixed(dice: random.Random, place: int, number: int) -> tuple[str, dict[str, Any]]:
    if number % 2 == 0:
        tool = "claim" if number % 4 == 0 else "release"
        return tool, {"resources": [f"own{place}-{number // 4 % 50}.py"]}
    others: list[tuple[str, dict[str, Any]]] = [
        ("status", {}),
        ("value_put", {"name": f"value-{place}", "value": {"number": number}}),
        ("say", {"text": f"message {number}", "to": f"agent-{(place + 1) % 4}"}),
        ("inbox", {}),
    ]
    return dice.choice(others)


def _resident_mib(pid: int) -> float:
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
