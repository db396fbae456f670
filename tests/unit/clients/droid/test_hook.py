"""Hook input and answers of Factory droid."""

from __future__ import annotations

from lineclear.clients.droid import hook as droid
from lineclear.core.agents import hooks
from tests.unit.clients.hook_calls import COMMON, PATCH, tool


def test_droid_hears_after_a_tool_and_its_commands_are_known_by_their_words() -> None:
    before, after = (
        droid.read_call(event, COMMON | {"tool_name": "Execute", "tool_input": {"command": "ls"}})
        for event in ("PreToolUse", "PostToolUse")
    )
    assert before is not None
    assert after is not None
    assert (before.event, before.can_tell, after.can_tell) == (hooks.BEFORE_SHELL, False, True)
    assert before.call_id == after.call_id != ""
    assert before.is_end_unsure
    other = droid.read_call("PreToolUse", COMMON | {"tool_name": "Execute", "tool_input": {"command": "pwd"}})
    assert other is not None
    assert other.call_id != before.call_id
    patch = droid.read_call("PreToolUse", tool("ApplyPatch", input=PATCH))
    assert patch is not None
    assert patch.paths == ("/r/a.py", "b.py")
    made = droid.read_call("PreToolUse", tool("Create", file_path="/r/n.py", content="x"))
    assert made is not None
    assert made.is_whole_write
