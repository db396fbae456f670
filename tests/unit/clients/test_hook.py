"""What holds for the hook of every client."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.clients.registry import HOOK, hook_of, names_with
from lineclear.core.agents.hooks import HookAnswer
from tests.unit.clients.hook_calls import tool


@pytest.mark.parametrize("name", names_with(HOOK))
def test_an_empty_answer_is_silence_for_everybody(name: str) -> None:
    module = hook_of(name)
    assert module is not None
    for event in module.EVENTS:
        output = module.write_answer(event, HookAnswer())
        assert not any(word in output for word in (b"deny", b"block", b"true")), event


@pytest.mark.parametrize("name", names_with(HOOK))
def test_an_event_that_can_tell_passes_our_words_on(name: str) -> None:
    """If not, messages would be marked as read that nobody has received."""
    module = hook_of(name)
    assert module is not None
    for event in module.EVENTS:
        call = module.read_call(event, tool("Edit", file_path="a.py"))
        if call is not None and call.can_tell:
            assert b"the port is 4711" in module.write_answer(event, HookAnswer(context="the port is 4711"))


@pytest.mark.parametrize("name", names_with(HOOK))
def test_wrong_types_are_never_an_error(name: str) -> None:
    module = hook_of(name)
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
    assert hook_of("../x") is None
    assert hook_of("aider") is None
