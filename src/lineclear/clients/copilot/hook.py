"""Copilot CLI: names in camel case, answers at the top level of the JSON. Seen with 1.0.102."""

from __future__ import annotations

from lineclear.clients import hook_json
from lineclear.clients.claude_protocol import TOOLS
from lineclear.clients.hook_json import PATCH, SHELL, WRITE, json_line, text_of
from lineclear.core import hooks
from lineclear.core.hooks import HookAnswer, HookCall
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

_OTHERS = {
    "sessionStart": hooks.SESSION_START,
    "userPromptSubmitted": hooks.PROMPT,
    "agentStop": hooks.STOP,
    "sessionEnd": hooks.SESSION_END,
}
_TELLING = frozenset(("sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse"))


def read_call(event: str, data: dict[str, Any]) -> HookCall | None:
    given, tool = _arguments(data), text_of(data, "toolName")
    kind = TOOLS.get(tool, "")
    ours = _OTHERS.get(event, "")
    if event in ("preToolUse", "postToolUse"):
        ours = hook_json.event_of_tool(kind, is_before=event == "preToolUse")
    if not ours:
        return None
    patch = text_of(given, "input", "patch", "command") if kind == PATCH else ""
    return HookCall(
        "copilot",
        ours,
        session=text_of(data, "sessionId"),
        cwd=text_of(data, "cwd"),
        tool=tool,
        paths=hook_json.patch_paths(patch) if patch else hook_json.paths_of(given),
        is_whole_write=hook_json.patch_is_whole(patch) if patch else kind == WRITE,
        command=text_of(given, "command") if kind == SHELL else "",
        prompt=text_of(data, "prompt"),
        old_text=hook_json.patch_old_text(patch) if patch else hook_json.old_text_of(given),
        can_tell=event in _TELLING,
    )


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
