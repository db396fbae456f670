"""opencode: our plugin in it speaks Claude's protocol. It can stop a tool, and add words to the system prompt
and to the result of a tool, but say nothing before one. Tested with 1.18.33.
"""

from __future__ import annotations

from lineclear.clients import claude_protocol

EVENTS = {
    "SessionStart": "",
    "PreToolUse": "edit|write|bash",
    "PostToolUse": "edit|write|bash|read",
}
_TELLING = frozenset(("SessionStart", "PostToolUse"))
read_call, write_answer = claude_protocol.reader("opencode", _TELLING), claude_protocol.write_answer
