"""A gate that is written but not committed: every door says so, and nothing lands without it."""

from __future__ import annotations

from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo

GATE = '[checks]\ngate = "test ! -e b.txt"\n'
WARNING = (
    "checks.gate is in lineclear.toml but not committed on main: it is not in force. "
    "Next: commit lineclear.toml on main."
)


def warnings(line: CommandLine, *words: str, code: int = 0) -> list[str]:
    answer = line.run("--json", *words)
    assert answer.code == code, answer
    found: list[str] = answer.envelope["warnings"]
    return found


def test_a_gate_that_is_not_committed_lets_nothing_land(line: CommandLine, repo: TemporaryRepo) -> None:
    repo.commit("Base", {"a.txt": "one\n"})
    repo.commit("Work", {"b.txt": "b\n"}, at=repo.add_worktree("ada"))
    repo.commit("Early", {"c.txt": "c\n"}, at=repo.add_worktree("early"))
    line.ok("land", "early")
    main = repo.git("rev-parse", "main")
    (repo.path / "lineclear.toml").write_text(GATE)
    line.ok("task", "add", "Something")

    assert WARNING in warnings(line, "trust")
    assert WARNING in warnings(line, "check", "ada", "--run")
    assert WARNING in warnings(line, "config", "show")
    assert WARNING in line.run("trust").err
    doctor = line.run("doctor")
    assert (doctor.code, f"problem  settings     {WARNING}" in doctor.out) == (1, True), doctor
    assert WARNING in warnings(line, "queue", "run", "--once")
    assert WARNING in line.run("serve", "--detach").err
    line.ok("serve", "--stop")
    for words in (("land", "ada"), ("run", "--", "true"), ("undo", "Q-1")):
        refused = line.run("--json", *words)
        assert (refused.code, refused.error["code"]) == (4, "settings.uncommitted"), refused
        assert refused.error["settings"] == ["checks.gate"]
        assert WARNING in refused.envelope["warnings"]
    assert repo.git("rev-parse", "main") == main

    repo.git("add", "lineclear.toml")
    repo.git("commit", "--quiet", "--message", "Settings", "lineclear.toml")
    assert warnings(line, "trust") == []
    assert "`test ! -e b.txt` failed" in line.run("check", "ada", "--run").out
    assert line.json("land", "ada")["result"] == "submitted"
    line.ok("queue", "run", "--once")
    assert line.json("queue", "show", "Q-2")["state"] == "sent back"


def test_a_review_counts_once_main_has_it_and_its_own_branch_may_bring_it(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    repo.commit("Base", {"a.txt": "one\n"})
    repo.commit("Work", {"b.txt": "b\n"}, at=repo.add_worktree("ada"))
    repo.git("checkout", "--quiet", "-b", "settings")
    (repo.path / "lineclear.toml").write_text('[queue]\nreview = "person"\n')
    refused = line.run("--json", "land", "ada")
    assert refused.error["settings"] == ["queue.review"], refused
    repo.git("add", "lineclear.toml")
    repo.git("commit", "--quiet", "--message", "Settings")
    assert line.json("land", "settings")["result"] == "landed"
    assert line.json("land", "ada")["result"] == "submitted"
    assert "waits for your review" in line.ok("status").out
