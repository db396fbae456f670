"""Cline: one program for each event, with the tool's arguments as JSON. Tested with the CLI 3.0.65.

`cancel` would end the whole run. So we deny a call by removing its arguments: the tool refuses empty ones,
the run goes on, and the reason reaches the model as context. Cline passes on what we say before and after a
tool, but not at the start of a task.
"""

from __future__ import annotations

from lineclear.clients import claude_protocol
from lineclear.clients.hook_json import dict_of, json_line, text_of
from lineclear.core.agents.hooks import HookAnswer, HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EVENTS = {
    "TaskStart": "",
    "TaskResume": "",
    "PreToolUse": "",
    "PostToolUse": "",
    "TaskComplete": "",
    "TaskCancel": "",
    "TaskError": "",
    "SessionShutdown": "",
}

_NAMES = {
    "TaskStart": "SessionStart", "TaskResume": "SessionStart", "TaskComplete": "SessionEnd",
    "TaskCancel": "SessionEnd", "TaskError": "SessionEnd", "SessionShutdown": "SessionEnd",
}  # fmt: skip
_TOOLS = {
    "editor": "Edit", "apply_patch": "apply_patch", "read_files": "Read", "run_commands": "Bash",
    # The extension's tools, by its documentation.
    "write_to_file": "Write", "replace_in_file": "Edit", "read_file": "Read", "execute_command": "Bash",
}  # fmt: skip
_TELLING = frozenset(("PreToolUse", "PostToolUse"))


def read_call(event: str, data: dict[str, Any]) -> HookCall | None:
    inner = dict_of(data, "tool_call", "tool_result")
    told = dict_of(data, "preToolUse", "postToolUse")
    tool = text_of(inner, "name") or text_of(told, "toolName", "tool")
    roots = data.get("workspaceRoots")
    given = dict(dict_of(inner, "input") or dict_of(told, "parameters"))
    commands = given.get("commands")
    if type(commands) is list:
        given["command"] = "\n".join(one for one in commands if type(one) is str)
    child = text_of(data, "agent_id") if text_of(data, "parent_agent_id") else ""
    filled: dict[str, Any] = {
        # A sub-agent has its own task in the session of its parent.
        "session_id": text_of(dict_of(data, "sessionContext"), "rootSessionId") or data.get("taskId"),
        "agent_id": child,
        "cwd": roots[0] if type(roots) is list and roots else text_of(data, "cwd"),
        "tool_name": _TOOLS.get(tool, tool),
        "tool_input": given,
        "tool_use_id": text_of(inner, "id"),
    }
    name = _NAMES.get(event, event)
    if child and name in ("SessionStart", "SessionEnd"):
        name = "SubagentStart" if name == "SessionStart" else "SubagentStop"
    call = claude_protocol.read_call("cline", name, filled, _TELLING)
    if call is not None and tool == "editor":
        call.old_text = text_of(given, "old_text")[:2_000]
        call.replaced = (text_of(given, "old_text"),)
        # Without a place to insert it, the text is the whole file.
        call.is_whole_write = type(given.get("old_text")) is not str and given.get("insert_line") is None
    return call


def write_answer(event: str, answer: HookAnswer) -> bytes:
    said: dict[str, Any] = {"cancel": False}
    words = [answer.context]
    if answer.is_denied and event == "PreToolUse":
        words.insert(0, answer.reason)
        said["overrideInput"] = {}
    if any(words) and event in _TELLING:
        said["contextModification"] = "\n\n".join(word for word in words if word)
    return json_line(said)
