"""Gemini CLI: its own event names and answers. What we say before a tool reaches the model only with a
denial. Tested with 0.61.0.
"""

from __future__ import annotations

from lineclear.clients import claude_protocol
from lineclear.clients.hook_json import json_line
from lineclear.core.agents.hooks import HookAnswer, HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EVENTS = {
    "SessionStart": "",
    "BeforeAgent": "",
    "BeforeTool": "replace|write_file|run_shell_command",
    "AfterTool": "replace|write_file|run_shell_command|read_file|read_many_files",
    "AfterAgent": "",
    "SessionEnd": "",
}

# Its events -> Claude Code's.
_NAMES = {
    "BeforeAgent": "UserPromptSubmit",
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "AfterAgent": "Stop",
}
_TELLING = frozenset(("SessionStart", "BeforeAgent", "AfterTool"))
_TELLING_NAMES = frozenset(_NAMES.get(event, event) for event in _TELLING)


def read_call(event: str, data: dict[str, Any]) -> HookCall | None:
    return claude_protocol.read_call("gemini", _NAMES.get(event, event), data, _TELLING_NAMES)


def write_answer(event: str, answer: HookAnswer) -> bytes:
    said: dict[str, Any] = {}
    if answer.note_to_person:
        said["systemMessage"] = answer.note_to_person
    if answer.is_denied and event in ("BeforeTool", "AfterAgent"):
        said |= {"decision": "deny", "reason": answer.reason}
    elif answer.context and event in _TELLING:
        said["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": answer.context}
    return json_line(said)
