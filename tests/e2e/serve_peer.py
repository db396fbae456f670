"""The other end of `lineclear serve`: the SDK's own client over every way in, and HTTP written by hand."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from unittest import mock

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.commandline import CommandLine
from tests.e2e.mcp_peer import NEW, OLD
from tests.e2e.serving import ServeProcess
from tests.waiting import PATIENCE_S

STDIO, TCP, SOCKET = "stdio", "tcp", "socket"
META = "io.modelcontextprotocol"
DATA = "data: "
JSON_AND_EVENTS = "application/json, text/event-stream"


def token_for(line: CommandLine, name: str, *words: str) -> str:
    token: str = line.json("token", "add", name, *words)["secret"]
    return token


@asynccontextmanager
async def sdk_client(
    line: CommandLine, served: ServeProcess | None, way: str, version: str, *, agent: str = "ada", **more: Any
) -> AsyncIterator[Client]:
    """Over stdio a server of its own; over TCP with a token of the agent; over the socket with its name."""
    mode = version if version == NEW else "legacy"
    with mock.patch("mcp.client.session.LATEST_HANDSHAKE_VERSION", version):
        if served is None or way == STDIO:
            program, *words = line.argv("mcp")
            env = line.environment | {"LINECLEAR_AGENT": agent}
            server = StdioServerParameters(command=program, args=words, env=env, cwd=line.place)
            async with Client(server, mode=mode, **more) as client:
                yield client
            return
        is_tcp = way == TCP
        headers = (
            {"authorization": f"Bearer {token_for(line, agent)}"} if is_tcp else {"x-lineclear-agent": agent}
        )
        transport = None if is_tcp else httpx2.AsyncHTTPTransport(uds=served.door.socket)
        url = f"{served.url}/mcp" if is_tcp else "http://lineclear/mcp"
        async with (
            httpx2.AsyncClient(headers=headers, transport=transport, timeout=PATIENCE_S) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode, **more) as client,
        ):
            yield client


class Said:
    """An answer over HTTP, as it came."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    def __repr__(self) -> str:
        return f"{self.status} {dict(self.headers)} {self.text[:600]}"

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def messages(self) -> list[dict[str, Any]]:
        if "text/event-stream" in self.headers.get("content-type", ""):
            lines = self.text.splitlines()
            return [json.loads(line[len(DATA) :]) for line in lines if line.startswith(DATA)]
        return [json.loads(self.body)] if self.body else []

    @property
    def result(self) -> dict[str, Any]:
        found = self.messages[-1]
        assert "result" in found, self
        result: dict[str, Any] = found["result"]
        return result

    @property
    def data(self) -> dict[str, Any]:
        assert not self.result.get("isError"), self
        data: dict[str, Any] = self.result["structuredContent"]["data"]
        return data

    @property
    def error(self) -> dict[str, Any]:
        """Why it was refused: by the door, by a tool, or by the protocol."""
        found = self.messages[-1]
        if "result" in found:
            found = found["result"]["structuredContent"]
        error: dict[str, Any] = found["error"]
        return error


class Line(http.client.HTTPConnection):
    """A connection to a server, over TCP or its socket."""

    def __init__(self, served: ServeProcess, way: str = TCP) -> None:
        super().__init__(served.door.host, served.door.port, timeout=PATIENCE_S)
        self._path = "" if way == TCP else served.door.socket

    def connect(self) -> None:
        if not self._path:
            super().connect()
            return
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class HttpPeer:
    """A client of one revision, by hand. `proof`: a token, or None for the key of the door."""

    def __init__(
        self, served: ServeProcess, version: str = NEW, *, proof: str | None = None, way: str = TCP,
        agent: str = "", **headers: str,
    ) -> None:  # fmt: skip
        self.served, self.version, self.way = served, version, way
        self.headers = {"content-type": "application/json", "accept": JSON_AND_EVENTS, **headers}
        if way == TCP:
            self.headers["authorization"] = f"Bearer {served.door.key if proof is None else proof}"
        if agent:
            self.headers["x-lineclear-agent"] = agent
        self.headers["mcp-protocol-version"] = version
        self._last = 0

    def greet(self) -> HttpPeer:
        """Begins a session, for those revisions that have one."""
        if self.version == NEW:
            return self
        info = {"name": "test", "version": "1"}
        asked = {"protocolVersion": self.version, "capabilities": {}, "clientInfo": info}
        said = self.ask("initialize", asked)
        assert said.result["protocolVersion"] == self.version
        self.headers["mcp-session-id"] = said.headers["mcp-session-id"]
        assert self.send({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202
        return self

    def message(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        self._last += 1
        params = dict(params or {})
        if self.version == NEW:
            meta = {f"{META}/protocolVersion": NEW, f"{META}/clientCapabilities": {}}
            params["_meta"] = meta | params.get("_meta", {})
        return {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}

    def routed(self, message: dict[str, Any]) -> dict[str, str]:
        if self.version != NEW:
            return self.headers
        name = message.get("params", {}).get("name") or message.get("params", {}).get("uri")
        return self.headers | {"mcp-method": message["method"]} | ({"mcp-name": name} if name else {})

    def ask(self, method: str, params: dict[str, Any] | None = None) -> Said:
        message = self.message(method, params)
        return self.send(message, **self.routed(message))

    def call(self, tool: str, **arguments: Any) -> Said:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def begin(self, tool: str, **arguments: Any) -> Line:
        """Asks, and does not wait for the answer."""
        message = self.message("tools/call", {"name": tool, "arguments": arguments})
        line = Line(self.served, self.way)
        line.request("POST", "/mcp", json.dumps(message).encode(), self.routed(message))
        return line

    def send(self, body: Any, method: str = "POST", path: str = "/mcp", **headers: str) -> Said:
        """`body`: bytes as they are, or anything that becomes JSON."""
        given = body if isinstance(body, bytes) else json.dumps(body).encode()
        line = Line(self.served, self.way)
        try:
            line.request(method, path, given, self.headers | headers)
            return heard(line)
        finally:
            line.close()

    def is_alive(self) -> bool:
        """Does the server answer a newcomer?"""
        fresh = HttpPeer(self.served, OLD, agent="visitor").greet()
        return "claims" in fresh.call("status").data


def heard(line: http.client.HTTPConnection) -> Said:
    reply = line.getresponse()
    return Said(reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read())
