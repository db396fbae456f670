"""`lineclear worktree` as people and agents type it."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo
from tests.waiting import is_alive, until, until_there


def test_a_worktree_from_the_first_word_to_the_last(repo: TemporaryRepo, line: CommandLine) -> None:
    line.ok("task", "add", "Login form")
    made = line.ok("worktree", "add", "--agent", "ada", "--task", "T-1").out
    path = repo.path.parent / "repo.worktrees" / "ada"
    assert made.splitlines()[:2] == [f"The worktree ada is at {path}", "branch lineclear/T-1-login-form"]
    inside = line.at(path)
    assert inside.json("claim", "a.py")["claims"][0]["agent"] == "ada"  # known by where it stands
    (path / "a.py").write_text("x")
    (listed,) = line.json("worktree", "list")["worktrees"]
    assert [listed[key] for key in ("agent", "task", "changed", "state")] == ["ada", "T-1", 1, "ready"]
    assert line.refused("worktree", "remove", "ada", code=4)["code"] == "worktree.dirty"
    assert inside.refused("worktree", "remove", "ada", "--force", code=4)["code"] == "person.only"
    repo.git("add", "a.py", at=path)
    repo.git("commit", "--quiet", "--message=Work", at=path)
    assert inside.ok("worktree", "remove", "ada").out.splitlines() == [
        "The worktree ada was removed.",
        "Its branch lineclear/T-1-login-form stays.",
    ]
    assert not path.exists()
    assert line.json("audit")["findings"] == []


def test_somebody_has_to_say_what_it_is_for(line: CommandLine) -> None:
    assert line.refused("worktree", "add", code=2)["code"] == "usage"
    assert line.json("worktree", "add", "--as", "codex-1")["name"] == "codex-1"


def test_a_path_counts_from_where_one_stands(repo: TemporaryRepo, line: CommandLine) -> None:
    (repo.path / "sub").mkdir()
    made = line.at(repo.path / "sub").json("worktree", "add", "x", "--path", "../../there")
    assert made["path"] == str(repo.path.parent / "there")


def test_an_uncommitted_change_is_warned_about(repo: TemporaryRepo, line: CommandLine) -> None:
    (repo.path / "README.md").write_text("changed")
    answer = line.ok("worktree", "add", "x", "--json")
    warning = f"1 uncommitted change in {repo.path} is not in the new worktree."
    assert answer.envelope["warnings"] == [warning]


def test_a_repeated_command_makes_and_removes_once(line: CommandLine) -> None:
    first, again = (line.json("worktree", "add", "x", "--key", "k-1") for _ in range(2))
    assert (first["path"], first["is_new"], again["is_new"]) == (again["path"], True, False)
    for _ in range(2):
        assert line.json("worktree", "remove", "x", "--key", "k-2")["name"] == "x"
    assert line.refused("worktree", "remove", "x", code=5)["code"] == "worktree.unknown"


def test_here_is_adopted(repo: TemporaryRepo, line: CommandLine) -> None:
    feature: Path = repo.add_worktree("feature")
    answer = line.at(feature).ok("worktree", "adopt", "--agent", "claude-1", "--as", "claude-1").out
    assert answer.startswith(f"The worktree feature is adopted; it is at {feature}\n")
    assert line.refused("worktree", "adopt", code=4)["code"] == "worktree.main"


def test_an_interrupted_set_up_leaves_nothing(repo: TemporaryRepo, line: CommandLine) -> None:
    mark = repo.path.parent / "begun"
    local = repo.path / ".git/lineclear/local.toml"
    local.write_text(f'[worktrees]\nsetup = ["echo $$ > {mark}; exec sleep 600"]\n')
    running = line.start("worktree", "add", "x")
    until_there(mark)
    running.process.send_signal(signal.SIGINT)
    assert running.wait() == 130
    until(lambda: not is_alive(int(mark.read_text())))
    assert line.json("worktree", "list")["worktrees"] == []
    assert repo.git("branch", "--format=%(refname:short)") == "main"
    assert list((repo.path.parent / "repo.worktrees").iterdir()) == []


def test_without_a_store_there_is_a_next_step(bare_line: CommandLine) -> None:
    assert bare_line.refused("worktree", "add", "x", code=5)["next"] == "lineclear init"
