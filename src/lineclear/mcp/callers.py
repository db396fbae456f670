"""Recognise a client by its call, and name the variables that it would set for its shell.

The caller of a tool is always an agent, never a person.
"""

from __future__ import annotations

from json import loads
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CODEX_TURN = "x-codex-turn-metadata"
# The start of a client's name -> the variable that it sets in its shell.
GREETINGS = (("claude", "CLAUDECODE"), ("gemini", "GEMINI_CLI"), ("qwen", "QWEN_CODE"),
             ("opencode", "OPENCODE"), ("grok", "GROK_AGENT"), ("kimi", "LINECLEAR_KIMI"))  # fmt: skip
CLAUDE_CALL = "claudecode/toolUseId"
DROID_SESSION = "assemblySessionId"


def signs_of(client: str, meta: Mapping[str, Any]) -> dict[str, str]:
    """`client` is the name it gave itself, `meta` its metadata, which no model can write."""
    thread = _codex_thread(meta.get(CODEX_TURN))
    if thread:
        return {"CODEX_THREAD_ID": thread}
    session = meta.get(DROID_SESSION)
    if isinstance(session, str) and session and client == "factory-cli":
        return {"LINECLEAR_DROID_SESSION": session}
    for start, variable in GREETINGS:
        if client.lower().startswith(start):
            return {variable: "1"}
    return {"AI_AGENT": client or "mcp"}


def tool_call_of(meta: Mapping[str, Any]) -> str:
    """The client's own id of the call; "" if it gives none."""
    found = meta.get(CLAUDE_CALL)
    return found if isinstance(found, str) else ""


def _codex_thread(turn: Any) -> str:
    if isinstance(turn, str):
        try:
            turn = loads(turn)
        except ValueError:
            return ""
    found = turn.get("thread_id") or turn.get("session_id") if isinstance(turn, dict) else ""
    return found if isinstance(found, str) else ""
