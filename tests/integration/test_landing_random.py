"""Whatever a person has in their tree, whatever lands: all of it moves and theirs stays, or nothing does."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lineclear.core.queue.landing_results import Landed, NeedsYou
from lineclear.git import branch_moves
from tests.landings import Team, land, open_team
from tests.repository import TemporaryRepo
from tests.sampling import some

NAMES = ["a", "b", "c", "d/x", "d/y", "e/f/z", "g", "ignored.tmp", "h/i"]
START = {name: f"{name}\n" * 3 for name in NAMES[:6]}


def files_of(root: Path) -> dict[str, bytes]:
    found = [path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def staged(team: Team) -> str:
    return team.git.git("diff", "--cached", "--raw", "--no-renames", "--abbrev=40", "HEAD")


def write(root: Path, name: str, text: str) -> None:
    """The file, in the place of whatever stood there or above it."""
    path = root / name
    for above in reversed(path.parents):
        if above.is_file():
            above.unlink()
    if path.is_dir():
        shutil.rmtree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def change(dice: random.Random, root: Path, who: str, count: int) -> None:
    """Some files written, deleted, turned into directories or back."""
    for _ in range(count):
        name = dice.choice(NAMES)
        what = dice.choice(["write", "write", "append", "delete", "nest"])
        if what == "delete":
            if (root / name).is_file():
                (root / name).unlink()
        elif what == "nest":
            write(root, f"{name}/inner", f"{who} {dice.random()}\n")
        elif what == "append" and (root / name).is_file():
            write(root, name, (root / name).read_text() + f"{who} {dice.random()}\n")
        else:
            write(root, name, f"{who} {dice.random()}\n")


def dirtied(repo: TemporaryRepo, dice: random.Random) -> None:
    """A branch with work on it, and a person in the middle of theirs."""
    place = repo.add_worktree("side")
    change(dice, place, "agent", dice.randint(1, 4))
    repo.git("add", "--all", "--force", at=place)
    repo.git("commit", "-qm", "Work", "--allow-empty", at=place)
    change(dice, repo.path, "person", dice.randint(0, 3))
    if dice.random() < 0.5:
        repo.git("add", "--all")
        change(dice, repo.path, "person, later", dice.randint(0, 1))


def assert_moved(team: Team, main: str, before: dict[str, bytes], result: Landed) -> None:
    after, changed = files_of(team.git.path), set(result.files)
    for name in before.keys() | after.keys():
        if name not in changed:
            assert after.get(name) == before.get(name), name
        elif before.get(name) != after.get(name):
            assert before.get(name, b"").decode() == committed(team, main, name), f"{name} was the person's"
    assert team.git.git("rev-parse", "HEAD") == result.commit
    staged_now = set(team.git.git("diff", "--cached", "--name-only", "--no-renames", "HEAD").split("\n"))
    assert not staged_now & changed, "the person's next commit would revert what landed"


def committed(team: Team, commit: str, name: str) -> str:
    if name not in team.git.git("ls-tree", "-r", "--name-only", commit).split("\n"):
        return ""
    return team.git.git("show", f"{commit}:{name}") + "\n"


def land_on(repo: TemporaryRepo, dice: random.Random) -> str:
    """What it came to, after everything was compared with what had been there."""
    repo.commit("Base", START | {".gitignore": "*.tmp\n"})
    dirtied(repo, dice)
    with open_team(repo) as team:
        before, index, main = files_of(repo.path), staged(team), team.main
        result = land(team.repo, team.person, branch="side")
        assert team.leftovers() == []
        if isinstance(result, NeedsYou):
            assert (files_of(repo.path), staged(team), team.main) == (before, index, main)
            return "needs you"
        assert isinstance(result, Landed)
        assert_moved(team, main, before, result)
        return "landed"


@pytest.mark.slow
def test_a_landing_takes_nothing_from_the_person(
    repo: TemporaryRepo, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    monkeypatch.setattr(branch_moves, "INDEX_WAIT_S", 0.2)
    came_to: Counter[str] = Counter()
    for seed in range(some(40)):
        own = TemporaryRepo.create(repo.path.parent / f"seed-{seed}" / "repo", repo.environment)
        came_to[land_on(own, random.Random(seed))] += 1
        shutil.rmtree(own.path.parent)
    assert min(came_to["landed"], came_to["needs you"])
    record_property("told", f"landings into trees with changes: {dict(came_to)}")
