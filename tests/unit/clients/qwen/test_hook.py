"""Hook input and answers of Qwen Code."""

from __future__ import annotations

from lineclear.clients.qwen import hook as qwen
from lineclear.core.agents import hooks
from tests.unit.clients.hook_calls import tool


def test_qwen_has_the_events_of_claude_and_the_tools_of_gemini() -> None:
    call = qwen.read_call("PreToolUse", tool("write_file", file_path="/r/a.py"))
    assert call is not None
    assert (call.client, call.event, call.is_whole_write) == ("qwen", hooks.BEFORE_EDIT, True)
