"""Taking lineclear out of a repository: nothing of ours stays, and nobody's work goes."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from lineclear.git.uninstall import CloneUninstallGit
from lineclear.host.bonds import SUPERVISOR, Bonds
from lineclear.host.locks import LockFile
from lineclear.host.supervision import StatusFile
from lineclear.wiring.queue import QUEUE_LOCK
from lineclear.wiring.repo import open_repo
from lineclear.wiring.uninstalling import uninstalling_in
from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo

MINE = "# Mine\n\n- [ ] buy milk\n"


def refs_of(repo: TemporaryRepo) -> set[str]:
    return set(repo.git("for-each-ref", "--format=%(refname)").splitlines())


def worktree(line: CommandLine, name: str) -> Path:
    return Path(line.json("worktree", "add", name, "--agent", name)["path"])


def test_it_waits_until_nothing_of_ours_runs(line: CommandLine) -> None:
    state = line.place / ".git" / "lineclear"
    bond = Bonds(str(state / "bonds")).hold(SUPERVISOR)
    StatusFile(str(state / "supervisor.json")).write({})
    assert "is running: stop it first" in line.ok("uninstall").out
    error = line.refused("uninstall", "--yes", code=3)
    assert (error["code"], error["next"]) == ("uninstall.running", f"kill -INT {os.getpid()}")
    bond.release()
    with LockFile(str(state / QUEUE_LOCK)):
        assert line.refused("uninstall", "--yes", code=3)["running"] == "the queue"
    assert state.exists()
    line.ok("uninstall", "--yes")
    assert not state.exists()


class Killed(BaseException):
    """Stands for a `kill -9` between two changes."""


class MortalGit(CloneUninstallGit):
    """Dies before the nth change."""

    changes_left = 0

    def create_branch(self, branch: str, commit: str) -> None:
        self._live()
        super().create_branch(branch, commit)

    def delete_ref(self, ref: str, commit: str) -> None:
        self._live()
        super().delete_ref(ref, commit)

    def _live(self) -> None:
        if self.changes_left == 0:
            raise Killed
        self.changes_left -= 1


@pytest.mark.slow
def test_a_killed_uninstall_goes_on_where_it_was(line: CommandLine, repo: TemporaryRepo) -> None:
    places = {name: worktree(line, name) for name in ("ada", "ben")}
    for name, place in places.items():
        repo.commit("Work", {f"{name}.py": "1\n"}, at=place)
        (place / f"{name}.py").write_text("2\n")
    opened = open_repo(str(repo.path), repo.environment)
    try:
        story = uninstalling_in(opened)
        for count in range(3):
            git = MortalGit(str(repo.path), lambda: repo.git("rev-parse", "main"))
            git.changes_left = count
            with pytest.raises(Killed):
                dataclasses.replace(story, git=git).apply(opened.caller())
    finally:
        opened.close()
    line.ok("uninstall", "--yes")
    assert refs_of(repo) == {"refs/heads/main", "refs/heads/kept/ada", "refs/heads/kept/ben"}
    assert [repo.git("show", f"kept/{name}:{name}.py") for name in places] == ["2", "2"]

    line.ok("init")
    state = repo.path / ".git" / "lineclear"
    state.rename(f"{state}.removed")
    assert "would remove" in line.ok("uninstall").out
    line.ok("uninstall", "--yes")
    assert not [path for path in (repo.path / ".git").iterdir() if "lineclear" in path.name]


@pytest.mark.slow
def test_everything_of_ours_goes_and_all_work_stays(line: CommandLine, repo: TemporaryRepo) -> None:
    (repo.path / "TASKS.md").write_text(MINE)
    repo.commit("Rules", {"AGENTS.md": "# House rules\n", "lineclear.toml": '[checks]\ngate = "true"\n'})
    line.ok("trust")
    before = repo.git("config", "--local", "--list")
    for words in (("mirror", "--on"), ("setup", "conventions"), ("setup", "git"), ("setup", "git-merge")):
        line.ok(*words)
    places = {name: worktree(line, name) for name in ("ada", "ben", "cleo", "dan", "eve")}
    repo.commit("Landed", {"landed.py": "1\n"}, at=places["ben"])
    line.ok("land", "lineclear/ben", "--wait", "--as", "ben")
    line.ok("check", "lineclear/ben", "--run")
    repo.commit("Committed", {"a.py": "1\n"}, at=places["ada"])
    (places["ada"] / "a.py").write_text("2\n")
    (places["ada"] / "new.py").write_text("new\n")
    repo.commit("Only here", {"c.py": "1\n"}, at=places["cleo"])
    (places["dan"] / "lost.py").write_text("saved\n")
    line.ok("salvage", "take", "dan")
    line.ok("worktree", "remove", "dan")
    (places["eve"] / ".env").write_text("TOKEN=1\n")
    own = repo.add_worktree("own")
    line.ok("worktree", "adopt", str(own))

    shown = line.json("uninstall")["steps"]
    assert places["ada"].exists()
    assert "check tree" in {step["kind"] for step in shown}
    assert line.json("uninstall", "--dry-run")["steps"] == shown
    done = line.json("uninstall", "--yes")
    assert [(step["do"], step["kind"], step["name"]) for step in done["steps"]] == [
        (step["do"], step["kind"], step["name"]) for step in shown
    ]
    kept = {step["branch"] for step in done["steps"] if step["do"] == "save"}
    assert kept == {"kept/ada", "kept/cleo", "kept/dan-snapshot"}
    stays = {step["name"]: step["why"] for step in done["steps"] if step["do"] == "keep"}
    assert ".env" in stays[str(places["eve"])]
    assert {str(own), str(repo.path / "TASKS.md")} <= stays.keys()

    assert repo.git("show", "kept/ada:a.py") == "2"
    assert repo.git("show", "kept/ada:new.py") == "new"
    assert repo.git("log", "-1", "--format=%s", "kept/ada^") == "Committed"
    assert repo.git("show", "kept/cleo:c.py") == "1"
    assert repo.git("show", "kept/dan-snapshot:lost.py") == "saved"
    heads = {f"refs/heads/{name}" for name in ("main", "own", "lineclear/eve", *kept)}
    assert refs_of(repo) == heads
    listed = repo.git("worktree", "list", "--porcelain").split("\n")
    assert [row.removeprefix("worktree ") for row in listed if row.startswith("worktree ")] == [
        str(place) for place in (repo.path, places["eve"], own)
    ]
    assert {path.name for path in places["eve"].parent.iterdir()} == {"eve", "own"}
    assert (repo.path / "TASKS.md").read_text() == MINE
    assert (repo.path / "AGENTS.md").read_text() == "# House rules\n"
    assert sorted(path.name for path in repo.path.iterdir()) == [
        *(".git", "AGENTS.md", "README.md", "TASKS.md"), "landed.py", "lineclear.toml",
    ]  # fmt: skip
    assert repo.git("config", "--local", "--list") == before
    assert not (repo.path / ".git" / "lineclear").exists()
    assert "lineclear" not in (repo.path / ".git" / "info" / "exclude").read_text()
