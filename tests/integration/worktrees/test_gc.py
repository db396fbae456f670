"""Clearing away in a real repository: what may go goes, and no work is ever lost with it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.ports import Caller
from lineclear.core.words.refusals import Refusal
from lineclear.core.worktrees.cleanup import CleanupPlan
from lineclear.core.worktrees.snapshots import SnapshotLimits
from lineclear.git.layout import Layout
from lineclear.git.snapshots.taking import Snapshots
from lineclear.wiring.gc import cleanup_in
from lineclear.wiring.repo import Repo, open_repo
from lineclear.wiring.starting import init_repo
from lineclear.wiring.worktrees import clone_worktrees, salvage_at, worktrees_in
from tests.repository import TemporaryRepo, clean_environment

LONG_AGO_S = time.time() - 100 * 86_400

# Clears away, and dies before or after the N-th step that changes something.
DIES = """
import os, shutil, sys
from lineclear.git import run
from lineclear.wiring.gc import cleanup_in
from lineclear.wiring.repo import open_repo
left = int(sys.argv[1])

def deadly(place, name):
    real = getattr(place, name)
    def step(*args, **options):
        global left
        left -= 1
        if left == 0: os._exit(9)
        return real(*args, **options)
    setattr(place, name, step)

repo = open_repo(os.getcwd(), os.environ)
cleanup = cleanup_in(repo)
plan = cleanup.plan()
for place, name in ((run.Started, "finish"), (os, "unlink"), (os, "rmdir"), (shutil, "rmtree")):
    deadly(place, name)
cleanup.apply(repo.caller(), plan)
"""


class World:
    """A repository under coordination in which agents have worked, and gone."""

    def __init__(self, git: TemporaryRepo) -> None:
        self.git = git
        init_repo(str(git.path), git.environment)
        self.repo: Repo = open_repo(str(git.path), git.environment)
        self.caller: Caller = self.repo.caller("", "")

    def agent(self, name: str) -> Path:
        """A worktree in which somebody has worked and is no more."""
        path = Path(worktrees_in(self.repo).make(self.caller, name=name, agent=name).path)
        self.repo.presence.touch(name)
        self.age(f"agents/{name}")
        return path

    def age(self, name: str) -> None:
        os.utime(Path(self.repo.state_directory, name), (LONG_AGO_S, LONG_AGO_S))

    def joins(self, caller: Caller) -> None:
        self.repo.store.transact(caller, lambda tx: ensure_agent(tx, caller))
        self.repo.presence.touch(caller.name)

    def take(self, name: str, at_s: float | None = None, why: str = "at work") -> None:
        common = self.repo.layout.common_dir
        layout = Layout(str(self.path(name)), f"{common}/worktrees/{name}", common)
        taking = Snapshots(layout, f"{self.repo.state_directory}/snapshots")
        taking.take(agent=name, why=why, at_s=int(at_s or time.time()), limits=SnapshotLimits())

    def path(self, name: str) -> Path:
        return self.git.path.parent / f"{self.git.path.name}.worktrees" / name

    def plan(self) -> CleanupPlan:
        return cleanup_in(self.repo).plan()

    def apply(self) -> CleanupPlan:
        return cleanup_in(self.repo).apply(self.caller, self.plan())

    def going(self) -> list[tuple[str, str]]:
        return [(item.kind, item.key) for item in self.plan().removals]


@pytest.fixture
def world(repo: TemporaryRepo) -> World:
    return World(repo)


def kept_for(plan: CleanupPlan, key: str) -> str:
    return next(item.why for item in plan.kept if item.key == key)


def test_a_worktree_whose_index_git_cannot_read_is_a_refusal_that_gc_lists(world: World) -> None:
    path = world.agent("ada")
    Path(world.repo.layout.common_dir, "worktrees", "ada", "index").write_bytes(b"no index")
    with pytest.raises(Refusal) as refused:
        clone_worktrees(world.repo).condition("ada", str(path))
    assert refused.value.code == "worktree.git"


def test_a_plan_changes_nothing(world: World) -> None:
    (world.agent("ada") / "new.txt").write_text("new\n")
    world.take("ada")
    before = world.git.git("for-each-ref"), sorted(world.path("ada").rglob("*"))
    assert ("worktree", "ada") in world.going()
    assert (world.git.git("for-each-ref"), sorted(world.path("ada").rglob("*"))) == before


def test_a_landed_worktree_goes_with_its_branch(world: World) -> None:
    world.git.commit("Work", {"work.py": "done\n"}, at=world.agent("ada"))
    world.git.git("merge", "--quiet", "--ff-only", "lineclear/ada")
    assert world.going() == [("worktree", "ada")]
    assert world.apply().removals
    assert not world.path("ada").exists()
    assert world.git.git("branch", "--list", "lineclear/*") == ""
    assert world.going() == [("scratch file", "snapshots/ada.mark")] or world.going() == []


def test_unsaved_work_stays(world: World) -> None:
    tree = world.agent("ada")
    (tree / "new.txt").write_text("precious\n")
    assert kept_for(world.apply(), "ada") == "it holds work that is neither in a snapshot nor in main"
    assert (tree / "new.txt").read_text() == "precious\n"


def test_unmerged_commits_stay_as_a_branch(world: World) -> None:
    commit = world.git.commit("Work", {"work.py": "done\n"}, at=world.agent("ada"))
    world.take("ada")
    done = world.apply()
    assert not world.path("ada").exists()
    assert kept_for(done, "lineclear/ada").startswith("it holds commits") or "worktree" in kept_for(
        done, "lineclear/ada"
    )
    assert world.git.git("rev-parse", "lineclear/ada") == commit
    assert kept_for(world.apply(), "lineclear/ada") == "it holds commits that are not in main"


def test_saved_work_goes_and_can_be_restored(world: World) -> None:
    (world.agent("ada") / "new.txt").write_text("precious\n")
    world.take("ada", at_s=LONG_AGO_S)
    world.apply()
    assert not world.path("ada").exists()
    assert world.apply().removals  # old snapshots, our notes about the worktree
    kept = salvage_at(str(world.git.path), world.git.environment).find("ada")
    assert world.git.git("show", f"{kept.commit}:new.txt") == "precious"


def test_work_that_came_after_the_plan_stays(world: World) -> None:
    tree = world.agent("ada")
    (tree / "new.txt").write_text("saved\n")
    world.take("ada")
    plan = world.plan()
    assert plan.removals
    (tree / "new.txt").write_text("later\n")
    done = cleanup_in(world.repo).apply(world.caller, plan)
    assert kept_for(done, "ada") == "it holds work that is neither in a snapshot nor in main"
    assert (tree / "new.txt").read_text() == "later\n"


def test_a_live_agents_worktree_stays(world: World) -> None:
    world.agent("ada")
    Caller("ada", tree="ada")
    world.repo.presence.touch("ada")
    assert "ada was active" in kept_for(world.plan(), "ada")


def test_a_worktree_in_which_nobody_worked_yet_stays(world: World) -> None:
    worktrees_in(world.repo).make(world.caller, name="later", agent="later")
    assert kept_for(world.plan(), "later") == "nobody has worked in it yet"


def test_a_locked_worktree_stays(world: World) -> None:
    world.git.git("worktree", "lock", "--reason", "on a stick", str(world.agent("ada")))
    assert kept_for(world.plan(), "ada") == "git has locked it: on a stick"


def test_a_vanished_worktree_gives_its_ports_back(world: World) -> None:
    made = worktrees_in(world.repo).make(world.caller, name="ada", agent="ada")
    world.repo.presence.touch("ada")
    world.age("agents/ada")
    subprocess.run(["rm", "-rf", made.path], check=True)
    assert ("vanished", "ada") in world.going()
    world.apply()
    assert ("vanished", "ada") not in world.going()
    assert worktrees_in(world.repo).make(world.caller, name="ben", agent="ben").ports == made.ports


def test_strange_directories_go_only_when_they_are_empty(world: World) -> None:
    home = world.agent("ada").parent
    (home / "empty").mkdir()
    (home / "full").mkdir()
    (home / "full/file").write_text("mine\n")
    done = world.apply()
    assert not (home / "empty").exists()
    assert kept_for(done, str(home / "full")) == "git does not know it, and it holds files"


def test_other_peoples_branches_and_worktrees_stay(world: World) -> None:
    world.git.git("branch", "feature/merged")
    world.git.add_worktree("theirs")
    assert world.going() == []


def test_our_own_old_files_go(world: World) -> None:
    state = Path(world.repo.state_directory)
    for name in ("runs/7/output", "snapshots/gone.index", "agents/ghost", "bonds/agent-1"):
        (state / name).parent.mkdir(parents=True, exist_ok=True)
        (state / name).write_text("")
    (state / "bonds/agent-1").write_text("another-boot 1\n")
    world.age("runs/7")
    world.age("agents/ghost")
    (state / "runs/8").mkdir()
    bond = world.repo.bonds.hold("agent-2")
    world.apply()
    bond.release()
    left = {
        name
        for name in ("runs/7", "snapshots/gone.index", "agents/ghost", "bonds/agent-1")
        if (state / name).exists()
    }
    assert left == set()
    assert (state / "runs/8").exists()


# -- nothing is lost, whatever the state -------------------------------------------------------

ACTS = st.lists(
    st.tuples(
        st.sampled_from(["a1", "a2", "a3"]),
        st.sampled_from(
            [
                "edit",
                "new",
                "commit",
                "take",
                "take long ago",
                "end long ago",
                "land",
                "delete",
                "detach",
                "secret",
            ]
        ),
    ),
    max_size=10,
)


class Story:
    """Acts of agents, each of which writes a text of its own."""

    def __init__(self, world: World) -> None:
        self.world, self.count = world, 0

    def act(self, agent: str, what: str) -> None:
        world, tree = self.world, self.world.path(agent)
        if not tree.exists():
            world.agent(agent)
        self.count += 1
        text = f"text number {self.count}\n"
        if what in ("edit", "new", "secret"):
            name = {"edit": "README.md", "new": f"new-{self.count}.txt", "secret": ".env"}[what]
            (tree / name).write_text(text)
        elif what == "commit":
            world.git.git("add", "--all", at=tree)
            world.git.git("commit", "--quiet", "--allow-empty", "-m", text, at=tree)
        elif what.startswith(("take", "end")):
            why = "the end of a run" if what.startswith("end") else "at work"
            world.take(agent, LONG_AGO_S if what.endswith("ago") else None, why)
        elif what == "land":
            world.git.git(
                "merge", "--quiet", "-X", "ours", "-m", "Land", world.git.git("rev-parse", "HEAD", at=tree)
            )
        elif what == "delete":
            (tree / "README.md").unlink(missing_ok=True)
        elif what == "detach":
            world.git.git("checkout", "--quiet", "--detach", at=tree)

    def work(self) -> set[str]:
        """What agents have: the texts in their worktrees and in their commits."""
        return self._in_worktrees() | self._in_commits("--exclude=refs/lineclear/*")

    def restorable(self) -> set[str]:
        """The same, and what is in snapshots."""
        return self._in_worktrees() | self._in_commits()

    def _in_worktrees(self) -> set[str]:
        found = set()
        for tree in (self.world.git.path, *self.world.path("x").parent.glob("*")):
            # A git that outlives its killed parent may still clear up in `.git`.
            for place, directories, names in os.walk(tree):
                directories[:] = [name for name in directories if name != ".git"]
                found |= {Path(place, name).read_text() for name in names if name != ".git"}
        return {text for text in found if text.startswith("text number")}

    def _in_commits(self, *options: str) -> set[str]:
        git, found = self.world.git, set()
        for row in git.git("rev-list", "--objects", *options, "--all").split("\n"):
            oid = row.split(" ", maxsplit=1)[0]
            if git.git("cat-file", "-t", oid) == "blob":
                found.add(git.git("cat-file", "blob", oid) + "\n")
        return {text for text in found if text.startswith("text number")}


@settings(max_examples=12)
@given(ACTS)
def test_clearing_away_loses_no_work(acts: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory(prefix="lineclear-") as scratch:
        home = Path(scratch, "home")
        home.mkdir()
        world = World(TemporaryRepo.create(Path(scratch, "repo"), clean_environment(home)))
        story = Story(world)
        for agent, what in acts:
            story.act(agent, what)
        before = story.work()
        for _ in range(2):  # what held the work of a worktree that went is asked again
            world.apply()
            assert before <= story.restorable()
        world.repo.close()


def test_killed_at_any_step_no_work_is_lost(world: World) -> None:
    story = Story(world)
    for act in (
        ("a1", "new"), ("a1", "commit"), ("a1", "new"), ("a1", "take"), ("a2", "new"), ("a2", "commit"),
        ("a2", "land"), ("a3", "edit"), ("a3", "secret"),
    ):  # fmt: skip
        story.act(*act)
    before, steps = story.work(), 0
    while True:
        steps += 1
        done = subprocess.run(
            [sys.executable, "-c", DIES, str(steps)],
            cwd=world.git.path,
            env=world.git.environment,
            check=False,
        )
        assert before <= story.restorable()
        if done.returncode != 9:
            break
    assert done.returncode == 0
    assert steps > 5
    world.apply()
    assert before <= story.restorable()
    assert [world.path(name).exists() for name in ("a1", "a2", "a3")] == [False, False, True]
    world.git.git("fsck", "--strict")


def test_what_hooks_remember_goes_with_sessions_that_are_silent(world: World) -> None:
    state = Path(world.repo.state_directory)
    names = [
        "sessions/claude-live",
        "sessions/claude-live.picture",
        "sessions/claude-old",
        "sessions/claude-old+sub-a",
    ]
    names += ["sessions/claude-old.call-t1", "sessions/writes"]
    for name in names:
        (state / name).parent.mkdir(parents=True, exist_ok=True)
        (state / name).write_text("")
    assert world.going() == []
    for session in ("live", "old"):
        world.joins(Caller(f"claude-{session}", client="claude", session=session))
    for name in [*names, "agents/claude-old"]:
        world.age(name)
    going = ["sessions/claude-old", "sessions/claude-old+sub-a", "sessions/claude-old.call-t1"]
    assert world.going() == [("session", name) for name in going]
    world.apply()
    assert world.going() == []
    left = sorted(path.name for path in state.glob("sessions/*"))
    assert left == ["claude-live", "claude-live.picture", "writes"]
