"""A sync killed at any step: the next one finds all as it was or as it should be, and nothing is lost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineclear.app.ports import Caller
from lineclear.wiring.repo import open_repo
from lineclear.wiring.starting import init_repo
from lineclear.wiring.sync import sync_in
from tests.crash.test_landing import KILLED, Lander, copy_of
from tests.repository import TemporaryRepo
from tests.sampling import some_of
from tests.syncs import leftovers, state_of

PERSON = Caller("anna", is_person=True)


@pytest.fixture
def syncer(repo: TemporaryRepo) -> Iterator[Lander]:
    program = Lander(repo.environment, "syncer")
    yield program
    program.close()


@pytest.fixture(params=["fits", "conflicts"])
def sample(repo: TemporaryRepo, request: pytest.FixtureRequest) -> TemporaryRepo:
    """The branch `side`, checked out amid somebody's work; main has changed, added, removed and turned a
    file into a directory."""
    repo.commit("Base", {"a.txt": "1\n", "gone.txt": "x\n", "kind": "file\n", "mine.txt": "m\n"})
    init_repo(str(repo.path), repo.environment)
    repo.git("switch", "-q", "-c", "side")
    repo.commit("Work", {"own.txt": "o\n", **({"a.txt": "3\n"} if request.param == "conflicts" else {})})
    repo.git("switch", "-q", "main")
    repo.git("rm", "-q", "gone.txt", "kind")
    repo.commit("Main", {"a.txt": "2\n", "new/deep.txt": "n\n", "kind/now": "directory\n"})
    repo.git("switch", "-q", "side")
    (repo.path / "mine.txt").write_text("my own\n")
    return repo


def repaired(git: TemporaryRepo) -> dict[str, object]:
    repo = open_repo(str(git.path), git.environment)
    sync_in(repo, PERSON, str(git.path)).repair()
    repo.close()
    assert leftovers(git, git.path) == []
    return state_of(git, git.path)


def without_commit(git: TemporaryRepo, state: dict[str, object]) -> dict[str, object]:
    """Two merge commits of one moment and the next differ in their date only."""
    return {**state, "head": git.git("show", "-s", "--format=%P %T %s", "HEAD")}


@pytest.mark.slow
def test_killed_at_any_step_it_is_undone_or_done(sample: TemporaryRepo, syncer: Lander) -> None:
    before = without_commit(sample, state_of(sample, sample.path))
    whole = copy_of(sample, "whole")
    steps = syncer.land(whole.path)
    after = without_commit(whole, state_of(whole, whole.path))
    assert after != before
    undone = done = 0
    for step in some_of(range(1, steps + 1)):
        git = copy_of(sample, f"dies-{step}")
        assert syncer.land(git.path, step) == KILLED
        found = without_commit(git, repaired(git))
        assert found in (before, after), step
        undone, done = undone + (found == before), done + (found == after)
        if found == before:
            assert syncer.land(git.path) > 0
            assert without_commit(git, state_of(git, git.path)) == after, step
        shutil.rmtree(git.path)
    assert undone >= 3
    assert done


def test_after_a_death_what_was_written_over_the_half_moved_tree_stays(
    sample: TemporaryRepo, syncer: Lander
) -> None:
    git = half_moved(sample, syncer)
    (git.path / "new/deep.txt").write_text("written by hand since\n")
    repaired(git)
    assert (git.path / "new/deep.txt").read_text() == "written by hand since\n"
    assert (git.path / "mine.txt").read_text() == "my own\n"
    assert (git.path / "gone.txt").read_text() == "x\n"


def test_the_lock_that_a_death_leaves_says_what_to_run(sample: TemporaryRepo, syncer: Lander) -> None:
    git = half_moved(sample, syncer)
    assert "`lineclear sync`" in (git.path / ".git/index.lock").read_text()


def half_moved(sample: TemporaryRepo, syncer: Lander) -> TemporaryRepo:
    """Killed when its files had come and nothing else had."""
    steps = syncer.land(copy_of(sample, "whole").path)
    for step in range(steps, 0, -1):
        git = copy_of(sample, f"dies-{step}")
        assert syncer.land(git.path, step) == KILLED
        is_moved = git.git("rev-parse", "side") != sample.git("rev-parse", "side")
        is_merge = Path(git.path / ".git/MERGE_HEAD").exists()
        if not is_moved and not is_merge and (git.path / "new/deep.txt").exists():
            return git
        shutil.rmtree(git.path)
    raise AssertionError("it never died amid its files")
