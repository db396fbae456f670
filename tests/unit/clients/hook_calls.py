"""Input and answers of hooks, as the tests of several clients need them."""

from __future__ import annotations

import json
from typing import Any

from lineclear.core.agents.hooks import HookAnswer

COMMON = {"session_id": "s-1", "cwd": "/r", "hook_event_name": "x"}
PATCH = "*** Begin Patch\n*** Update File: /r/a.py\n@@\n-old\n+new\n*** Move to: b.py\n*** End Patch\n"
DENIED = HookAnswer(is_denied=True, reason="no")
TOLD = HookAnswer(context="look")


def tool(name: str, **given: Any) -> dict[str, Any]:
    return COMMON | {"tool_name": name, "tool_input": given, "tool_use_id": "t-1"}


def said(answer: bytes) -> Any:
    return json.loads(answer) if answer else None
