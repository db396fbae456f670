"""Copilot CLI: names in camel case, answers at the top level of the JSON. Tested with 1.0.102."""

from __future__ import annotations

from lineclear.clients import claude_protocol
from lineclear.clients.hook_json import json_line, text_of
from lineclear.core.agents.hooks import HookAnswer, HookCall
from lineclear.core.quick_json import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EVENTS = {
    "sessionStart": "",
    "userPromptSubmitted": "",
    "preToolUse": "",
    "postToolUse": "",
    "agentStop": "",
    "sessionEnd": "",
}

# Its events -> Claude Code's.
_NAMES = {
    "sessionStart": "SessionStart",
    "userPromptSubmitted": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
    "agentStop": "Stop",
    "sessionEnd": "SessionEnd",
}
_TELLING = frozenset(("sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse"))


def read_call(event: str, data: dict[str, Any]) -> HookCall | None:
    name = _NAMES.get(event, "")
    child, parent = text_of(data, "agentId"), text_of(data, "parentAgentId")
    if child and parent:
        # A sub-agent's calls come under its own id; it has no other start and no other end.
        name = {"UserPromptSubmit": "SubagentStart", "Stop": "SubagentStop"}.get(name, name)
    filled = {
        "session_id": parent if child and parent else text_of(data, "sessionId"),
        "agent_id": child if parent else "",
        "cwd": text_of(data, "cwd"),
        "tool_name": text_of(data, "toolName"),
        "tool_input": _arguments(data),
        "prompt": text_of(data, "prompt"),
    }
    return claude_protocol.read_call("copilot", name, filled)


def _arguments(data: dict[str, Any]) -> dict[str, Any]:
    """Some events carry the arguments as an object, others as its JSON text, a patch as bare text."""
    given = data.get("toolArgs")
    if type(given) is str:
        if given.startswith("*** Begin Patch"):
            return {"patch": given}
        try:
            given = read_json(given)
        except ValueError:
            return {}
    return given if type(given) is dict else {}


def write_answer(event: str, answer: HookAnswer) -> bytes:
    said: dict[str, Any] = {}
    if answer.is_denied and event == "preToolUse":
        said = {"permissionDecision": "deny", "permissionDecisionReason": answer.reason}
    elif answer.is_denied and event == "agentStop":
        said = {"decision": "block", "reason": answer.reason}
    if answer.context and event in _TELLING:
        said["additionalContext"] = answer.context
    return json_line(said)
