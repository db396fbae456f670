"""Hook input and answers of Codex."""

from __future__ import annotations

from lineclear.clients.codex import hook as codex
from lineclear.core import hooks
from tests.unit.clients.hook_calls import PATCH, tool


def test_codex_names_its_files_in_a_patch() -> None:
    call = codex.read_call("PreToolUse", tool("apply_patch", command=PATCH))
    assert call is not None
    assert (call.event, call.paths, call.old_text) == (hooks.BEFORE_EDIT, ("/r/a.py", "b.py"), "old")
    assert not call.is_whole_write
    added = PATCH.replace("Update File", "Add File")
    whole = codex.read_call("PreToolUse", tool("apply_patch", command=added))
    assert whole is not None
    assert whole.is_whole_write
