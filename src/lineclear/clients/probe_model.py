"""A fake model server for `setup --check`: it asks for one harmless command, then says "Done.".

It listens on a free loopback port, for one client, until the end of the block. It speaks the four protocols
that coding agents use, chosen by the request's path. Nothing leaves the machine.
"""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Event = tuple[str, dict[str, Any]]

COMMAND = "true"
# Keeps the client busy until it offers the tools of our MCP server.
PAUSE = "sleep 1"
# The clients' names for tools that run a command.
SHELLS = ("Bash", "bash", "exec_command", "shell_command", "run_shell_command", "shell", "Execute", "execute",
          "run_terminal_command", "run_commands")  # fmt: skip
_SPENT = {"input_tokens": 1, "output_tokens": 1}


def _command_for(name: str, command: str = COMMAND, *, is_text: bool = False) -> dict[str, Any]:
    """`is_text`: goose and Codex both have a tool `shell`; goose takes a text, Codex a list of words."""
    if name == "exec_command":
        return {"cmd": command}
    if name == "run_commands":
        return {"commands": [command]}
    if name == "shell" and not is_text:
        return {"command": ["sh", "-c", command]}
    said = {"command": command, "description": "nothing"}
    if name == "Execute":
        # droid requires these fields.
        said |= {"summary": "Do nothing at all", "riskLevel": "low", "riskLevelReason": "It does nothing."}
    return said


def _choose(names: list[str]) -> str:
    return next((name for name in SHELLS if name in names), "")


# -- four protocols -----------------------------------------------------------------------------


def _messages(body: dict[str, Any]) -> list[Event]:
    tool = _choose([offered.get("name", "") for offered in body.get("tools") or []])
    asked = '"tool_result"' in json.dumps(body.get("messages"))
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "probe", "content": []}
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta: dict[str, Any] = {"type": "text_delta", "text": "Done."}
    is_call = bool(tool) and not asked
    if is_call:
        block = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(_command_for(tool))}
    reason = "tool_use" if is_call else "end_turn"
    return [
        ("message_start", {"message": message | {"stop_reason": None, "usage": _SPENT}}),
        ("content_block_start", {"index": 0, "content_block": block}),
        ("content_block_delta", {"index": 0, "delta": delta}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": reason}, "usage": _SPENT}),
        ("message_stop", {}),
    ]


def _responses(body: dict[str, Any]) -> list[Event]:
    tool = _choose([offered.get("name", "") for offered in body.get("tools") or []])
    asked = "call_output" in json.dumps(body.get("input"))
    item: dict[str, Any] = {"type": "message", "id": "i_1", "role": "assistant"}
    item["content"] = [{"type": "output_text", "text": "Done.", "annotations": []}]
    if tool and not asked:
        words = json.dumps(_command_for(tool))
        item = {"type": "function_call", "id": "i_1", "call_id": "call_1", "name": tool, "arguments": words}
    response = {"id": "resp_1", "object": "response", "model": "probe", "output": []}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    spent = _SPENT | details | {"total_tokens": 2}
    return [
        ("response.created", {"response": response | {"status": "in_progress"}}),
        ("response.output_item.added", {"output_index": 0, "item": item}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": response | {"status": "completed", "usage": spent}}),
    ]


def _gemini(body: dict[str, Any]) -> list[Event]:
    tools = body.get("tools") or []
    names = [one.get("name", "") for tool in tools for one in tool.get("functionDeclarations") or []]
    tool = _choose(names)
    part: dict[str, Any] = {"text": "Done."}
    if tool and "functionResponse" not in json.dumps(body.get("contents")):
        part = {"functionCall": {"id": "call_1", "name": tool, "args": _command_for(tool)}}
    spent = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    answer = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return [("", {"candidates": [answer], "usageMetadata": spent, "modelVersion": "probe"})]


def _chat(body: dict[str, Any], calls_more: int) -> list[Event]:
    offered = [tool.get("function", {}).get("name", "") for tool in body.get("tools") or []]
    tool = _choose(offered)
    asked = sum(message.get("role") == "tool" for message in body.get("messages", []))
    said: dict[str, Any] = {"role": "assistant", "content": "Done."}
    is_call = bool(tool) and asked <= calls_more
    if is_call:
        words = _command_for(tool, PAUSE if asked else COMMAND, is_text=True)
        called = {"name": tool, "arguments": json.dumps(words)}
        calls = [{"index": 0, "id": f"call_{asked + 1}", "type": "function", "function": called}]
        said = {"role": "assistant", "content": None, "tool_calls": calls}
    reason = "tool_calls" if is_call else "stop"
    spent = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    base = {"id": "chat_1", "created": 1, "model": "probe"}
    if not body.get("stream"):
        choice = {"index": 0, "message": said, "finish_reason": reason}
        return [("", base | {"object": "chat.completion", "choices": [choice], "usage": spent})]
    chunk = base | {"object": "chat.completion.chunk"}
    return [
        ("", chunk | {"choices": [{"index": 0, "delta": said, "finish_reason": None}]}),
        ("", chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": spent}),
    ]


def answer(path: str, body: dict[str, Any], calls_more: int = 0) -> list[Event] | None:
    """The events of the answer; None for a path of no protocol. `calls_more`: how many tool calls to make
    after the first one (chat completions only)."""
    path = path.partition("?")[0]
    if path.endswith("/messages"):
        return _messages(body)
    if path.endswith("/responses"):
        return _responses(body)
    if path.endswith("/chat/completions"):
        return _chat(body, calls_more)
    if path.endswith((":streamGenerateContent", ":generateContent")):
        return _gemini(body)
    return None


# -- the server ---------------------------------------------------------------------------------


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""

    def do_GET(self) -> None:
        models = {"object": "list", "data": [{"id": "probe", "object": "model"}]}
        self._send(200, "application/json", json.dumps(models).encode())

    def do_HEAD(self) -> None:
        self._send(200, "application/json", b"")

    def do_POST(self) -> None:
        try:
            body = json.loads(self._body() or b"{}")
        except ValueError:
            body = {}
        events = None
        if isinstance(body, dict) and isinstance(self.server, _Server):
            events = answer(self.path, body, self.server.model.calls_more(body))
        if events is not None and isinstance(self.server, _Server):
            self.server.model.requests.append(body)
        if events is None:
            self._send(404, "application/json", b'{"input_tokens": 1}')
        elif ":generateContent" in self.path or (self.path.endswith("completions") and len(events) == 1):
            self._send(200, "application/json", json.dumps(events[0][1]).encode())
        else:
            self._send(200, "text/event-stream", self._stream(events))

    def _stream(self, events: list[Event]) -> bytes:
        lines = []
        for name, data in events:
            said = ({"type": name} if name else {}) | data
            lines.append((f"event: {name}\n" if name else "") + f"data: {json.dumps(said)}\n\n")
        if self.path.partition("?")[0].endswith("completions"):
            lines.append("data: [DONE]\n\n")
        return "".join(lines).encode()

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _send(self, status: int, kind: str, data: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except ConnectionError:
            self.close_connection = True  # we have ended the client


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = ProbeModel(f"http://127.0.0.1:{self.server_address[1]}")

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignored: we may end a client in the middle of a request."""


class ProbeModel:
    """The server's address and the requests it got. `awaited`: the MCP server whose tools we wait for, during
    at most `patience` more tool calls."""

    def __init__(self, url: str) -> None:
        self.url, self.awaited, self.patience = url, "", 0
        self.requests: list[dict[str, Any]] = []

    def calls_more(self, body: dict[str, Any]) -> int:
        if not self.awaited:
            return 0
        self.requests.append(body)
        is_there = self.shown(self.awaited) or self.may_search(self.awaited)
        self.requests.pop()
        return 0 if is_there else self.patience

    def shown(self, server: str) -> set[str]:
        """The tools of an MCP server that the requests mention, without the server's name.

        Clients put the server's name before a tool's, each with its own separator. Clients that hide tools
        until they are searched for still name them.
        """
        name = re.compile(rf"(?:mcp_+)?(?:{re.escape(server)}(?:_{{1,3}}|-))+([^\W_]\w*)")
        return {found for body in self.requests for found in name.findall(json.dumps(body))}

    def may_search(self, server: str) -> bool:
        """Can the model search for this server's tools? Codex says so in a tool, Grok in a message."""
        words = [json.dumps(tool) for body in self.requests for tool in body.get("tools") or []]
        if any('"tool_search"' in word and f"\\n- {server}: " in word for word in words):
            return True
        messages = [json.dumps(body.get("messages")) for body in self.requests]
        return any(re.search(rf"\\n- {re.escape(server)} \(\d+ tools?\)", word) for word in messages)


@contextmanager
def serving() -> Iterator[ProbeModel]:
    """Run the server during the block."""
    with _Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server.model
        finally:
            server.shutdown()
            thread.join()
