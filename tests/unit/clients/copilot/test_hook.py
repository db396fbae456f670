"""Hook input and answers of Copilot CLI."""

from __future__ import annotations

import json

from lineclear.clients.copilot import hook as copilot
from lineclear.core.agents import hooks
from tests.unit.clients.hook_calls import DENIED, said


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


def test_a_sub_agent_of_copilot_is_named_beside_its_parent() -> None:
    """Its calls come under its own id; only the first prompt and the last stop tell of it."""
    data = {"sessionId": "c-1", "agentId": "c-1", "parentAgentId": "s-1", "cwd": "/r"}
    events = {"userPromptSubmitted": hooks.SUBAGENT_START, "agentStop": hooks.SUBAGENT_STOP}
    for event, ours in (events | {"preToolUse": hooks.BEFORE_EDIT}).items():
        call = copilot.read_call(event, data | {"toolName": "edit", "toolArgs": {"path": "/r/a.py"}})
        assert call is not None
        assert (call.event, call.session, call.subagent) == (ours, "s-1", "c-1")
