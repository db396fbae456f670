"""Snapshots in a repository under coordination: taken, found again, restored, and asked about."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from lineclear.app.worktrees.salvage import Salvage
from lineclear.core.words.refusals import Refusal
from lineclear.core.worktrees.snapshots import BEFORE_REMOVAL
from lineclear.git.snapshots.detached import start_snapshot
from lineclear.wiring.repo import Repo, mark_of, open_repo
from lineclear.wiring.starting import init_repo
from lineclear.wiring.worktrees import salvage_at, saved_work_in, worktrees_in
from tests.repository import TemporaryRepo


@pytest.fixture
def opened(repo: TemporaryRepo) -> Repo:
    init_repo(str(repo.path), repo.environment)
    return open_repo(str(repo.path), repo.environment)


@pytest.fixture
def tree(opened: Repo) -> Path:
    """Ada's worktree."""
    return Path(worktrees_in(opened).make(opened.caller(), name="w", agent="ada").path)


def salvage(opened: Repo) -> Salvage:
    return salvage_at(opened.layout.worktree, opened.environ)


def take(opened: Repo, why: str = "at work") -> str:
    taken = saved_work_in(opened).take(agent="ada", tree="w", why=why, task=3)
    return taken.ref if taken is not None else ""


def test_the_settings_say_what_stays_out(repo: TemporaryRepo, opened: Repo, tree: Path) -> None:
    (tree / ".env").write_text("TOKEN=1\n")
    (tree / "new.txt").write_text("new\n")
    taken = saved_work_in(opened).take(agent="ada", tree="w", path=str(tree), why="at work")
    assert taken is not None
    assert taken.left_out == (".env (secret name)",)
    found = saved_work_in(opened).latest("ada")
    assert found is not None
    assert (found.commit, found.left_out) == (taken.commit, taken.left_out)
    assert saved_work_in(opened).latest("ben") is None


def test_a_worktree_that_nobody_knows_is_refused(opened: Repo) -> None:
    with pytest.raises(Refusal, match="There is no worktree at nowhere"):
        saved_work_in(opened).take(agent="ada", tree="nowhere", why="at work")


def test_a_fresh_worktree_is_saved_and_a_changed_one_is_not(opened: Repo, tree: Path) -> None:
    assert saved_work_in(opened).is_saved("w")
    (tree / "new.txt").write_text("new\n")
    assert not saved_work_in(opened).is_saved("w")
    take(opened)
    assert saved_work_in(opened).is_saved("w")
    (tree / "README.md").write_text("changed\n")
    assert not saved_work_in(opened).is_saved("w", str(tree))


def test_commits_that_are_only_on_the_branch_count_as_not_saved(
    repo: TemporaryRepo, opened: Repo, tree: Path
) -> None:
    repo.commit("Work", {"work.py": "done\n"}, at=tree)
    assert not saved_work_in(opened).is_saved("w")
    take(opened)
    assert saved_work_in(opened).is_saved("w")
    repo.git("merge", "--quiet", "--ff-only", "lineclear/w")
    repo.git("for-each-ref", "refs/lineclear/")
    for kept in salvage(opened).kept():
        repo.git("update-ref", "-d", kept.ref)
    assert saved_work_in(opened).is_saved("w")


def test_what_a_snapshot_leaves_out_is_not_saved(opened: Repo, tree: Path) -> None:
    (tree / ".env").write_text("TOKEN=1\n")
    take(opened)
    assert not saved_work_in(opened).is_saved("w")


def test_a_repository_inside_is_not_saved(repo: TemporaryRepo, opened: Repo, tree: Path) -> None:
    TemporaryRepo.create(tree / "inner", repo.environment)
    take(opened)
    assert not saved_work_in(opened).is_saved("w")


def test_yes_stays_true_when_more_snapshots_come(opened: Repo, tree: Path) -> None:
    (tree / "new.txt").write_text("precious\n")
    take(opened)
    assert saved_work_in(opened).is_saved("w", lasting=False)
    assert len(salvage(opened).kept()) == 1
    assert saved_work_in(opened).is_saved("w")
    newest = salvage(opened).kept()[0]
    assert (newest.why, newest.is_rolling) == (BEFORE_REMOVAL, False)
    for number in range(45):
        (tree / "new.txt").write_text(f"{number}\n")
        take(opened)
    saved_work_in(opened).prune("ada")
    left = salvage(opened).kept()
    assert newest.ref in [kept.ref for kept in left]
    assert len(left) == opened.settings.snapshots_keep + 1


def test_old_ones_go_by_themselves(opened: Repo, tree: Path) -> None:
    for number in range(60):
        (tree / "new.txt").write_text(f"{number}\n")
        take(opened)
    assert len(salvage(opened).kept("ada")) <= opened.settings.snapshots_keep + 10


def test_a_snapshot_is_found_by_any_of_its_names(opened: Repo, tree: Path) -> None:
    (tree / "new.txt").write_text("1\n")
    first = take(opened)
    (tree / "new.txt").write_text("2\n")
    second = take(opened)
    commit = salvage(opened).kept()[0].commit
    for name, ref in (
        ("ada/1", first),
        (first, first),
        ("ada", second),
        (commit, second),
        (commit[:9], second),
    ):
        assert salvage(opened).find(name).ref == ref
    for name in ("ben", "ada/9", "ada/x", commit[:3], "", "refs/heads/main"):
        with pytest.raises(Refusal, match="There is no snapshot"):
            salvage(opened).find(name)


def test_a_branch_is_restored_and_no_work_tree_is_touched(
    repo: TemporaryRepo, opened: Repo, tree: Path
) -> None:
    (tree / "new.txt").write_text("saved\n")
    take(opened)
    kept = salvage(opened).find("ada")
    before = repo.git("status", "--porcelain"), repo.git("status", "--porcelain", at=tree)
    assert salvage(opened).restore_branch(kept) == "salvage/ada/1"
    assert salvage(opened).restore_branch(kept) == "salvage/ada/1-2"
    assert salvage(opened).restore_branch(kept, "rescue") == "rescue"
    with pytest.raises(Refusal, match="The branch rescue already exists"):
        salvage(opened).restore_branch(kept, "rescue")
    for bad in ("a b", "-x", "@{-1}", "a..b", "HEAD.lock"):
        with pytest.raises(Refusal, match="is not a valid branch name"):
            salvage(opened).restore_branch(kept, bad)
    assert repo.git("show", "rescue:new.txt") == "saved"
    assert (repo.git("status", "--porcelain"), repo.git("status", "--porcelain", at=tree)) == before


def test_a_patch_brings_everything_back(
    repo: TemporaryRepo, opened: Repo, tree: Path, tmp_path: Path
) -> None:
    (tree / "new.bin").write_bytes(bytes(range(256)))
    (tree / "README.md").write_bytes("caf\xe9\n".encode("latin-1"))
    os.symlink("README.md", tree / "link")
    take(opened)
    kept = salvage(opened).find("ada")
    patch = tmp_path / "work.patch"
    assert salvage(opened).restore_patch(kept, str(patch)) == patch.stat().st_size
    with pytest.raises(Refusal, match="already exists and was not overwritten"):
        salvage(opened).restore_patch(kept, str(patch))
    with pytest.raises(Refusal, match="could not be written"):
        salvage(opened).restore_patch(kept, str(tmp_path / "no/such/place"))
    repo.git("apply", str(patch))
    repo.git("add", "--all")
    assert repo.git("write-tree") == kept.tree


def start_one(opened: Repo, tree: Path) -> bool:
    every_ms = opened.settings.snapshots_every_ms
    return start_snapshot(mark_of(opened, "w"), every_ms, opened.environ, agent="ada", path=str(tree))


def test_a_detached_one_is_started_once_when_it_is_due(opened: Repo, tree: Path) -> None:
    (tree / "new.txt").write_text("new\n")
    started = [start_one(opened, tree) for _ in range(5)]
    assert started == [True, False, False, False, False]
    os.wait()
    assert [kept.why for kept in salvage(opened).kept("ada")] == ["at work"]
    mark = Path(opened.state_directory, "snapshots/w.mark")
    os.utime(mark, (time.time() - 60, time.time() - 60))
    take(opened)  # after a snapshot there is nothing to do for hooks
    assert not start_one(opened, tree)
