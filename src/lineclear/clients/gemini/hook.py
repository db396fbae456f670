"""Gemini CLI: its own names of events and its own answers; what is said before a tool does not reach the
model unless it denies. Seen with 0.61.0.
"""

from __future__ import annotations

from lineclear.clients import hook_json
from lineclear.clients.claude_protocol import TOOLS
from lineclear.clients.hook_json import SHELL, WRITE, dict_of, json_line, text_of
from lineclear.core import hooks
from lineclear.core.hooks import HookAnswer, HookCall

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

_OTHERS = {
    "SessionStart": hooks.SESSION_START,
    "BeforeAgent": hooks.PROMPT,
    "AfterAgent": hooks.STOP,
    "SessionEnd": hooks.SESSION_END,
}
_TELLING = frozenset(("SessionStart", "BeforeAgent", "AfterTool"))


def read_call(event: str, data: dict[str, Any]) -> HookCall | None:
    given, tool = dict_of(data, "tool_input"), text_of(data, "tool_name")
    kind = TOOLS.get(tool, "")
    ours = _OTHERS.get(event, "")
    if event in ("BeforeTool", "AfterTool"):
        ours = hook_json.event_of_tool(kind, is_before=event == "BeforeTool")
    if not ours:
        return None
    return HookCall(
        "gemini",
        ours,
        session=text_of(data, "session_id"),
        cwd=text_of(data, "cwd"),
        tool=tool,
        paths=hook_json.paths_of(given),
        is_whole_write=kind == WRITE,
        command=text_of(given, "command") if kind == SHELL else "",
        prompt=text_of(data, "prompt"),
        old_text=hook_json.old_text_of(given),
        can_tell=event in _TELLING,
        is_again=data.get("stop_hook_active") is True,
    )


def write_answer(event: str, answer: HookAnswer) -> bytes:
    said: dict[str, Any] = {}
    if answer.note_to_person:
        said["systemMessage"] = answer.note_to_person
    if answer.is_denied and event in ("BeforeTool", "AfterAgent"):
        said |= {"decision": "deny", "reason": answer.reason}
    elif answer.context and event in _TELLING:
        said["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": answer.context}
    return json_line(said)
