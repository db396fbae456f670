"""Whatever both sides changed, whatever lies uncommitted: a sync brings main in, or can be taken back."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lineclear.core.words.refusals import Refusal
from lineclear.core.worktrees.syncing import Conflicted
from lineclear.git import branch_moves
from tests.integration.test_landing_random import START, change
from tests.landings import open_team
from tests.repository import TemporaryRepo
from tests.sampling import some
from tests.syncs import leftovers, state_of, sync


def commit_changes(git: TemporaryRepo, dice: random.Random, at: Path, who: str) -> None:
    change(dice, at, who, dice.randint(2, 4))
    git.git("add", "--all", "--force", at=at)
    git.git("commit", "-qm", who, "--allow-empty", at=at)


def lines_of(git: TemporaryRepo, *ends: str) -> Counter[tuple[str, str]]:
    """(path, line with its + or -) of a difference."""
    name, found = "", Counter[tuple[str, str]]()
    for line in git.git("diff", "--no-renames", "--unified=0", "--no-prefix", *ends).split("\n"):
        if line.startswith(("--- ", "+++ ")):
            name = line[4:] if line[4:] != "/dev/null" else name
        elif line.startswith(("+", "-")):
            found[name, line] += 1
    return found


def sync_one(git: TemporaryRepo, dice: random.Random) -> str:
    """What it came to, after everything was compared with what had been there."""
    git.commit("Base", START)
    base, place = git.git("rev-parse", "main"), git.add_worktree("ada")
    commit_changes(git, dice, git.path, "main")
    commit_changes(git, dice, place, "ada")
    own, theirs = lines_of(git, base, "ada"), lines_of(git, base, "main")
    change(dice, place, "not committed", dice.choice([0, 1, 2]))
    with open_team(git) as team:
        before = state_of(git, place)
        try:
            result = sync(team, keep=True)
        except Refusal as refusal:
            assert refusal.code == "sync.overlaps", refusal
            assert state_of(git, place) == before
            return "refused"
        finally:
            assert leftovers(git, place) == []
        if isinstance(result, Conflicted):
            git.git("merge", "--abort", at=place)
            assert state_of(git, place) == before
            return "conflict, taken back"
    # What somebody had deleted and main has deleted, too, is no change any more.
    came = [row for row in str(before["status"]).split("\n") if row.rpartition(" ")[2] not in result.files]
    assert str(state_of(git, place)["status"]) == "\n".join(came)
    assert lines_of(git, "main...ada") == own - theirs
    return "synced"


@pytest.mark.slow
def test_a_sync_brings_main_in_and_nothing_else(
    repo: TemporaryRepo, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    monkeypatch.setattr(branch_moves, "INDEX_WAIT_S", 0.2)
    came_to: Counter[str] = Counter()
    for seed in range(some(60)):
        own = TemporaryRepo.create(repo.path.parent / f"seed-{seed}" / "repo", repo.environment)
        try:
            came_to[sync_one(own, random.Random(seed))] += 1
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error
        shutil.rmtree(own.path.parent)
    assert min(came_to["synced"], came_to["conflict, taken back"]) >= 3
    assert came_to["refused"]
    record_property("told", f"syncs of random branches: {dict(came_to)}")
