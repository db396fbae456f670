"""Kimi Code: Claude's protocol and names of events. Facts of version 2.1.0; not tried here."""

from __future__ import annotations

from lineclear.clients.hooking import claude_like
from lineclear.core.hooks import HookAnswer, HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EVENTS = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PreToolUse": "",
    "PostToolUse": "",
    "Stop": "",
    "SessionEnd": "",
}
FAIL_CLOSED: dict[str, str] = {}


def read_call(event: str, data: dict[str, Any]) -> HookCall | None:
    return claude_like.read_call("kimi", event, data)


def write_answer(event: str, answer: HookAnswer) -> tuple[bytes, int]:
    return claude_like.write_answer(event, answer)
