"""Set-up of Factory droid."""

from __future__ import annotations

import json

from tests.unit.clients.setup_cases import BEFORE, ROOT, install, on_disk


def test_droid_gets_each_hook_where_the_users_own_of_that_event_are() -> None:
    _, after = install("droid", on_disk(BEFORE["droid"]))
    beside = json.loads(after[f"{ROOT}/.factory/hooks.json"])
    assert list(beside) == ["PostToolUse"]
    assert [len(groups) for groups in beside.values()] == [2]
    settings = after[f"{ROOT}/.factory/settings.json"]
    assert b" droid PreToolUse" in settings
    assert b" droid PostToolUse" not in settings


def test_hooks_in_a_shape_that_droid_does_not_read_are_moved() -> None:
    """As an earlier release put them in."""
    path = f"{ROOT}/.factory/hooks.json"
    plan, made = install("qwen", {})
    text = made[f"{ROOT}/.qwen/settings.json"].replace(b" qwen ", b" droid ")
    record = {"files": {path: plan.record["files"][f"{ROOT}/.qwen/settings.json"]}}
    _, after = install("droid", {path: text}, record)
    assert path not in after
    assert b" droid PreToolUse" in after[f"{ROOT}/.factory/settings.json"]
