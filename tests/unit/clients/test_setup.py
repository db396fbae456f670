"""Set-up of every client on files that already hold the user's own hooks and settings: in, again, out."""

from __future__ import annotations

import pytest

from lineclear.app.setup.plan import CannotSetUp
from lineclear.clients.registry import coding_agents, setup_of
from tests.unit.clients.setup_cases import BEFORE, HOME, ROOT, STUB, carried_out, find, install, on_disk

AGENTS = [client.name for client, _ in coding_agents()]


def test_every_client_has_a_case() -> None:
    assert set(BEFORE) == set(AGENTS)


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("has_own", [True, False], ids=["own settings", "nothing yet"])
def test_in_again_and_out_leaves_every_byte(name: str, has_own: bool) -> None:
    disk = on_disk(BEFORE[name]) if has_own else {}
    plan, after = install(name, disk)
    assert after != disk
    again, same = install(name, after, plan.record)
    assert (again.changes, same) == ([], after)
    assert again.record == plan.record
    removed = setup_of(name).plan_remove(find(name, after, plan.record))
    assert carried_out(removed, after) == disk


@pytest.mark.parametrize("name", AGENTS)
def test_what_the_user_adds_meanwhile_stays(name: str) -> None:
    disk = on_disk(BEFORE[name])
    plan, after = install(name, disk)
    added = {path: data.replace(b"mine", b"still mine") for path, data in after.items() if path in disk}
    edited = after | added
    removed = carried_out(setup_of(name).plan_remove(find(name, edited, plan.record)), edited)
    assert removed == {path: data.replace(b"mine", b"still mine") for path, data in disk.items()}


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "qwen", "droid", "cursor", "copilot", "grok"])
def test_without_a_record_ours_is_still_known_by_its_command(name: str) -> None:
    disk = on_disk(BEFORE[name])
    _, after = install(name, disk)
    _, again = install(name, after)
    for path in after:
        assert again[path].count(b"lineclear/hook") >= 1 or not path.startswith(ROOT)
        assert again[path].count(b'"matcher"') == after[path].count(b'"matcher"')
        assert again[path].count(f" {name} ".encode()) == after[path].count(f" {name} ".encode())


@pytest.mark.parametrize(
    "name", ["claude", "codex", "gemini", "qwen", "droid", "cursor", "copilot", "grok", "kimi"]
)
def test_settings_that_cannot_be_read_are_refused(name: str) -> None:
    facts = find(name, {})
    path = setup_of(name).files(facts)[0]
    for broken in (b'{"hooks": [', b'{"hooks": 3, "a" 1}', b"\xff\xfe{}"):
        with pytest.raises(CannotSetUp):
            setup_of(name).plan_install(find(name, {path: broken}))


@pytest.mark.parametrize(
    "name", ["codex", "gemini", "qwen", "droid", "cursor", "copilot", "grok", "opencode", "cline"]
)
def test_a_file_that_git_tracks_gets_no_path_of_this_machine(name: str) -> None:
    paths = tuple(path for path in setup_of(name).files(find(name, {})) if path.startswith(ROOT))
    _, local = install(name, {})
    _, shared = install(name, {}, shared=paths)
    for path in local.keys() & set(paths):
        assert STUB.encode() in local[path]
        assert ROOT.encode() not in shared[path]
        assert b"lineclear/hook" in shared[path]


@pytest.mark.parametrize("name", ["codex", "gemini", "copilot", "grok", "kimi"])
def test_trust_that_is_given_is_told_in_words_and_once(name: str) -> None:
    plan, after = install(name, on_disk(BEFORE[name]))
    (told,) = [note for note in plan.notes if f"to trust {ROOT}: " in note]
    (path,) = [change.path for change in plan.changes if f"{change.path} tells " in told]
    assert path.startswith(HOME)
    assert after[path] != on_disk(BEFORE[name]).get(path)
    again, _ = install(name, after, plan.record)
    assert not [note for note in again.notes if "to trust" in note]
