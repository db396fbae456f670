"""Hook input and answers of Grok Build."""

from __future__ import annotations

from typing import Any

from lineclear.clients.grok import hook as grok
from lineclear.core.agents import hooks


def grok_call(**more: Any) -> dict[str, Any]:
    """As it writes it: each field twice."""
    return {"hookEventName": "x", "sessionId": "s-1", "cwd": "/r", "session_id": "s-1"} | more


def test_grok_hears_at_tools_only_and_its_last_stop_is_none() -> None:
    given = {"file_path": "/r/a.py", "old_string": "x"}
    edit = grok.read_call("PreToolUse", grok_call(toolName="search_replace", toolInput=given))
    assert edit is not None
    assert (edit.event, edit.paths, edit.can_tell) == (hooks.BEFORE_EDIT, ("/r/a.py",), True)
    seen = grok.read_call("PostToolUse", grok_call(tool_name="read_file", tool_input={"target_file": "a.py"}))
    assert seen is not None
    assert (seen.event, seen.paths) == (hooks.AFTER_READ, ("a.py",))
    for event in ("SessionStart", "UserPromptSubmit"):
        call = grok.read_call(event, grok_call())
        assert call is not None
        assert not call.can_tell
    stop = grok.read_call("Stop", grok_call(reason="end_turn", stopHookActive=True))
    assert stop is not None
    assert (stop.event, stop.is_again) == (hooks.STOP, True)
    assert grok.read_call("Stop", grok_call(reason="shutdown")) is None


def test_a_sub_agent_of_grok_has_a_session_of_its_own() -> None:
    begun = grok.read_call("SubagentStart", grok_call(subagentId="s-2", subagentType="explore"))
    assert begun is not None
    assert (begun.event, begun.session, begun.subagent, begun.child_session) == (
        hooks.SUBAGENT_START, "s-1", "s-2", "s-2",
    )  # fmt: skip
    # It may come before anybody has said whose sub-agent it is.
    assert grok.read_call("UserPromptSubmit", grok_call(subagentType="explore")) is None
