"""Set-up of Codex."""

from __future__ import annotations

import tomllib

from lineclear.clients.codex.setup import hook_hash
from tests.unit.clients.setup_cases import BEFORE, HOME, ROOT, install, on_disk


def test_codex_trusts_each_of_our_hooks_by_its_place_and_words() -> None:
    _, after = install("codex", on_disk(BEFORE["codex"]))
    said = tomllib.loads(after[f"{HOME}/.codex/config.toml"].decode())
    assert said["projects"][ROOT] == {"trust_level": "trusted"}
    state = said["hooks"]["state"]
    # The user's own group stands first.
    assert f"{ROOT}/.codex/hooks.json:pre_tool_use:1:0" in state
    assert f"{ROOT}/.codex/hooks.json:session_start:0:0" in state


def test_the_hash_that_codex_computes() -> None:
    """That the real Codex accepts it is shown by the end-to-end test of `setup codex --check`."""
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": "true", "timeout": 10}]}
    expected = "sha256:07fefe99fecc83c6d493e6fb3e30dce747eb9048454616b08c3f96a6a38cd84a"
    assert hook_hash("pre_tool_use", group) == expected
    assert hook_hash("post_tool_use", group) != expected


def test_a_project_that_codex_was_told_not_to_trust_is_left_so_and_said() -> None:
    disk = on_disk({f"{HOME}/.codex/config.toml": f'[projects."{ROOT}"]\ntrust_level = "untrusted"\n'})
    plan, after = install("codex", disk)
    assert (
        tomllib.loads(after[f"{HOME}/.codex/config.toml"].decode())["projects"][ROOT]["trust_level"]
        == "untrusted"
    )
    assert any("set not to trust" in note for note in plan.notes)
