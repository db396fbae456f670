"""Hook input and answers of Gemini CLI."""

from __future__ import annotations

from lineclear.clients.gemini import hook as gemini
from lineclear.core.agents import hooks
from tests.unit.clients.hook_calls import DENIED, TOLD, said, tool


def test_gemini_hears_nothing_before_a_tool_unless_denied() -> None:
    call = gemini.read_call("BeforeTool", tool("replace", file_path="/r/a.py", old_string="x"))
    assert call is not None
    assert (call.event, call.can_tell) == (hooks.BEFORE_EDIT, False)
    assert said(gemini.write_answer("BeforeTool", TOLD)) is None
    assert said(gemini.write_answer("BeforeTool", DENIED)) == {"decision": "deny", "reason": "no"}
    after = gemini.read_call("AfterTool", tool("write_file", file_path="/r/a.py"))
    assert after is not None
    assert after.can_tell
    assert said(gemini.write_answer("AfterTool", TOLD))["hookSpecificOutput"]["additionalContext"] == "look"
