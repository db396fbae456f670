"""Codex: Claude's protocol; edits come as patches, and files are read by commands. Tested with 0.166.0."""

from __future__ import annotations

from lineclear.clients import claude_protocol

EVENTS = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PreToolUse": "apply_patch|Edit|Write|Bash",
    "PostToolUse": "apply_patch|Edit|Write|Bash",
    "SubagentStart": "",
    "SubagentStop": "",
    "Stop": "",
    "SessionEnd": "",
}
read_call, write_answer = claude_protocol.reader("codex"), claude_protocol.write_answer
