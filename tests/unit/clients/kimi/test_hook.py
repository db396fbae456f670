"""Hook input and answers of Kimi Code."""

from __future__ import annotations

from typing import Any

from lineclear.clients.kimi import hook as kimi
from lineclear.core.agents import hooks
from tests.unit.clients.hook_calls import DENIED, TOLD, said


def of_kimi(event: str, tool: str = "", **given: Any) -> dict[str, Any]:
    head = {"hook_event_name": event, "session_id": "s", "cwd": "/r", "client_type": "kimi_code_cli"}
    return head | {"tool_name": tool, "tool_input": given, "tool_call_id": "c-1"}


def reason_of(answer: bytes) -> str:
    inner = said(answer)["hookSpecificOutput"]
    assert inner["permissionDecision"] == "deny"
    reason: str = inner["permissionDecisionReason"]
    return reason


def test_kimi_is_told_before_a_tool_by_holding_the_call_back() -> None:
    call = kimi.read_call("PreToolUse", of_kimi("PreToolUse", "Bash", command="ls"))
    assert call is not None
    assert (call.event, call.call_id, call.can_tell) == (hooks.BEFORE_SHELL, "c-1", True)
    assert reason_of(kimi.write_answer("PreToolUse", TOLD)).startswith("look\n")
    assert "stopped once" in reason_of(kimi.write_answer("PreToolUse", TOLD))
    assert reason_of(kimi.write_answer("PreToolUse", DENIED)) == "no"
    assert reason_of(kimi.write_answer("Stop", DENIED)) == "no"


def test_kimi_hears_nothing_after_a_tool_and_plain_words_at_a_prompt() -> None:
    after = kimi.read_call("PostToolUse", of_kimi("PostToolUse", "Bash", command="ls"))
    assert after is not None
    assert not after.can_tell
    assert said(kimi.write_answer("PostToolUse", TOLD)) is None
    assert said(kimi.write_answer("Stop", TOLD)) is None
    assert said(kimi.write_answer("UserPromptSubmit", TOLD)) == {"message": "look"}


def test_what_kimi_adds_to_a_file_is_no_whole_write() -> None:
    whole = kimi.read_call("PreToolUse", of_kimi("PreToolUse", "Write", path="a.py", content="x"))
    added = kimi.read_call("PreToolUse", of_kimi("PreToolUse", "Write", path="a.py", mode="append"))
    assert whole is not None
    assert added is not None
    assert (whole.paths, whole.is_whole_write, added.is_whole_write) == (("a.py",), True, False)
