"""A model server without a model: real clients ask it what to do, and it answers from a list of steps.

It speaks what Claude Code (Messages), Codex (Responses), Gemini CLI (streamGenerateContent) and many others
(Chat Completions) speak, on one port of the loopback. The first part of the path is the agent's name, so each
agent has its own steps:

    with running_model({"ada": [edit("a.py", "1", "2"), shell("git commit -am two"), say("Done.")]}) as model:
        ... start Claude Code with ANTHROPIC_BASE_URL=model.url("ada")

Where an agent stands is counted in the conversation that its client sends (answers of tools, and words of
the model), so a client may repeat a request, or go on in a later process, and the server keeps no position.
Paths are relative to the client's working directory. After the last step it says "Done.".
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FOREVER = 1_000_000
_PLAYS = "You play the part of "


@dataclass(frozen=True)
class Step:
    """One answer of the model: words that end its turn, or one use of a tool."""

    kind: str
    fields: Mapping[str, str]
    tokens_in: int = 1000
    tokens_out: int = 50


@dataclass(frozen=True)
class Fault:
    """Instead of an answer: an HTTP status, or (0) silence until the server ends."""

    status: int
    times: int = FOREVER


@dataclass
class Asked:
    """A request that came in, for tests to look at."""

    agent: str
    step: int
    body: dict[str, Any]
    language: Language

    def holds(self, text: str) -> bool:
        return text in json.dumps(self.body, ensure_ascii=False)


@dataclass(frozen=True)
class Told:
    """What came of one use of a tool, as the model got to see it."""

    text: str
    is_error: bool


def say(text: str, *, tokens_in: int = 1000, tokens_out: int = 50) -> Step:
    return Step("say", {"text": text}, tokens_in, tokens_out)


def read(path: str) -> Step:
    return Step("read", {"path": path})


def write(path: str, text: str) -> Step:
    return Step("write", {"path": path, "text": text})


def edit(path: str, old: str, new: str) -> Step:
    return Step("edit", {"path": path, "old": old, "new": new})


def delegate(name: str) -> Step:
    """To a sub-agent, which plays the steps of this name; where the client has such a tool."""
    return Step("delegate", {"name": name})


def delegate_both(one: str, two: str) -> Step:
    """To two sub-agents at once, in one answer, which counts as two steps. Claude Code only."""
    return Step("delegate", {"name": one, "also": two})


def shell(command: str) -> Step:
    return Step("shell", {"command": command})


def tool(server: str, name: str, /, **arguments: Any) -> Step:
    """A tool of an MCP server."""
    return Step("mcp", {"server": server, "tool": name, "arguments": json.dumps(arguments)})


# -- four languages ---------------------------------------------------------------------------

Event = tuple[str, dict[str, Any]]


class Messages:
    """Anthropic's; the tools are those of Claude Code."""

    def position(self, body: dict[str, Any]) -> int:
        blocks = [block for message in body["messages"] for block in _blocks(message)]
        mine = ("assistant", "text"), ("user", "tool_result")
        return sum((role, block.get("type")) in mine for role, block in blocks)

    def told(self, body: dict[str, Any]) -> list[Told]:
        blocks = [block for message in body["messages"] for _, block in _blocks(message)]
        answers = [block for block in blocks if block.get("type") == "tool_result"]
        return [Told(_text_of(block["content"]), bool(block.get("is_error"))) for block in answers]

    def is_aside(self, body: dict[str, Any]) -> bool:
        """Titles and the like: asked without tools."""
        return not body.get("tools")

    def tool(self, step: Step) -> tuple[str, dict[str, Any]]:
        given = step.fields
        match step.kind:
            case "read":
                return "Read", {"file_path": given["path"]}
            case "write":
                return "Write", {"file_path": given["path"], "content": given["text"]}
            case "edit":
                strings = {"old_string": given["old"], "new_string": given["new"]}
                return "Edit", {"file_path": given["path"]} | strings
            case "delegate":
                return "Agent", _part(given, "subagent_type") | {"run_in_background": False}
            case "mcp":
                return f"mcp__{given['server']}__{given['tool']}", json.loads(given["arguments"])
            case _:
                return "Bash", {"command": given["command"]}

    def player(self, body: dict[str, Any]) -> str:
        """Whose steps a sub-agent plays, as `delegate` has told it; "" for the agent itself."""
        first = json.dumps(body["messages"][0])
        return first.partition(_PLAYS)[2].partition(".")[0]

    def events(self, step: Step, id: str, model: str) -> Iterator[Event]:
        usage = {"input_tokens": step.tokens_in, "output_tokens": 1}
        message = {"id": f"msg_{id}", "type": "message", "role": "assistant", "model": model, "content": []}
        yield "message_start", {"message": message | {"stop_reason": None, "usage": usage}}
        also = step.fields.get("also", "")
        for index, one in enumerate([step, delegate(also)] if also else [step]):
            block: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": one.fields.get("text", "")}
            if one.kind != "say":
                name, given = self.tool(one)
                block = {"type": "tool_use", "id": f"toolu_{id}{index or ''}", "name": name, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(given)}
            yield "content_block_start", {"index": index, "content_block": block}
            yield "content_block_delta", {"index": index, "delta": delta}
            yield "content_block_stop", {"index": index}
        reason = "end_turn" if step.kind == "say" else "tool_use"
        spent = {"input_tokens": step.tokens_in, "output_tokens": step.tokens_out}
        yield "message_delta", {"delta": {"stop_reason": reason}, "usage": spent}
        yield "message_stop", {}

    def error(self, status: int) -> dict[str, Any]:
        kinds = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
        return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": "as scripted"}}


class Responses:
    """OpenAI's; the tools are those of Codex, which edits by patches and reads by commands."""

    ANSWERS = ("function_call_output", "custom_tool_call_output")

    def position(self, body: dict[str, Any]) -> int:
        items = body["input"]
        return sum(item.get("type") in self.ANSWERS or item.get("role") == "assistant" for item in items)

    def told(self, body: dict[str, Any]) -> list[Told]:
        """Codex has no mark for an error: the words say it."""
        answers = [item for item in body["input"] if item.get("type") in self.ANSWERS]
        return [Told(_text_of(item["output"]), is_error=False) for item in answers]

    def is_aside(self, body: dict[str, Any]) -> bool:
        return not body.get("tools")

    def item(self, step: Step, id: str) -> dict[str, Any]:
        given = step.fields
        call = {"id": f"item_{id}", "call_id": f"call_{id}", "status": "completed"}
        match step.kind:
            case "say":
                content = [{"type": "output_text", "text": given["text"], "annotations": []}]
                return {"type": "message", "id": f"item_{id}", "role": "assistant", "content": content}
            case "write":
                added = "".join(f"+{line}\n" for line in given["text"].splitlines())
                patch = f"*** Add File: {given['path']}\n{added}"
            case "edit":
                old = "".join(f"-{line}\n" for line in given["old"].splitlines())
                new = "".join(f"+{line}\n" for line in given["new"].splitlines())
                patch = f"*** Update File: {given['path']}\n@@\n{old}{new}"
            case "mcp":
                place = {"name": given["tool"], "namespace": f"mcp__{given['server']}"}
                return call | place | {"type": "function_call", "arguments": given["arguments"]}
            case _:
                command = given.get("command") or f"cat '{given['path']}'"
                # Codex goes on without the command's end after a while; this is the longest it waits.
                words = json.dumps({"cmd": command, "yield_time_ms": 30_000})
                return call | {"type": "function_call", "name": "exec_command", "arguments": words}
        whole = f"*** Begin Patch\n{patch}*** End Patch\n"
        return call | {"type": "custom_tool_call", "name": "apply_patch", "input": whole}

    def events(self, step: Step, id: str, model: str) -> Iterator[Event]:
        response = {"id": f"resp_{id}", "object": "response", "model": model, "output": []}
        item = self.item(step, id)
        yield "response.created", {"response": response | {"status": "in_progress"}}
        yield "response.output_item.added", {"output_index": 0, "item": item}
        yield "response.output_item.done", {"output_index": 0, "item": item}
        spent = {
            "input_tokens": step.tokens_in,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": step.tokens_out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": step.tokens_in + step.tokens_out,
        }
        yield "response.completed", {"response": response | {"status": "completed", "usage": spent}}

    def error(self, status: int) -> dict[str, Any]:
        return {"error": {"message": "as scripted", "type": "server_error", "code": str(status)}}


class Gemini:
    """Google's; the tools are those of Gemini CLI."""

    def position(self, body: dict[str, Any]) -> int:
        parts = [(content.get("role"), part) for content in body["contents"] for part in content["parts"]]
        return sum("functionResponse" in part or (role == "model" and "text" in part) for role, part in parts)

    def told(self, body: dict[str, Any]) -> list[Told]:
        parts = [part for content in body["contents"] for part in content["parts"]]
        answers = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
        return [Told(answer.get("error") or answer["output"], "error" in answer) for answer in answers]

    def is_aside(self, body: dict[str, Any]) -> bool:
        return not any(tool.get("functionDeclarations") for tool in body.get("tools") or [])

    def tool(self, step: Step) -> tuple[str, dict[str, Any]]:
        given = step.fields
        match step.kind:
            case "read":
                return "read_file", {"file_path": given["path"]}
            case "write":
                return "write_file", {"file_path": given["path"], "content": given["text"]}
            case "edit":
                strings = {"old_string": given["old"], "new_string": given["new"], "instruction": "as asked"}
                return "replace", {"file_path": given["path"]} | strings
            case "delegate":
                return "invoke_agent", {"agent_name": "generalist", "prompt": f"{_PLAYS}{given['name']}."}
            case "mcp":
                return f"mcp_{given['server']}_{given['tool']}", json.loads(given["arguments"])
            case _:
                return "run_shell_command", {"command": given["command"]}

    def player(self, body: dict[str, Any]) -> str:
        """As with Messages."""
        first = json.dumps(body["contents"][0])
        return first.partition(_PLAYS)[2].partition(".")[0]

    def events(self, step: Step, id: str, model: str) -> Iterator[Event]:
        if step.kind == "say":
            part: dict[str, Any] = {"text": step.fields["text"]}
        else:
            name, given = self.tool(step)
            part = {"functionCall": {"id": f"call_{id}", "name": name, "args": given}}
        spent = {
            "promptTokenCount": step.tokens_in,
            "candidatesTokenCount": step.tokens_out,
            "totalTokenCount": step.tokens_in + step.tokens_out,
        }
        content = {"role": "model", "parts": [part]}
        answer = {"content": content, "finishReason": "STOP", "index": 0}
        yield "", {"candidates": [answer], "usageMetadata": spent, "modelVersion": model}

    def error(self, status: int) -> dict[str, Any]:
        names = {401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED"}
        detail = {"code": status, "message": "as scripted", "status": names.get(status, "UNAVAILABLE")}
        return {"error": detail}


def _part(given: Mapping[str, str], kind: str) -> dict[str, Any]:
    """What a sub-agent is asked; `kind` is the argument that names which kind of sub-agent it is."""
    return {
        "description": "A part of it",
        "prompt": f"{_PLAYS}{given['name']}.",
        kind: "general-purpose",
    }


# The tools of those that speak Chat Completions: kind of step -> (name, its arguments out of the step's).
_Arguments = Callable[[Mapping[str, str]], dict[str, Any]]
_DROID: dict[str, tuple[str, _Arguments]] = {
    "read": ("Read", lambda given: {"file_path": given["path"]}),
    "write": ("Create", lambda given: {"file_path": given["path"], "content": given["text"]}),
    "edit": (
        "Edit",
        lambda given: {"file_path": given["path"], "old_str": given["old"], "new_str": given["new"]},
    ),
    "shell": (
        "Execute",
        lambda given: {
            "command": given["command"],
            "summary": "Do as it says",
            "riskLevel": "low",
            "riskLevelReason": "as scripted",
        },
    ),
    "mcp": ("{server}___{tool}", lambda given: json.loads(given["arguments"])),
}
_GROK: dict[str, tuple[str, _Arguments]] = {
    "read": ("read_file", lambda given: {"target_file": given["path"]}),
    "write": ("write", lambda given: {"file_path": given["path"], "content": given["text"]}),
    "edit": (
        "search_replace",
        lambda given: {"file_path": given["path"], "old_string": given["old"], "new_string": given["new"]},
    ),
    "shell": (
        "run_terminal_command",
        lambda given: {"command": given["command"], "description": "as it says"},
    ),
    "delegate": (
        "spawn_subagent",
        lambda given: {
            "prompt": f"{_PLAYS}{given['name']}.",
            "description": "A part of it",
            "background": False,
        },
    ),
    "mcp": (
        "use_tool",
        lambda given: {
            "tool_name": f"{given['server']}__{given['tool']}",
            "tool_input": json.loads(given["arguments"]),
        },
    ),
}
_KIMI: dict[str, tuple[str, _Arguments]] = {
    "read": ("Read", lambda given: {"path": given["path"]}),
    "write": ("Write", lambda given: {"path": given["path"], "content": given["text"]}),
    "edit": (
        "Edit",
        lambda given: {"path": given["path"], "old_string": given["old"], "new_string": given["new"]},
    ),
    "shell": ("Bash", lambda given: {"command": given["command"]}),
    "mcp": ("mcp__{server}__{tool}", lambda given: json.loads(given["arguments"])),
}
_CLINE: dict[str, tuple[str, _Arguments]] = {
    "read": ("read_files", lambda given: {"files": [{"path": given["path"]}]}),
    "write": ("editor", lambda given: {"path": given["path"], "new_text": given["text"]}),
    "edit": (
        "editor",
        lambda given: {"path": given["path"], "old_text": given["old"], "new_text": given["new"]},
    ),
    "shell": ("run_commands", lambda given: {"commands": [given["command"]]}),
    "delegate": (
        "spawn_agent",
        lambda given: {"systemPrompt": "You do as you are told.", "task": f"{_PLAYS}{given['name']}."},
    ),
}
_GOOSE: dict[str, tuple[str, _Arguments]] = {
    "read": ("shell", lambda given: {"command": f"cat '{given['path']}'"}),
    "write": ("write", lambda given: {"path": given["path"], "content": given["text"]}),
    "edit": (
        "edit",
        lambda given: {"path": given["path"], "before": given["old"], "after": given["new"]},
    ),
    "shell": ("shell", lambda given: {"command": given["command"]}),
    "delegate": ("delegate", lambda given: {"instructions": f"{_PLAYS}{given['name']}."}),
    "mcp": ("{server}_{server}__{tool}", lambda given: json.loads(given["arguments"])),
}
_QWEN: dict[str, tuple[str, _Arguments]] = {
    "read": ("read_file", lambda given: {"file_path": given["path"]}),
    "write": ("write_file", lambda given: {"file_path": given["path"], "content": given["text"]}),
    "edit": (
        "edit",
        lambda given: {"file_path": given["path"], "old_string": given["old"], "new_string": given["new"]},
    ),
    "shell": ("run_shell_command", lambda given: {"command": given["command"], "is_background": False}),
    "delegate": ("agent", lambda given: _part(given, "subagent_type")),
    "mcp": ("mcp__{server}__{tool}", lambda given: json.loads(given["arguments"])),
}
_OPENCODE: dict[str, tuple[str, _Arguments]] = {
    "read": ("read", lambda given: {"filePath": given["path"]}),
    "write": ("write", lambda given: {"filePath": given["path"], "content": given["text"]}),
    "edit": (
        "edit",
        lambda given: {"filePath": given["path"], "oldString": given["old"], "newString": given["new"]},
    ),
    "shell": ("bash", lambda given: {"command": given["command"], "description": "as it says"}),
    "delegate": ("task", lambda given: _part(given, "subagent_type") | {"subagent_type": "general"}),
    "mcp": ("{server}_{tool}", lambda given: json.loads(given["arguments"])),
}
_COPILOT: dict[str, tuple[str, _Arguments]] = {
    "read": ("view", lambda given: {"path": given["path"]}),
    "write": ("create", lambda given: {"path": given["path"], "file_text": given["text"]}),
    "edit": (
        "edit",
        lambda given: {"path": given["path"], "old_str": given["old"], "new_str": given["new"]},
    ),
    "shell": ("bash", lambda given: {"command": given["command"], "description": "as it says"}),
    "delegate": ("task", lambda given: _part(given, "agent_type") | {"name": given["name"], "mode": "sync"}),
    "mcp": ("{server}-{tool}", lambda given: json.loads(given["arguments"])),
}
# By the tool that runs commands, which tells them apart; Copilot's is named as opencode's.
_TOOLS_OF = {
    "read_bash": _COPILOT,
    "run_shell_command": _QWEN,
    "bash": _OPENCODE,
    "Execute": _DROID,
    "run_terminal_command": _GROK,
    "Bash": _KIMI,
    "run_commands": _CLINE,
    "shell": _GOOSE,
}


class Chat:
    """OpenAI's older one; whose tools they are is seen by their names."""

    def __init__(self, body: dict[str, Any]) -> None:
        offered = [tool.get("function", {}).get("name", "") for tool in body.get("tools") or []]
        self._tools = next((tools for shell, tools in _TOOLS_OF.items() if shell in offered), {})
        self.is_streamed = bool(body.get("stream"))

    def position(self, body: dict[str, Any]) -> int:
        return sum(
            message["role"] == "tool" or (message["role"] == "assistant" and not message.get("tool_calls"))
            for message in body["messages"]
        )

    def told(self, body: dict[str, Any]) -> list[Told]:
        answers = [message for message in body["messages"] if message["role"] == "tool"]
        return [Told(_text_of(answer["content"]), is_error=False) for answer in answers]

    def is_aside(self, body: dict[str, Any]) -> bool:
        """Titles and the like are asked with other tools, or with none."""
        return not self._tools

    def player(self, body: dict[str, Any]) -> str:
        """As with Messages; the prompt is among what its user says."""
        said = [_text_of(message["content"]) for message in body["messages"] if message["role"] == "user"]
        return next((text.partition(_PLAYS)[2].partition(".")[0] for text in said if _PLAYS in text), "")

    def events(self, step: Step, id: str, model: str) -> Iterator[Event]:
        said: dict[str, Any] = {"role": "assistant", "content": step.fields.get("text", "")}
        if step.kind != "say":
            name, arguments = self._tools[step.kind]
            called = {"name": name.format(**step.fields), "arguments": json.dumps(arguments(step.fields))}
            calls = [{"index": 0, "id": f"call_{id}", "type": "function", "function": called}]
            said = {"role": "assistant", "content": None, "tool_calls": calls}
        reason = "stop" if step.kind == "say" else "tool_calls"
        spent = {
            "prompt_tokens": step.tokens_in,
            "completion_tokens": step.tokens_out,
            "total_tokens": step.tokens_in + step.tokens_out,
        }
        base = {"id": f"chat_{id}", "created": 1, "model": model}
        if not self.is_streamed:
            choice = {"index": 0, "message": said, "finish_reason": reason}
            yield "", base | {"object": "chat.completion", "choices": [choice], "usage": spent}
            return
        chunk = base | {"object": "chat.completion.chunk"}
        yield "", chunk | {"choices": [{"index": 0, "delta": said, "finish_reason": None}]}
        yield "", chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": spent}

    def error(self, status: int) -> dict[str, Any]:
        """opencode tries again for a minute and a half after what it takes for an error of the server."""
        kind, code = (
            ("invalid_request_error", "invalid_api_key") if status == 401 else ("server_error", status)
        )
        return {"error": {"message": "as scripted", "type": kind, "code": str(code)}}


Language = Messages | Responses | Gemini | Chat


def _blocks(message: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [(message["role"], block) for block in blocks]


def _text_of(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def language_of(path: str, body: dict[str, Any]) -> Language | None:
    if path.endswith("/messages"):
        return Messages()
    if path.endswith("/responses"):
        return Responses()
    if path.endswith((":streamGenerateContent", ":generateContent")):
        return Gemini()
    if path.endswith("/chat/completions"):
        return Chat(body)
    return None


# -- the server --------------------------------------------------------------------------------


@dataclass
class Model:
    """What is asked and answered. `faults` of an agent: at which step, which fault. `on_asked` is called
    while the client waits for the answer."""

    steps: Mapping[str, Sequence[Step]]
    faults: Mapping[str, Mapping[int, Fault]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    port: int = 0
    on_asked: Callable[[Asked], None] = lambda _: None

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._failed: dict[tuple[str, int], int] = {}
        self.closing = threading.Event()

    def url(self, agent: str) -> str:
        return f"http://127.0.0.1:{self.port}/{agent}"

    def heard(self, agent: str, text: str) -> bool:
        """Did the model of this agent get to see the text: in the prompt, or from a tool?"""
        with self._lock:
            return any(asked.agent == agent and asked.holds(text) for asked in self.asked)

    def told(self, agent: str) -> list[Told]:
        """What the tools answered this agent's model, in order, as its newest request has it."""
        with self._lock:
            asked = [asked for asked in self.asked if asked.agent == agent][-1]
        return asked.language.told(asked.body)

    def fault_at(self, agent: str, position: int) -> Fault | None:
        fault = self.faults.get(agent, {}).get(position)
        with self._lock:
            count = self._failed[agent, position] = self._failed.get((agent, position), 0) + 1
        return fault if fault and count <= fault.times else None

    def step_at(self, agent: str, position: int) -> Step:
        steps = self.steps.get(agent, ())
        return steps[position] if position < len(steps) else say("Done.")

    def note(self, asked: Asked) -> None:
        with self._lock:
            self.asked.append(asked)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, format: str, *args: object) -> None:
        """Silent: the tests look at `asked`."""

    def do_GET(self) -> None:
        self._send(404, {"error": {"message": "not served"}})

    def do_HEAD(self) -> None:
        self._send(200, {})

    def do_POST(self) -> None:
        body = json.loads(self._body() or b"{}")
        path = self.path.partition("?")[0]
        language = language_of(path, body)
        if language is None:
            self._send(200 if path.endswith(("/count_tokens", ":countTokens")) else 404, {"input_tokens": 1})
        elif language.is_aside(body):
            self._answer(language, say("{}"), path, "aside")
        else:
            self._play(language, path, body)

    def _play(self, language: Language, path: str, body: dict[str, Any]) -> None:
        agent, position = path.split("/")[1], language.position(body)
        if isinstance(language, Messages | Gemini | Chat):
            agent = language.player(body) or agent
        asked = Asked(agent, position, body, language)
        self.model.note(asked)
        self.model.on_asked(asked)
        fault = self.model.fault_at(agent, position)
        if fault is None:
            self._answer(language, self.model.step_at(agent, position), path, f"{agent}{position}")
        elif fault.status:
            self._send(fault.status, language.error(fault.status))
        else:
            self.model.closing.wait()
            self.close_connection = True

    def _answer(self, language: Language, step: Step, path: str, id: str) -> None:
        told = language.events(step, id, "scripted")
        events = [({"type": name} if name else {}) | data for name, data in told]
        if path.endswith(":generateContent") or (isinstance(language, Chat) and not language.is_streamed):
            self._send(200, events[0])
            return
        lines = [
            (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n"
            for event in events
        ]
        if isinstance(language, Chat):
            lines.append("data: [DONE]\n\n")
        self._send_bytes(200, "text/event-stream", "".join(lines).encode())

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _send(self, status: int, data: dict[str, Any]) -> None:
        self._send_bytes(status, "application/json", json.dumps(data).encode())

    def _send_bytes(self, status: int, kind: str, data: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except ConnectionError:
            self.close_connection = True  # the client was killed


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed in the middle of a request is part of the tests."""


@contextmanager
def running_model(
    steps: Mapping[str, Sequence[Step]], faults: Mapping[str, Mapping[int, Fault]] | None = None
) -> Iterator[Model]:
    """Serve on a free port of the loopback until the end of the block."""
    model = Model(steps, faults or {})
    handler = type("Handler", (_Handler,), {"model": model})
    with _Server(("127.0.0.1", 0), handler) as server:
        model.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield model
        finally:
            model.closing.set()
            server.shutdown()
            thread.join()
