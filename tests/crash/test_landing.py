"""A landing killed at any step: main is the old or the new commit, its tree follows, nothing is lost."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lineclear.app.ports import Caller
from lineclear.core.queue.landing_results import Landed
from lineclear.git import queue as git_queue
from lineclear.wiring.queue import landings_of
from lineclear.wiring.repo import open_repo
from tests.crash.lander import AGENT, BRANCH, TASK
from tests.landings import Team, land, open_team
from tests.repository import TemporaryRepo
from tests.sampling import some_of
from tests.world import refused

KILLED = -9
PERSON = Caller("anna", is_person=True)


class Lander:
    """The program, started once; each question is a landing that dies where it is told to."""

    def __init__(self, environment: dict[str, str], program: str = "lander") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"tests.crash.{program}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def land(self, path: Path, step: int = 0) -> int:
        """Steps taken in peace, or minus the signal it died of."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{step} {path}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self) -> None:
        self.process.communicate()


@pytest.fixture
def lander(repo: TemporaryRepo) -> Iterator[Lander]:
    program = Lander(repo.environment)
    yield program
    program.close()


@pytest.fixture
def sample(repo: TemporaryRepo) -> TemporaryRepo:
    """A branch that changes, adds, removes and turns a file into a directory; a person amid their work."""
    repo.commit("Base", {"a.txt": "1\n", "gone.txt": "x\n", "kind": "file\n", "mine.txt": "m\n"})
    with open_team(repo) as team:
        team.task("Land me", AGENT)
    repo.git("switch", "-q", "-c", BRANCH)
    repo.git("rm", "-q", "gone.txt", "kind")
    repo.commit("Work", {"a.txt": "2\n", "new/deep.txt": "n\n", "kind/now": "directory\n"})
    repo.git("switch", "-q", "main")
    repo.commit("Meanwhile", {"other.txt": "o\n"})
    (repo.path / "mine.txt").write_text("my own\n")
    return repo


def copy_of(sample: TemporaryRepo, name: str) -> TemporaryRepo:
    path = sample.path.parent / name
    shutil.copytree(sample.path, path, symlinks=True)
    return TemporaryRepo(path, sample.environment)


def team_of(git: TemporaryRepo) -> Team:
    team = Team.__new__(Team)
    team.git, team.person = git, PERSON
    team.repo = open_repo(str(git.path), git.environment)
    return team


def is_moved(git: TemporaryRepo) -> bool:
    found = git.git("merge-base", "main", BRANCH) == git.git("rev-parse", BRANCH)
    return found


def assert_landed_once(team: Team) -> None:
    result = land(team.repo, Caller(AGENT, tree="main"), task=TASK, branch=BRANCH)
    assert isinstance(result, Landed), vars(result)
    assert team.status() == [" M mine.txt"]
    assert team.file("mine.txt") == "my own\n"
    assert (team.file("a.txt"), team.file("kind/now"), team.file("new/deep.txt")) == (
        "2\n",
        "directory\n",
        "n\n",
    )
    assert not (team.git.path / "gone.txt").exists()
    assert team.leftovers() == []
    assert team.state(TASK) == "merged"
    assert team.findings() == []
    assert team.git.git("rev-list", "--count", "--merges", "main") == "1"
    team.git.git("fsck", "--no-progress")


def test_killed_at_every_step_the_next_landing_puts_it_right(
    sample: TemporaryRepo, lander: Lander, record_property: Callable[[str, object], None]
) -> None:  # fmt: skip
    steps = lander.land(copy_of(sample, "whole").path)
    assert steps > 20
    moved = 0
    for step in some_of(range(1, steps + 1)):
        git = copy_of(sample, f"dies-{step}")
        assert lander.land(git.path, step) == KILLED
        team = team_of(git)
        if is_moved(git):
            moved += 1
            assert team.file("a.txt") == "2\n"
            assert team.status() == [" M mine.txt"]
            landings_of(team.repo).settle(PERSON, lands=False)
            assert team.state(TASK) == "merged"
        else:
            landings_of(team.repo).settle(PERSON, lands=False)
            assert team.status() == [" M mine.txt"], step
            assert team.leftovers() == []
        assert_landed_once(team)
        team.close()
        shutil.rmtree(git.path)
    assert moved
    record_property("told", f"landing: {steps} steps; {moved} deaths after main had moved")


def test_killed_at_every_step_the_persons_next_commit_reverts_nothing(
    sample: TemporaryRepo, lander: Lander
) -> None:
    """Without any repair: git refuses their commit while our lock is there, and takes it otherwise."""
    steps = lander.land(copy_of(sample, "whole").path)
    committed = 0
    for step in some_of(range(1, steps + 1)):
        git = copy_of(sample, f"dies-{step}")
        assert lander.land(git.path, step) == KILLED
        had_moved = is_moved(git)
        try:
            git.git("commit", "-q", "-m", "Mine", "mine.txt")
            committed += 1
        except AssertionError as refused:
            assert "index.lock" in str(refused)
        if had_moved:
            assert git.git("show", "main:a.txt") == "2"
        team = team_of(git)
        result = land(team.repo, Caller(AGENT, tree="main"), task=TASK, branch=BRANCH)
        assert isinstance(result, Landed), (step, result.why)
        assert git.git("show", "main:a.txt") == "2"
        assert team.file("a.txt") == "2\n"
        assert team.file("mine.txt") == "my own\n"
        assert team.status() in ([], [" M mine.txt"])
        team.close()
        shutil.rmtree(git.path)
    assert committed >= 3


def filter_files(sample: TemporaryRepo, script: str) -> None:
    """Every file that git writes from now on goes through the script."""
    program = sample.path.parent / "smudge.sh"
    program.write_text(f"#!/bin/sh\n{script}")
    program.chmod(0o755)
    (sample.path / ".git/info/attributes").write_text("* filter=deadly\n")
    sample.git("config", "filter.deadly.smudge", str(program))


GIT, LANDER = "$PPID", '"$(ps -o ppid= -p $PPID | tr -d " ")"'


@pytest.mark.parametrize("files_before", range(5))
def test_killed_amid_the_files_the_half_moved_tree_is_put_right(
    sample: TemporaryRepo, lander: Lander, files_before: int
) -> None:
    """Git itself dies with files written, others missing, through a filter that kills it."""
    count = sample.path.parent / "count"
    filter_files(
        sample,
        f'echo x >> "{count}"\n'
        f'if [ "$(wc -l < "{count}")" -gt {files_before} ] && [ -e "{count}.on" ]; then\n'
        f"  kill -9 {GIT} {LANDER}\n"
        "  exit 1\n"
        "fi\n"
        "cat\n",
    )
    git = copy_of(sample, "half")
    (sample.path.parent / "count.on").touch()
    code = lander.land(git.path)
    (sample.path.parent / "count.on").unlink()
    if files_before >= 3:
        assert code > 0  # only three files are written
        return
    assert code == KILLED
    team = team_of(git)
    assert not is_moved(git)
    assert (git.path / ".git/index.lock").exists()
    landings_of(team.repo).settle(PERSON, lands=False)
    assert team.status() == [" M mine.txt"]
    assert team.leftovers() == []
    assert_landed_once(team)
    team.close()


def test_killed_alone_its_git_is_waited_for(
    sample: TemporaryRepo, lander: Lander, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The landing dies, and the git that it started goes on writing files: nobody repairs before it ends."""
    go, begun = sample.path.parent / "go", sample.path.parent / "begun"
    filter_files(
        sample,
        f'[ -e "{begun}" ] || {{ touch "{begun}"; kill -9 {LANDER}; }}\n'
        f'left=200; while [ ! -e "{go}" ] && [ $left -gt 0 ]; do sleep 0.05; left=$((left - 1)); done\n'
        "cat\n",
    )
    git = copy_of(sample, "orphan")
    assert lander.land(git.path) == KILLED
    team = team_of(git)
    try:
        with monkeypatch.context() as patch, refused("land.busy"):
            patch.setattr(git_queue, "LOCK_WAIT_S", 0.2)
            landings_of(team.repo).settle(PERSON, lands=False)
    finally:
        go.touch()
    landings_of(team.repo).settle(PERSON, lands=False)
    assert team.status() == [" M mine.txt"]
    assert team.leftovers() == []
    assert_landed_once(team)
    team.close()


def test_after_a_death_what_the_person_wrote_over_the_half_moved_tree_stays(
    sample: TemporaryRepo, lander: Lander
) -> None:
    whole = lander.land(copy_of(sample, "whole").path)
    for step in range(whole, 0, -1):
        git = copy_of(sample, f"dies-{step}")
        assert lander.land(git.path, step) == KILLED
        if not is_moved(git) and (git.path / "a.txt").read_text() == "2\n":
            break
    (git.path / "a.txt").write_text("written by hand since\n")
    (git.path / "new/deep.txt").write_text("this, too\n")
    team = team_of(git)
    landings_of(team.repo).settle(PERSON, lands=False)
    assert team.file("a.txt") == "written by hand since\n"
    assert team.file("new/deep.txt") == "this, too\n"
    assert set(team.status()) == {" M a.txt", " M mine.txt", "?? new/deep.txt"}
    assert team.file("kind") == "file\n"
    team.close()
