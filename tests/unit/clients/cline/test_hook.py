"""Hook input and answers of Cline."""

from __future__ import annotations

import json
from typing import Any

from lineclear.clients.cline import hook as cline
from lineclear.core.agents import hooks
from tests.unit.clients.hook_calls import DENIED, TOLD, said


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
