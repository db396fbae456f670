"""Hook inputs and answers of Kimi Code, Cline and goose, which differ from Claude Code's in much."""

from __future__ import annotations

import json
from typing import Any

from lineclear.clients.cline import hook as cline
from lineclear.clients.goose import hook as goose
from lineclear.clients.kimi import hook as kimi
from lineclear.core import hooks
from lineclear.core.hooks import HookAnswer

DENIED = HookAnswer(is_denied=True, reason="no")
TOLD = HookAnswer(context="look")


def said(answer: tuple[bytes, int]) -> Any:
    output, code = answer
    assert code == 0
    return json.loads(output) if output else None


def of_kimi(event: str, tool: str = "", **given: Any) -> dict[str, Any]:
    head = {"hook_event_name": event, "session_id": "s", "cwd": "/r", "client_type": "kimi_code_cli"}
    return head | {"tool_name": tool, "tool_input": given, "tool_call_id": "c-1"}


def reason_of(answer: tuple[bytes, int]) -> str:
    inner = said(answer)["hookSpecificOutput"]
    assert inner["permissionDecision"] == "deny"
    reason: str = inner["permissionDecisionReason"]
    return reason


def test_kimi_is_told_before_a_tool_by_holding_the_call_back() -> None:
    call = kimi.read_call("PreToolUse", of_kimi("PreToolUse", "Bash", command="ls"))
    assert call is not None
    assert (call.event, call.call_id, call.can_tell) == (hooks.BEFORE_SHELL, "c-1", True)
    assert reason_of(kimi.write_answer("PreToolUse", TOLD)).startswith("look\n")
    assert "held back" in reason_of(kimi.write_answer("PreToolUse", TOLD))
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


def of_cline(name: str, parent: str | None = None, **given: Any) -> dict[str, Any]:
    return {
        "taskId": "conv_1",
        "sessionContext": {"rootSessionId": "root_1"},
        "workspaceRoots": ["/r"],
        "agent_id": "agent_1",
        "parent_agent_id": parent,
        "tool_call": {"id": "c-1", "name": name, "input": given},
        "preToolUse": {"toolName": name, "parameters": {key: json.dumps(given[key]) for key in given}},
    }


def test_cline_edits_writes_and_runs() -> None:
    edit = cline.read_call("PreToolUse", of_cline("editor", path="/r/a", old_text="x", new_text="y"))
    assert edit is not None
    assert (edit.event, edit.session, edit.cwd, edit.subagent) == (hooks.BEFORE_EDIT, "root_1", "/r", "")
    assert (edit.paths, edit.old_text, edit.is_whole_write) == (("/r/a",), "x", False)
    whole = cline.read_call("PreToolUse", of_cline("editor", path="/r/a", new_text="y"))
    put_in = cline.read_call("PreToolUse", of_cline("editor", path="/r/a", new_text="y", insert_line=3))
    assert whole is not None
    assert put_in is not None
    assert (whole.is_whole_write, put_in.is_whole_write) == (True, False)
    shell = cline.read_call("PreToolUse", of_cline("run_commands", commands=["ls", "pwd"]))
    assert shell is not None
    assert (shell.event, shell.command, shell.call_id) == (hooks.BEFORE_SHELL, "ls\npwd", "c-1")


def test_cline_reads_several_files_at_once() -> None:
    data = of_cline("x") | {"tool_result": {"name": "read_files", "input": {"files": [{"path": "/r/a"}]}}}
    del data["tool_call"]
    call = cline.read_call("PostToolUse", data)
    assert call is not None
    assert (call.event, call.paths) == (hooks.AFTER_READ, ("/r/a",))


def test_a_sub_agent_of_cline_is_known_by_its_parent() -> None:
    call = cline.read_call("PreToolUse", of_cline("editor", "agent_0", path="/r/a", old_text="x"))
    begun = cline.read_call("TaskStart", of_cline("", "agent_0"))
    ended = cline.read_call("TaskComplete", of_cline("", "agent_0"))
    assert call is not None
    assert begun is not None
    assert ended is not None
    assert (call.subagent, call.session) == ("agent_1", "root_1")
    assert (begun.event, ended.event) == (hooks.SUBAGENT_START, hooks.SUBAGENT_STOP)


def test_cline_is_denied_by_taking_the_arguments_away_and_its_run_goes_on() -> None:
    told = said(cline.write_answer("PreToolUse", DENIED))
    assert told == {"cancel": False, "overrideInput": {}, "contextModification": "no"}
    assert said(cline.write_answer("PostToolUse", TOLD)) == {"cancel": False, "contextModification": "look"}
    assert said(cline.write_answer("TaskStart", TOLD)) == {"cancel": False}


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
