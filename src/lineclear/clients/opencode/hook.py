"""opencode: our plugin in it speaks Claude's protocol to us. Seen with 1.18.33."""

from __future__ import annotations

from lineclear.clients import claude_protocol
from lineclear.core.hooks import HookAnswer, HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EVENTS = {
    "SessionStart": "",
    "PreToolUse": "edit|write|bash",
    "PostToolUse": "edit|write|bash|read",
    "Stop": "",
}


def read_call(event: str, data: dict[str, Any]) -> HookCall | None:
    return claude_protocol.read_call("opencode", event, data)


def write_answer(event: str, answer: HookAnswer) -> tuple[bytes, int]:
    return claude_protocol.write_answer(event, answer)
