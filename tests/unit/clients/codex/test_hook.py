"""Hook input and answers of Codex."""

from __future__ import annotations

from lineclear.clients.codex import hook as codex
from lineclear.core.agents import hooks
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


def test_what_a_patch_of_one_file_replaces_is_known_part_by_part() -> None:
    def replaced(patch: str) -> tuple[str, ...]:
        call = codex.read_call("PreToolUse", tool("apply_patch", command=patch))
        assert call is not None
        return call.replaced

    one = "*** Begin Patch\n*** Update File: a.py\n@@ def f\n a\n-b\n+c\n@@\n-d\n*** End Patch"
    assert replaced(one) == ("a\nb", "d")
    assert replaced(one.replace("*** End", "*** Update File: b.py\n@@\n-e\n*** End")) == ()
    assert replaced(one.replace("Update", "Add")) == ()
    assert replaced(one.replace("@@ def", "*** Move to: c.py\n@@ def")) == ()
