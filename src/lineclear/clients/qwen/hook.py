"""Qwen Code: Claude's protocol and event names. What we say before a tool reaches the model only with a
denial, and what we say at the start of a sub-agent not at all. Tested with 0.24.4.
"""

from __future__ import annotations

from lineclear.clients import claude_protocol

EVENTS = {
    **claude_protocol.PLAIN_EVENTS,
    "PreToolUse": "edit|write_file|run_shell_command",
    "PostToolUse": "edit|write_file|run_shell_command|read_file",
    "SubagentStart": "",
    "SubagentStop": "",
}
_TELLING = frozenset(("SessionStart", "UserPromptSubmit", "PostToolUse"))
read_call, write_answer = claude_protocol.reader("qwen", _TELLING), claude_protocol.write_answer
