"""Grok Build: Claude's protocol, its own tool names. Tested with 1.0.41.

What we say before and after a tool reaches the model, but not what we say at the start and at a prompt. A
sub-agent has its own session: only its parent's `SubagentStart` says whose sub-agent it is.
"""

from __future__ import annotations

from lineclear.clients import claude_protocol
from lineclear.clients.hook_json import text_of
from lineclear.core.agents.hooks import STOP, HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Grok compares whole names.
_CHANGING = "search_replace|write|run_terminal_command|monitor"
EVENTS = {
    **claude_protocol.PLAIN_EVENTS,
    "PreToolUse": _CHANGING,
    "PostToolUse": _CHANGING + "|read_file",
    "PostToolUseFailure": _CHANGING,
    "SubagentStart": "",
    "SubagentStop": "",
}
write_answer = claude_protocol.write_answer

_TELLING = frozenset(("PreToolUse", "PostToolUse", "PostToolUseFailure"))


def read_call(event: str, data: dict[str, Any]) -> HookCall | None:
    is_child = bool(text_of(data, "subagentType"))
    if event == "Stop" and data.get("reason") == "shutdown":
        return None  # a second Stop, after the session has ended
    if event == "UserPromptSubmit" and is_child:
        return None  # may come before we know whose sub-agent it is
    call = claude_protocol.read_call("grok", event, data, _TELLING)
    if call is None:
        return None
    if event == "SubagentStart":
        call.subagent = call.child_session = text_of(data, "subagentId")
    elif event == "SubagentStop":
        call.event = STOP  # the sub-agent's own session ends afterwards
    return call
