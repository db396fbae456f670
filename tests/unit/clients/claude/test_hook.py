"""Hook input and answers of Claude Code."""

from __future__ import annotations

from typing import Any

from lineclear.clients.claude import hook as claude
from lineclear.core.agents import hooks
from tests.unit.clients.hook_calls import DENIED, TOLD, said, tool


def test_claude_edits_writes_reads_and_runs() -> None:
    edit = claude.read_call("PreToolUse", tool("Edit", file_path="/r/a.py", old_string="x"))
    assert edit is not None
    assert (edit.event, edit.paths, edit.is_whole_write) == (hooks.BEFORE_EDIT, ("/r/a.py",), False)
    assert (edit.session, edit.cwd, edit.old_text, edit.can_tell) == ("s-1", "/r", "x", True)
    write = claude.read_call("PostToolUse", tool("Write", file_path="/r/a.py", content="x"))
    assert write is not None
    assert (write.event, write.is_whole_write) == (hooks.AFTER_EDIT, True)
    notebook = claude.read_call("PreToolUse", tool("NotebookEdit", notebook_path="/r/n.ipynb"))
    assert notebook is not None
    assert notebook.paths == ("/r/n.ipynb",)
    shell = claude.read_call("PreToolUse", tool("Bash", command="ls"))
    assert shell is not None
    assert (shell.event, shell.command, shell.paths) == (hooks.BEFORE_SHELL, "ls", ())
    assert claude.read_call("PreToolUse", tool("Read", file_path="/r/a.py")) is None
    seen = claude.read_call("PostToolUse", tool("Read", file_path="/r/a.py"))
    assert seen is not None
    assert seen.event == hooks.AFTER_READ


def test_claude_is_denied_told_and_held_back_in_its_own_words() -> None:
    inner = said(claude.write_answer("PreToolUse", DENIED))["hookSpecificOutput"]
    assert inner == {
        "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no",
    }  # fmt: skip
    assert said(claude.write_answer("PostToolUse", TOLD)) == {
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "look"}
    }
    assert said(claude.write_answer("Stop", DENIED)) == {"decision": "block", "reason": "no"}


def test_a_sub_agent_of_claude_is_known_by_its_id() -> None:
    call = claude.read_call("PreToolUse", tool("Edit", file_path="/r/a.py") | {"agent_id": "a6b6"})
    assert call is not None
    assert call.subagent == "a6b6"


def test_all_that_an_edit_replaces_is_known_or_nothing_of_it() -> None:
    def replaced(name: str, **given: Any) -> tuple[str, ...]:
        call = claude.read_call("PreToolUse", tool(name, file_path="/r/a.py", **given))
        assert call is not None
        return call.replaced

    long = "x" * 5_000
    assert replaced("Edit", old_string=long, new_string="y") == (long,)
    assert replaced("MultiEdit", edits=[{"old_string": "a"}, {"old_string": "b"}]) == ("a", "b")
    assert replaced("MultiEdit", edits=[{"old_string": "a"}, {"insert": "b"}]) == ()
    assert replaced("Write", content="x") == ()
