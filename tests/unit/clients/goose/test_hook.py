"""Hook input and answers of goose."""

from __future__ import annotations

from typing import Any

from lineclear.clients.goose import hook as goose
from lineclear.core.agents import hooks
from tests.unit.clients.hook_calls import DENIED, TOLD, said


def of_goose(tool: str, **given: Any) -> dict[str, Any]:
    head = {"event": "PreToolUse", "session_id": "20261116_1", "matcher_context": tool, "working_dir": "/r"}
    return head | {"tool_name": tool, "tool_input": given}


def test_goose_edits_writes_and_runs_under_both_names_of_its_tools() -> None:
    for name in ("edit", "developer__edit"):
        edit = goose.read_call("PreToolUse", of_goose(name, path="a", before="x", after="y"))
        assert edit is not None
        assert (edit.event, edit.paths, edit.old_text) == (hooks.BEFORE_EDIT, ("a",), "x")
        assert (edit.cwd, edit.session, edit.can_tell) == ("/r", "20261116_1", False)
    write = goose.read_call("PreToolUse", of_goose("write", path="a", content="x"))
    assert write is not None
    assert write.is_whole_write
    before = goose.read_call("PreToolUse", of_goose("shell", command="ls"))
    after = goose.read_call("PostToolUse", of_goose("shell", command="ls"))
    assert before is not None
    assert after is not None
    assert before.call_id == after.call_id != ""


def test_what_a_sub_agent_of_goose_does_is_looked_at_like_a_command() -> None:
    before = goose.read_call("PreToolUse", of_goose("delegate", instructions="do it"))
    after = goose.read_call("PostToolUse", of_goose("delegate", instructions="do it"))
    assert before is not None
    assert after is not None
    assert (before.event, after.event) == (hooks.BEFORE_SHELL, hooks.AFTER_SHELL)
    assert before.call_id == after.call_id != ""


def test_goose_is_denied_and_held_back_and_told_nothing_else() -> None:
    assert said(goose.write_answer("PreToolUse", DENIED)) == {"decision": "block", "reason": "no"}
    assert said(goose.write_answer("Stop", DENIED)) == {"decision": "block", "reason": "no"}
    for event in ("PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart"):
        assert said(goose.write_answer(event, TOLD)) is None
