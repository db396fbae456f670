"""The story of a set-up: planned, applied, again, taken out; in the order that survives a kill."""

from __future__ import annotations

import pytest

from lineclear.app.setup.applying import apply_setup, equip_worktree, remove_all
from lineclear.app.setup.planning import check_name, plan_install, plan_remove
from lineclear.clients.registry import SETUP, names_with
from lineclear.core.words.refusals import Refusal
from tests.unit.app.setup.in_memory import ROOT, STATE, MemoryClone

OTHER = "/srv/other"


@pytest.fixture
def memory() -> MemoryClone:
    return MemoryClone()


@pytest.mark.parametrize("name", names_with(SETUP))
def test_a_client_is_set_up_once_and_taken_out_exactly(memory: MemoryClone, name: str) -> None:
    planned = plan_install(memory.clone, name, has_server=True)
    assert planned.steps()
    assert memory.disk.files == {}, "a plan changes nothing"
    apply_setup(planned)
    assert plan_install(memory.clone, name, has_server=True).steps() == []
    assert (name in memory.clone.installed()) == (name != "git-merge")
    apply_setup(plan_remove(memory.clone, name))
    assert memory.disk.files == {}
    assert not any(memory.git.settings.values())


def test_what_is_put_in_is_remembered_before_it_is_put_in(memory: MemoryClone) -> None:
    apply_setup(plan_install(memory.clone, "claude"))
    assert memory.disk.steps == ["record", "files"]


def test_git_hears_of_our_hooks_when_they_are_there_and_of_the_users_before_ours_go() -> None:
    memory = MemoryClone()
    memory.git.settings["core.hooksPath"] = "/srv/shop/.husky"
    apply_setup(plan_install(memory.clone, "git"))
    assert memory.disk.steps == ["record", "files", f"git core.hooksPath {STATE}/git-hooks"]
    memory.disk.steps.clear()
    apply_setup(plan_remove(memory.clone, "git"))
    assert memory.disk.steps == [
        "git core.hooksPath /srv/shop/.husky",
        "files",
        f"remove ['{STATE}/git-hooks']",
    ]


def test_settings_of_git_alone_touch_no_file(memory: MemoryClone) -> None:
    apply_setup(plan_install(memory.clone, "git-merge"))
    apply_setup(plan_remove(memory.clone, "git-merge"))
    assert [step for step in memory.disk.steps if not step.startswith("git ")] == []


def test_the_stub_stays_until_the_last_client_is_gone(memory: MemoryClone) -> None:
    for name in ("claude", "qwen", "git"):
        apply_setup(plan_install(memory.clone, name))
    apply_setup(plan_remove(memory.clone, "claude"))
    assert memory.clone.stub in memory.disk.files
    apply_setup(plan_remove(memory.clone, "qwen"))
    assert memory.clone.stub not in memory.disk.files


def test_a_file_that_changed_after_the_plan_is_not_overwritten(memory: MemoryClone) -> None:
    planned = plan_install(memory.clone, "qwen")
    theirs = {f"{ROOT}/.qwen/settings.json": b"{}"}
    memory.disk.files.update(theirs)
    with pytest.raises(Refusal) as refused:
        apply_setup(planned)
    assert refused.value.code == "setup.moved"
    assert theirs.items() <= memory.disk.files.items()


def test_a_disk_that_cannot_be_written_is_a_refusal(
    memory: MemoryClone, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "/srv/shop/x")

    monkeypatch.setattr(memory.disk, "apply", full)
    with pytest.raises(Refusal) as refused:
        apply_setup(plan_install(memory.clone, "qwen"))
    assert refused.value.code == "setup.not_written"


def test_a_new_worktree_gets_the_files_of_clients_that_read_them_there() -> None:
    memory = MemoryClone()
    for name in ("claude", "qwen"):
        apply_setup(plan_install(memory.clone, name))
    equip_worktree(memory.clone, OTHER)
    assert f"{OTHER}/.qwen/settings.json" in memory.disk.files
    # Claude Code reads the main worktree's.
    assert f"{OTHER}/.claude/settings.local.json" not in memory.disk.files


def test_a_tracked_file_of_another_worktree_comes_with_a_merge() -> None:
    memory = MemoryClone(OTHER)
    memory.git.tracked_paths = {".qwen/settings.json"}
    planned = plan_install(memory.clone, "qwen")
    assert f"make {ROOT}/.qwen/settings.json" in planned.steps()
    assert not [step for step in planned.steps() if OTHER in step]
    assert any(".qwen/settings.json is tracked by git" in note for note in planned.notes)


def test_uninstall_takes_out_all_that_is_known_and_leaves_other_records() -> None:
    memory = MemoryClone()
    later = {f"{STATE}/setup/client-of-a-later-release.json": b'{"format": 1}'}
    memory.disk.files.update(later)
    for name in ("claude", "git", "git-merge"):
        apply_setup(plan_install(memory.clone, name))
    remove_all(memory.clone)
    assert not any(memory.git.settings.values())
    assert memory.disk.files.keys() - {memory.clone.stub} == later.keys()


def test_a_name_that_is_in_no_table_is_refused_with_those_that_are(memory: MemoryClone) -> None:
    with pytest.raises(Refusal) as refused:
        check_name(memory.clone, "clade")
    assert refused.value.code == "setup.unknown"
    assert "git-merge" in refused.value.facts["known"]
