"""Cline: one program for each event; a denial ends its whole run. By its documentation."""

from __future__ import annotations

from lineclear.clients.hooking import claude_like
from lineclear.clients.hooking.reading import dict_of, text_of
from lineclear.core.hooks import HookAnswer, HookCall
from lineclear.core.quick_json import write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EVENTS = {"TaskStart": "", "UserPromptSubmit": "", "PreToolUse": "", "PostToolUse": "", "TaskComplete": ""}
FAIL_CLOSED: dict[str, str] = {}

_NAMES = {"TaskStart": "SessionStart", "TaskComplete": "SessionEnd"}
_TOOLS = {
    "write_to_file": "Write",
    "replace_in_file": "Edit",
    "read_file": "Read",
    "execute_command": "Bash",
    "editor": "Edit",
    "bash": "Bash",
}


def read_call(event: str, data: dict[str, Any]) -> HookCall | None:
    inner = dict_of(data, "preToolUse", "postToolUse")
    tool = text_of(inner, "toolName", "tool")
    roots = data.get("workspaceRoots")
    filled: dict[str, Any] = {
        "session_id": data.get("taskId"),
        "cwd": roots[0] if type(roots) is list and roots else text_of(data, "cwd"),
        "tool_name": _TOOLS.get(tool, tool),
        "tool_input": dict_of(inner, "parameters"),
        "prompt": dict_of(data, "userPromptSubmit").get("prompt"),
    }
    return claude_like.read_call("cline", _NAMES.get(event, event), filled)


def write_answer(event: str, answer: HookAnswer) -> tuple[bytes, int]:
    said: dict[str, Any] = {"cancel": False}
    if answer.is_denied and event == "PreToolUse":
        said = {"cancel": True, "errorMessage": answer.reason}
    elif answer.context:
        said["contextModification"] = answer.context
    return (write_json(said) + "\n").encode("utf-8", "replace"), 0
