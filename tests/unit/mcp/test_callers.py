"""Which variables stand for a client that does not show itself in our environment."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.core.agents.identity import read_environment
from lineclear.mcp.callers import CODEX_TURN, signs_of


@pytest.mark.parametrize(
    ("client", "meta", "expected"),
    [
        ("claude-code", {}, ("claude", "")),
        ("gemini-cli-mcp-client", {}, ("gemini", "")),
        ("codex-mcp-client", {CODEX_TURN: {"thread_id": "abc", "session_id": "x"}}, ("codex", "abc")),
        ("codex-mcp-client", {CODEX_TURN: '{"session_id": "x"}'}, ("codex", "x")),
        ("codex-mcp-client", {CODEX_TURN: "not JSON"}, ("", "")),
        ("factory-cli", {"assemblySessionId": "abc", "caller": "AGENT"}, ("droid", "abc")),
        ("factory-cli", {"assemblySessionId": 7}, ("", "")),
        ("somebody", {"assemblySessionId": "abc"}, ("", "")),
        ("grok-shell-lineclear", {}, ("grok", "")),
        ("codex-mcp-client", {CODEX_TURN: ["abc"]}, ("", "")),
        ("codex-mcp-client", {CODEX_TURN: {"thread_id": 7}}, ("", "")),
        ("", {}, ("", "")),
    ],
)
def test_whoever_calls_is_marked_as_an_agent(
    client: str, meta: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert read_environment(signs_of(client, meta)) == (*expected, True)
