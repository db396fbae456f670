"""Factory droid: Claude's protocol, its own tool names. Tested with 0.225.2.

What we say before a tool does not reach the model. A failed command has no end: `PostToolUse` comes only
after a success. Calls have no id; we identify a command by its text.
"""

from __future__ import annotations

from lineclear.clients import claude_protocol
from lineclear.clients.hook_json import id_of_command
from lineclear.core.agents.hooks import HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EVENTS = {
    **claude_protocol.PLAIN_EVENTS,
    "PreToolUse": "Edit|ApplyPatch|Create|Execute",
    "PostToolUse": "Edit|ApplyPatch|Create|Execute|Read",
}
write_answer = claude_protocol.write_answer

_TELLING = frozenset(("SessionStart", "PostToolUse"))


def read_call(event: str, data: dict[str, Any]) -> HookCall | None:
    call = claude_protocol.read_call("droid", event, data, _TELLING)
    if call is None:
        return None
    call.is_end_unsure = True
    if call.command:
        call.call_id = id_of_command(call.command)
    return call
