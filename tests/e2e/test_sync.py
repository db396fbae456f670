"""`lineclear sync` as it is typed: words, JSON and exit codes; two agents on one function as the story."""

from __future__ import annotations

import pytest

from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo
from tests.syncs import BASE, state_of

CODES = BASE["login.py"].replace("return True", "return code(user)")
AUDIT = BASE["login.py"].replace("return True", "return audit(user)")


@pytest.fixture
def ben(line: CommandLine, repo: TemporaryRepo) -> CommandLine:
    repo.commit("Base", BASE)
    line.ok("worktree", "add", "ben", "--agent", "ben", "--branch", "ben")
    return line.at(repo.path.parent / "repo.worktrees/ben")


@pytest.fixture
def ada(ben: CommandLine, line: CommandLine, repo: TemporaryRepo) -> CommandLine:
    """ada has begun where ben did; since then ben's work has landed."""
    line.ok("worktree", "add", "ada", "--agent", "ada", "--branch", "ada")
    line.ok("task", "add", "Ask for a code")
    ben.ok("task", "next", "--as", "ben")
    repo.commit("Codes", {"login.py": CODES, "codes.py": "def code(user): ...\n"}, at=ben.place)
    ben.ok("land", "--task", "T-1", "--as", "ben")
    return line.at(repo.path.parent / "repo.worktrees/ada")


def test_a_branch_is_brought_up_to_main(ada: CommandLine, repo: TemporaryRepo) -> None:
    repo.commit("Mine", {"b.txt": "mine\n"}, at=ada.place)
    said = "main merges cleanly into ada (merge, 2 files). Nothing was changed.\n"
    assert ada.ok("sync", "--dry-run").out == said
    answer = ada.ok("sync", "--as", "ada")
    commit = repo.git("rev-parse", "ada")
    assert answer.out == f"ada now contains all of main, as {commit[:12]} (merge, 2 files).\n"
    assert ada.ok("sync").out == "ada already contains all of main.\n"
    assert ada.run("audit").code == 0


def test_a_sync_as_data(ada: CommandLine, repo: TemporaryRepo) -> None:
    assert ada.json("sync") == {
        "branch": "ada",
        "main": "main",
        "dry_run": False,
        "result": "synced",
        "how": "fast-forward",
        "commit": repo.git("rev-parse", "main"),
        "files": ["codes.py", "login.py"],
        "notes": [],
    }


def test_two_agents_change_one_function_and_both_changes_land(
    ada: CommandLine, line: CommandLine, repo: TemporaryRepo
) -> None:
    """ben was first; ada is told, asks for the conflict, resolves it, commits and lands."""
    line.ok("task", "add", "Write an audit log")
    ada.environment |= {"LINECLEAR_AGENT": "ada", "LINECLEAR_TASK": "T-2"}
    ada.ok("task", "next")
    repo.commit("Audit", {"login.py": AUDIT}, at=ada.place)
    before = state_of(repo, ada.place)
    no = ada.run("sync")
    assert (no.code, no.out) == (6, "")
    ends = [repo.git("rev-parse", branch)[:7] for branch in ("main", "ada")]
    sides = [
        f'    main: T-1 by ben, last in {ends[0]} "Ask for a code"',
        f'    ada: T-2 by ada, last in {ends[1]} "Write an audit log"',
    ]
    assert no.err.splitlines() == [
        "  login.py near line 3: content in login",
        *sides,
        "ada and main conflict in login.py.",
        "Nothing was changed. The next command leaves the merge here, for you to resolve and commit.",
        "Next: run `lineclear sync --keep-conflicts`.",
    ]
    assert state_of(repo, ada.place) == before
    kept = ada.run("sync", "--keep-conflicts")
    assert kept.code == 6
    assert kept.out.splitlines() == [
        "main is being merged into ada, with these conflicts:",
        no.err.splitlines()[0],
        *reversed(sides),
        "Everything else is staged. Edit, `git add` and `git commit`; `git merge --abort` cancels the merge.",
    ]
    assert ada.refused("sync", code=4)["code"] == "sync.in_progress"
    both = BASE["login.py"].replace("return True", "return audit(user) and code(user)")
    (ada.place / "login.py").write_text(both)
    repo.git("add", "login.py", at=ada.place)
    repo.git("commit", "--quiet", "--no-edit", at=ada.place)
    trailers = repo.git("show", "-s", "--format=%(trailers:only)", "ada")
    assert trailers.split("\n")[:2] == ["Task: T-2", "Agent: ada"]
    assert "T-2 is merged" in ada.ok("land").out
    assert (repo.path / "login.py").read_text() == both


def test_a_conflict_as_data(ada: CommandLine, repo: TemporaryRepo) -> None:
    repo.commit("Audit", {"login.py": AUDIT}, at=ada.place)
    for words in (["sync"], ["sync", "--dry-run"], ["sync", "--dry-run", "--keep-conflicts"]):
        error = ada.refused(*words, code=6)
        assert (error["code"], error["branch"], error["main"]) == ("sync.conflicts", "ada", "main")
        (conflict,) = error["conflicts"]
        assert (conflict["path"], conflict["symbols"], conflict["first_line"]) == ("login.py", ["login"], 3)
        sides = {
            side: [(hand["task"], hand["agent"]) for hand in hands]
            for side, hands in conflict["sides"].items()
        }
        assert sides == {"left": [("T-1", "ben")], "right": [("", "ada")]}
    kept = ada.run("sync", "--keep-conflicts", "--json")
    assert (kept.code, kept.data["result"], kept.data["open"]) == (6, "conflicts kept", ["login.py"])
    assert kept.data["conflicts"][0]["sides"]["right"][0]["title"] == "Ask for a code"


def test_the_commit_gate_lets_a_resolved_merge_pass(ada: CommandLine, repo: TemporaryRepo) -> None:
    """What came with main is not judged again, though it is locked and was never claimed by ada."""
    (repo.path / "lineclear.toml").write_text('[[strategy]]\nmatch = "codes.py"\nstrategy = "locked"\n')
    ada.ok("setup", "git")
    ada.environment["LINECLEAR_AGENT"] = "ada"
    repo.commit("Audit", {"login.py": AUDIT}, at=ada.place)
    assert ada.run("sync", "--keep-conflicts").code == 6
    (ada.place / "login.py").write_text(AUDIT)
    own = TemporaryRepo(ada.place, ada.environment)
    own.git("commit", "--all", "--quiet", "--no-edit")
    with pytest.raises(AssertionError, match=r"lineclear claim file:codes\.py"):
        own.commit("A code of mine", {"codes.py": "mine\n"})
    assert repo.git("rev-parse", "ada^2") == repo.git("rev-parse", "main")


def test_what_cannot_be_synced_is_refused(ada: CommandLine, line: CommandLine, repo: TemporaryRepo) -> None:
    assert line.refused("sync", code=2)["code"] == "sync.main"
    assert ada.refused("sync", "--as", "ben", code=4)["code"] == "worktree.not_yours"
    assert ada.refused("sync", "--task", "T-9", code=5)["code"] == "task.unknown"
    (ada.place / "login.py").write_text("mine\n")
    error = ada.refused("sync", code=4)
    assert (error["code"], error["files"]) == ("sync.overlaps", ["login.py"])
    repo.git("checkout", "-q", "-f", "--detach", at=ada.place)
    assert ada.refused("sync", code=2)["code"] == "land.detached"
