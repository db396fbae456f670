"""opencode: our plugin in it speaks Claude's protocol. Tested with 1.18.33."""

from __future__ import annotations

from lineclear.clients import claude_protocol

EVENTS = {
    "SessionStart": "",
    "PreToolUse": "edit|write|bash",
    "PostToolUse": "edit|write|bash|read",
    "Stop": "",
}
read_call, write_answer = claude_protocol.reader("opencode"), claude_protocol.write_answer
