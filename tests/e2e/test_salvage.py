"""diff, open, salvage and gc, as a person and an agent type them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo


@pytest.fixture
def tree(line: CommandLine) -> Path:
    """Ada's worktree, with something new in it."""
    path = Path(line.json("worktree", "add", "w", "--agent", "ada")["path"])
    (path / "new.txt").write_text("new\n")
    return path


def test_an_agents_work_is_shown_with_what_is_committed_and_what_is_not(
    line: CommandLine, repo: TemporaryRepo, tree: Path
) -> None:
    repo.commit("Work", {"work.py": "done\n"}, at=tree)
    repo.commit("Meanwhile", {"main.py": "elsewhere\n"})
    shown = line.ok("diff", "ada").out
    assert "+++ b/work.py" in shown
    assert "+++ b/new.txt" in shown
    assert "main.py" not in shown
    assert "2 files changed" in line.ok("diff", "w", "--stat").out
    data = line.json("diff", "ada")
    assert [(file["path"], file["added"]) for file in data["files"]] == [("new.txt", 1), ("work.py", 1)]
    assert (data["is_live"], data["agent"], data["worktree"]) == (True, "ada", "w")


def test_the_work_of_a_task_is_found_by_its_id(line: CommandLine) -> None:
    line.ok("task", "add", "Login form")
    path = Path(line.json("worktree", "add", "--task", "T-1", "--agent", "ada")["path"])
    (path / "form.html").write_text("<form>\n")
    assert "form.html" in line.ok("diff", "T-1", "--stat").out
    assert line.ok("open", "T-1", "--print").out == f"{path}\n"


def test_work_whose_worktree_is_gone_is_shown_as_it_was_saved(line: CommandLine, tree: Path) -> None:
    line.at(tree).ok("salvage", "take", "--as", "ada")
    os.rename(tree, tree.with_name("elsewhere"))
    answer = line.ok("diff", "ada", "--stat")
    assert "new.txt" in answer.out
    assert "its worktree does not exist" in answer.err
    assert line.refused("open", "ada", code=5)["code"] == "snapshot.no_worktree"


def test_names_that_mean_no_work_are_refused(line: CommandLine) -> None:
    for name in ("ghost", "T-99", "person"):
        assert line.refused("diff", name, code=5)["code"] == "look.nothing"
    assert line.refused("open", "ghost", code=5)["code"] == "look.nothing"


def test_a_shell_is_opened_in_the_worktree_with_its_environment(line: CommandLine, tree: Path) -> None:
    answer = line.run("open", "ada", stdin="pwd; echo $LINECLEAR_PORTS; exit 7", env={"SHELL": "/bin/sh"})
    # Which ports are free is for the machine to say: another test may listen on some.
    [row] = [row for row in line.json("worktree", "list")["worktrees"] if row["agent"] == "ada"]
    assert (answer.code, answer.out.splitlines()) == (7, [str(tree), row["ports"]])
    assert row["ports"]
    assert line.json("open", "ada")["path"] == str(tree)


def test_an_editor_is_opened_on_the_worktree(line: CommandLine, tree: Path) -> None:
    answer = line.run("open", "ada", "--editor", env={"VISUAL": "echo -n edit"})
    assert answer.out == f"edit {tree}"
    nothing = line.run("open", "ada", "--editor")
    assert nothing.code == 2
    assert "neither $VISUAL nor $EDITOR is set" in nothing.err
    refused = line.run("open", "ada", "--editor", env={"EDITOR": "no-such-editor"})
    assert refused.code == 1
    assert "no-such-editor could not be started" in refused.err


def test_snapshots_from_taking_to_restoring(line: CommandLine, repo: TemporaryRepo, tree: Path) -> None:
    there = line.at(tree)
    assert line.ok("salvage", "list").out == "There are no snapshots.\n"
    (tree / ".env").write_text("TOKEN=1\n")
    taken = there.ok("salvage", "take", "--as", "ada")
    assert taken.out == "Snapshot ada/1 is taken\n"
    assert ".env (secret name)" in taken.err
    assert there.ok("salvage", "take", "--as", "ada").out == "Snapshot ada/1 already holds all of it\n"
    assert "ada/1" in line.ok("salvage", "list", "--agent", "ada").out
    assert line.json("salvage", "list", "--agent", "ben")["snapshots"] == []
    shown = line.ok("salvage", "show", "ada").out
    assert "not in it: .env (secret name)" in shown
    assert "+new" in shown
    data = line.json("salvage", "show", "ada/1")
    assert [file["path"] for file in data["files"]] == ["new.txt"]
    patch = line.ok("salvage", "show", "ada/1", "--patch").out
    line.ok("salvage", "restore", "ada/1", "--patch", "work.patch")
    assert (repo.path / "work.patch").read_text() == patch
    assert line.refused("salvage", "restore", "ada/1", "--patch", "work.patch", code=3)["code"] == (
        "snapshot.patch_exists"
    )
    assert "The branch salvage/ada/1 is at snapshot ada/1" in line.ok("salvage", "restore", "ada").out
    assert line.json("salvage", "restore", "ada", "--branch", "rescue")["branch"] == "rescue"
    assert repo.git("show", "rescue:new.txt") == "new"
    assert line.refused("salvage", "restore", "ada", "--branch", "rescue", code=3)["code"] == (
        "snapshot.branch_exists"
    )
    assert line.refused("salvage", "restore", "ada", "--branch", "x", "--patch", "y", code=2)
    assert line.refused("salvage", "show", "ada/9", code=5)["code"] == "snapshot.none"


def test_work_is_brought_back_without_the_store(line: CommandLine, repo: TemporaryRepo, tree: Path) -> None:
    line.ok("salvage", "take", "ada")
    (repo.path / ".git/lineclear/state.db").write_bytes(b"broken")
    assert "ada/1" in line.ok("salvage", "list").out
    assert "+new" in line.ok("salvage", "show", "ada").out
    assert line.json("salvage", "restore", "ada")["branch"] == "salvage/ada/1"


def test_a_person_takes_a_snapshot_of_an_agents_worktree(line: CommandLine, tree: Path) -> None:
    assert line.ok("salvage", "take", "ada").out == "Snapshot ada/1 is taken\n"
    assert line.json("salvage", "list")["snapshots"][0]["why"] == "asked for"


def test_clearing_away_shows_first_and_removes_when_told(
    line: CommandLine, repo: TemporaryRepo, tree: Path
) -> None:
    line.at(tree).ok("salvage", "take", "--as", "ada")
    long_ago_s = time.time() - 40 * 86_400
    os.utime(repo.path / ".git/lineclear/agents/ada", (long_ago_s, long_ago_s))
    shown = line.ok("gc")
    assert "its agent is gone and its work is in a snapshot" in shown.out
    assert "lineclear gc --apply" in shown.err
    assert tree.exists()
    done = line.json("gc", "--apply")
    assert done["is_applied"]
    assert ("worktree", "w") in [(item["kind"], item["name"]) for item in done["removals"]]
    assert not tree.exists()
    assert "new.txt" in line.ok("diff", "ada", "--stat").out
    line.ok("gc", "--apply")
    assert line.ok("gc").out.startswith("Can go\nThere is nothing to remove.\n")
    line.ok("audit")
