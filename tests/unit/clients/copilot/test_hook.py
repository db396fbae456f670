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
