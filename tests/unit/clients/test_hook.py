"""Each client's hook input in our words, and our answers in each client's own protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lineclear.clients.claude import hook as claude
from lineclear.clients.codex import hook as codex
from lineclear.clients.copilot import hook as copilot
from lineclear.clients.droid import hook as droid
from lineclear.clients.gemini import hook as gemini
from lineclear.clients.grok import hook as grok
from lineclear.clients.hooking.registry import NAMES, hooking
from lineclear.clients.qwen import hook as qwen
from lineclear.core import hooks
from lineclear.core.hooks import HookAnswer

COMMON = {"session_id": "s-1", "cwd": "/r", "hook_event_name": "x"}
PATCH = "*** Begin Patch\n*** Update File: /r/a.py\n@@\n-old\n+new\n*** Move to: b.py\n*** End Patch\n"
DENIED = HookAnswer(is_denied=True, reason="no")
TOLD = HookAnswer(context="look")


def tool(name: str, **given: Any) -> dict[str, Any]:
    return COMMON | {"tool_name": name, "tool_input": given, "tool_use_id": "t-1"}


def said(answer: tuple[bytes, int]) -> Any:
    output, code = answer
    assert code == 0
    return json.loads(output) if output else None


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


def test_codex_names_its_files_in_a_patch() -> None:
    call = codex.read_call("PreToolUse", tool("apply_patch", command=PATCH))
    assert call is not None
    assert (call.event, call.paths, call.old_text) == (hooks.BEFORE_EDIT, ("/r/a.py", "b.py"), "old")
    assert not call.is_whole_write
    added = PATCH.replace("Update File", "Add File")
    whole = codex.read_call("PreToolUse", tool("apply_patch", command=added))
    assert whole is not None
    assert whole.is_whole_write


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


def test_copilot_writes_its_arguments_as_an_object_or_as_text() -> None:
    given = {"path": "/r/a.py", "old_str": "x"}
    for arguments in (given, json.dumps(given)):
        data = {"sessionId": "s-1", "cwd": "/r", "toolName": "edit", "toolArgs": arguments}
        call = copilot.read_call("preToolUse", data)
        assert call is not None
        assert (call.event, call.paths, call.session) == (hooks.BEFORE_EDIT, ("/r/a.py",), "s-1")
    assert said(copilot.write_answer("preToolUse", DENIED)) == {
        "permissionDecision": "deny", "permissionDecisionReason": "no",
    }  # fmt: skip


def test_qwen_has_the_events_of_claude_and_the_tools_of_gemini() -> None:
    call = qwen.read_call("PreToolUse", tool("write_file", file_path="/r/a.py"))
    assert call is not None
    assert (call.client, call.event, call.is_whole_write) == ("qwen", hooks.BEFORE_EDIT, True)


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


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_answer_is_silence_for_everybody(name: str) -> None:
    module = hooking(name)
    assert module is not None
    for event in module.EVENTS:
        output, code = module.write_answer(event, HookAnswer())
        assert code == 0
        assert not any(word in output for word in (b"deny", b"block", b"true")), event


@pytest.mark.parametrize("name", NAMES)
def test_wrong_types_are_never_an_error(name: str) -> None:
    module = hooking(name)
    assert module is not None
    odds: list[Any] = [None, 1, [], {}, "x", [None], {"a": []}, "\ud800", "\0", ["\0"] * 500]
    for odd in odds:
        data = dict.fromkeys(
            ("session_id", "sessionId", "cwd", "tool_name", "toolName", "tool_input", "toolArgs", "prompt"),
            odd,
        )
        for event in module.EVENTS:
            module.read_call(event, data)
            module.read_call(event, tool("Edit", file_path=odd, edits=odd, paths=odd, old_string=odd))
            module.read_call(event, tool("apply_patch", command=odd))


def test_a_client_that_we_do_not_know_has_no_module() -> None:
    assert hooking("../x") is None
