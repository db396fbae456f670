"""Kimi Code: Claude's names of events and tools, its own answers. Tested with 2.1.0.

Our words reach the model at a prompt, when we deny a call, and when it wants to stop. Kimi does not wait for
the hook after a tool and drops its answer. So we deny the next call once, to pass on what the model has to
know. No variable tells its commands which agent runs them, and nothing marks sub-agents.
"""

from __future__ import annotations

from lineclear.clients import claude_protocol
from lineclear.clients.hook_json import dict_of, json_line
from lineclear.core.agents.hooks import HookAnswer, HookCall, held_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Kimi searches for this regular expression anywhere in the tool's name.
_CHANGING = "^(Edit|Write|Bash)$"
EVENTS = {
    **claude_protocol.PLAIN_EVENTS,
    "PreToolUse": "^(?!Read$)",
    "PostToolUse": "^(Edit|Write|Bash|Read)$",
    "PostToolUseFailure": _CHANGING,
}

_TELLING = frozenset(("UserPromptSubmit", "PreToolUse"))


def read_call(event: str, data: dict[str, Any]) -> HookCall | None:
    call = claude_protocol.read_call("kimi", event, data, _TELLING)
    if call is None:
        return None
    # Kimi may report the end of a command after the next call.
    call.is_nameless = call.is_end_unsure = True
    if call.is_whole_write and dict_of(data, "tool_input").get("mode") == "append":
        call.is_whole_write = False
    return call


def write_answer(event: str, answer: HookAnswer) -> bytes:
    said: dict[str, Any] = {}
    reason = ""
    if answer.is_denied and event in ("PreToolUse", "Stop"):
        reason = f"{answer.reason}\n\n{answer.context}".strip()
    elif answer.context and event == "PreToolUse":
        reason = held_back(answer.context)
    elif answer.context and event == "UserPromptSubmit":
        said = {"message": answer.context}
    if reason:
        inner = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        said = {"hookSpecificOutput": {"hookEventName": event, **inner}}
    return json_line(said)
