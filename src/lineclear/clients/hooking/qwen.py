"""Qwen Code: Claude's protocol and names of events. Seen with 0.24.4."""

from __future__ import annotations

from lineclear.clients.hooking import claude_like

EVENTS = {
    **claude_like.PLAIN_EVENTS,
    "PreToolUse": "edit|write_file|run_shell_command",
    "PostToolUse": "edit|write_file|run_shell_command|read_file",
}
FAIL_CLOSED = claude_like.NO_SWITCH
read_call, write_answer = claude_like.reader("qwen"), claude_like.write_answer
