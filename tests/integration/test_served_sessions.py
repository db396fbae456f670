"""The application without a network: what it keeps of sessions, and which calls need no stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TextIO

import anyio
import pytest

from lineclear.core.words.refusals import Refusal
from lineclear.mcp.calls import REQUESTER, Reply, Requester, VerbCall
from lineclear.serve.app import ServerApp
from lineclear.serve.sessions import BRIEFLY_IDLE_S, Sessions

OLD, NEW, META = "2025-06-18", "2026-07-28", "io.modelcontextprotocol"


class Desk:
    """Remembers who asked, and answers at once."""

    def __init__(self) -> None:
        self.signs: list[dict[str, str]] = []

    def perform(self, _verb: str, _given: dict[str, Any], call: VerbCall, /) -> Reply:
        self.signs.append(call.signs)
        return Reply({"schema": "lineclear/1", "data": {}, "warnings": []}, "done")

    def refuse(self, refusal: Refusal, /) -> Reply:
        raise refusal

    def follow(self, _call: VerbCall, /) -> Iterator[list[dict[str, Any]]]:
        yield []

    def command(self, _words: list[str], _call: VerbCall, _out: TextIO, _err: TextIO, /) -> int:
        return 0

    def close(self) -> None:
        pass


class Stage:
    def __init__(self) -> None:
        self.runner, self.now = Desk(), 1_000.0
        self.served = ServerApp(
            self.runner, lambda *_: (b"", 0), is_all=False, describe=dict, on_stop=lambda: None
        )  # fmt: skip
        self.served._sessions = Sessions(self.served._let_go, lambda: self.now)
        self._headers = [(b"content-type", b"application/json")]
        self._headers.append((b"accept", b"application/json, text/event-stream"))

    async def post(self, message: dict[str, Any], **headers: str) -> tuple[dict[str, str], str]:
        said: list[Any] = []
        is_over, bodies = anyio.Event(), [json.dumps({"jsonrpc": "2.0", **message}).encode()]

        async def receive() -> dict[str, Any]:
            if bodies:
                return {"type": "http.request", "body": bodies.pop(), "more_body": False}
            await is_over.wait()
            return {"type": "http.disconnect"}

        async def send(part: Any) -> None:
            said.append(part)
            if part["type"] == "http.response.body" and not part.get("more_body"):
                is_over.set()

        more = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        scope = {
            "type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "scheme": "http",
            "http_version": "1.1", "server": ("127.0.0.1", 1), "client": ("127.0.0.1", 2),
            "headers": self._headers + more,
            REQUESTER: Requester({}, cwd="", is_person=False, proof="local"),
        }  # fmt: skip
        await self.served(scope, receive, send)
        found = {name.decode(): value.decode() for name, value in said[0]["headers"]}
        return found, b"".join(part.get("body", b"") for part in said[1:]).decode()

    async def begin(self, name: str) -> str:
        info = {"name": name, "version": "1"}
        params = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": info}
        headers, _ = await self.post({"id": 1, "method": "initialize", "params": params})
        session = headers["mcp-session-id"]
        await self.post({"method": "notifications/initialized"}, **self._in(session))
        return session

    async def status(self, session: str) -> str:
        params = {"name": "status", "arguments": {}}
        answer = await self.post({"id": 2, "method": "tools/call", "params": params}, **self._in(session))
        return answer[1]

    @staticmethod
    def _in(session: str) -> dict[str, str]:
        return {"mcp_session_id": session, "mcp_protocol_version": OLD}

    @property
    def kept_by_the_sdk(self) -> int:
        return len(self.served._lasting._server_instances)


def play(scene: Callable[[Stage], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        stage = Stage()
        with anyio.fail_after(60):
            async with stage.served.open():
                await scene(stage)

    anyio.run(main)


def test_an_idle_session_is_let_go_by_the_sdk_too_and_its_client_still_known() -> None:
    async def scene(stage: Stage) -> None:
        session = await stage.begin("claude-code")
        assert "done" in await stage.status(session)
        assert stage.kept_by_the_sdk == 1
        stage.now += BRIEFLY_IDLE_S
        assert "done" in await stage.status(session), "it is answered without its session"
        while stage.kept_by_the_sdk:
            await anyio.sleep(0.001)
        assert stage.runner.signs == [{"CLAUDECODE": "1"}, {"CLAUDECODE": "1"}]

    play(scene)


def test_a_session_that_has_not_called_yet_is_kept() -> None:
    async def scene(stage: Stage) -> None:
        session = await stage.begin("claude-code")
        stage.now += 2 * BRIEFLY_IDLE_S
        assert "done" in await stage.status(session)
        assert stage.kept_by_the_sdk == 1
        assert stage.runner.signs == [{"CLAUDECODE": "1"}]

    play(scene)


def test_a_session_that_wants_to_hear_of_changes_is_kept() -> None:
    async def scene(stage: Stage) -> None:
        session = await stage.begin("claude-code")
        wanted = {"uri": "lineclear://status"}
        message = {"id": 3, "method": "resources/subscribe", "params": wanted}
        await stage.post(message, **stage._in(session))
        await stage.status(session)
        stage.now += 2 * BRIEFLY_IDLE_S
        await stage.status(session)
        assert stage.kept_by_the_sdk == 1

    play(scene)


@pytest.mark.parametrize(
    ("tool", "arguments", "is_brief"),
    [
        ("status", {}, True),
        ("claim", {"resources": ["a"]}, True),
        ("claim", {"resources": ["a"], "wait": "1s"}, False),
        ("check", {}, False),
        ("land", {}, False),
        ("nothing", {}, False),
    ],
)
def test_only_what_is_answered_in_a_moment_goes_without_a_stream(
    monkeypatch: pytest.MonkeyPatch, tool: str, arguments: dict[str, Any], is_brief: bool
) -> None:
    async def scene(stage: Stage) -> None:
        went: list[str] = []
        for name in ("_brief", "_lasting"):
            manager = getattr(stage.served, name)
            monkeypatch.setattr(manager, "handle_request", _noting(went, name, manager.handle_request))
        meta = {f"{META}/protocolVersion": NEW, f"{META}/clientCapabilities": {}}
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        named = {"mcp_protocol_version": NEW, "mcp_method": "tools/call", "mcp_name": tool}
        _, body = await stage.post({"id": 1, "method": "tools/call", "params": params}, **named)
        assert went == ["_brief" if is_brief else "_lasting"]
        assert ("error" if tool == "nothing" else "result") in body

    play(scene)


def _noting(went: list[str], name: str, handle: Any) -> Any:
    async def noting(*arguments: Any) -> None:
        went.append(name)
        await handle(*arguments)

    return noting
