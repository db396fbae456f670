"""Cursor: Claude's fields, its own event names. Written by its documentation, not tested."""

from __future__ import annotations

from lineclear.clients import claude_protocol
from lineclear.clients.hook_json import json_line
from lineclear.core.agents.hooks import HookAnswer, HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EVENTS = {
    "sessionStart": "",
    "preToolUse": "",
    "postToolUse": "",
    "postToolUseFailure": "",
    "subagentStart": "",
    "subagentStop": "",
    "stop": "",
    "sessionEnd": "",
}

_TELLING = ("sessionStart", "postToolUse")
_TELLING_NAMES = frozenset(("SessionStart", "PostToolUse"))


def read_call(event: str, data: dict[str, Any]) -> HookCall | None:
    roots = data.get("workspace_roots")
    filled = dict(data)
    filled.setdefault("session_id", data.get("conversation_id"))
    if not data.get("cwd") and type(roots) is list and roots:
        filled["cwd"] = roots[0]
    return claude_protocol.read_call("cursor", _name_of(event), filled, _TELLING_NAMES)


def _name_of(event: str) -> str:
    return event[:1].upper() + event[1:]


def write_answer(event: str, answer: HookAnswer) -> bytes:
    """A denial is `permission`, and `decision` for older releases."""
    said: dict[str, Any] = {}
    if answer.is_denied and event == "preToolUse":
        said = {
            "permission": "deny",
            "agent_message": answer.reason,
            "decision": "deny",
            "reason": answer.reason,
        }
    elif answer.is_denied and event in ("stop", "subagentStop"):
        said = {"followup_message": answer.reason}
    elif answer.context and event in _TELLING:
        said = {"additional_context": answer.context}
    return json_line(said)
