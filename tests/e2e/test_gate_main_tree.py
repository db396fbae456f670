"""An agent with its own worktree changes nothing in the main tree; people and agents at work there do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.commandline import CommandLine
from tests.e2e.test_gate import Shell
from tests.repository import TemporaryRepo

BEN = {"LINECLEAR_AGENT": "ben"}
# Git's notes of the last step: no branch, index or file depends on them.
_NOTES = {"ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "AUTO_MERGE", "lineclear", "objects", "logs"}


def picture(repo: TemporaryRepo) -> dict[str, object]:
    """Main, the index, every file, and unfinished steps."""
    files = {path.name: path.read_text() for path in repo.path.iterdir() if path.is_file()}
    return {
        "head": repo.git("symbolic-ref", "HEAD"),
        "main": repo.git("rev-parse", "main"),
        "index": repo.git("ls-files", "--stage"),
        "files": files,
        "steps": sorted(path.name for path in (repo.path / ".git").iterdir() if path.name not in _NOTES),
    }


@pytest.fixture
def ben(line: CommandLine, repo: TemporaryRepo) -> Path:
    """Ben's worktree, one commit ahead of main; in the main tree somebody has uncommitted work."""
    repo.commit("Base", {"a.txt": "1\n", "b.txt": "1\n", "theirs.txt": "1\n"})
    repo.commit("More", {"b.txt": "2\n"})
    line.ok("setup", "git")
    line.ok("worktree", "add", "ben", "--agent", "ben")
    tree = repo.path.parent / "repo.worktrees/ben"
    (tree / "a.txt").write_text("ben\n")
    (tree / "new.txt").write_text("ben\n")
    shell = Shell(line)
    shell.git("add", ".", at=tree, env=BEN)
    assert shell.git("commit", "-qm", "ben", at=tree, env=BEN).returncode == 0
    return tree


def dirty(repo: TemporaryRepo) -> None:
    (repo.path / "theirs.txt").write_text("uncommitted\n")
    (repo.path / "untracked.txt").write_text("untracked\n")


# From a main that has gone on, these are no fast-forward.
AGAIN = [
    "merge --no-edit lineclear/ben",
    "pull -q --no-rebase . lineclear/ben",
    "rebase --autostash lineclear/ben",
]
WAYS = [
    "merge lineclear/ben",
    "merge --no-ff --no-edit lineclear/ben",
    "merge --squash lineclear/ben",
    "pull -q --no-rebase --no-edit . lineclear/ben",
    "commit -m x",
    "commit -am x",
    "commit --no-verify -am x",
    "commit --amend -m x",
    "cherry-pick lineclear/ben",
    "revert --no-edit HEAD",
    "reset --keep lineclear/ben",
    "reset --keep HEAD~1",
    "reset --soft HEAD~1",
    "checkout -B main lineclear/ben",
    "rebase --autostash lineclear/ben",
    "pull -q --rebase --autostash . lineclear/ben",
    "branch -f main lineclear/ben",
    "update-ref refs/heads/main lineclear/ben",
    "push . lineclear/ben:main",
]


@pytest.mark.slow
def test_an_agent_with_a_worktree_leaves_the_main_tree_as_it_was(
    ben: Path, line: CommandLine, repo: TemporaryRepo
) -> None:
    shell = Shell(line)
    wrong = {}
    for is_ahead in (False, True):
        if is_ahead:
            repo.commit("Main goes on", {"c.txt": "1\n"})
        dirty(repo)
        for way in AGAIN if is_ahead else WAYS:
            if " commit -m" in f" {way}":
                (repo.path / "b.txt").write_text("staged\n")
                repo.git("add", "b.txt")
            before = picture(repo)
            told = shell.git("-C", str(repo.path), *way.split(), at=ben, env=BEN)
            is_gits = way.startswith(("branch", "push"))  # git itself refuses: main is checked out
            said = is_gits or "lineclear land lineclear/ben" in told.stderr
            if told.returncode == 0 or not said or picture(repo) != before:
                wrong[is_ahead, way] = (told, before, picture(repo))
            repo.git("reset", "-q", "b.txt")
            repo.git("checkout", "-q", "b.txt")
        (repo.path / "theirs.txt").write_text("1\n")
    assert not wrong, wrong


def test_a_hard_reset_is_undone_except_for_what_git_destroys_first(
    ben: Path, line: CommandLine, repo: TemporaryRepo
) -> None:
    before = picture(repo)
    for way in ("--hard", "--mixed"):
        told = Shell(line).git("-C", str(repo.path), "reset", way, "HEAD~1", at=ben, env=BEN)
        assert "lineclear land lineclear/ben" in told.stderr
        assert picture(repo) == before


def test_people_and_an_agent_that_works_in_the_main_tree_are_not_disturbed(
    ben: Path, line: CommandLine, repo: TemporaryRepo
) -> None:
    shell = Shell(line)
    (repo.path / "theirs.txt").write_text("2\n")
    assert shell.git("commit", "-qam", "ada", env={"LINECLEAR_AGENT": "ada"}).returncode == 0
    merged = shell.git("merge", "-q", "--no-edit", "lineclear/ben")
    assert merged.returncode == 0
    assert merged.stderr == ""


def test_a_session_that_went_back_to_the_main_tree_works_there(
    ben: Path, line: CommandLine, repo: TemporaryRepo
) -> None:
    session = {"CLAUDE_CODE_SESSION_ID": "s-1"}
    merge = ("-C", str(repo.path), "merge", "-q", "--no-edit", "lineclear/ben")

    def edit_in(place: Path) -> None:
        call = {"session_id": "s-1", "cwd": str(place), "tool_name": "Edit", "tool_use_id": place.name}
        given = {"file_path": str(place / "b.txt"), "old_string": "2", "new_string": "3"}
        said = json.dumps({**call, "hook_event_name": "PreToolUse", "tool_input": given})
        assert line.run("hook", "claude", "PreToolUse", stdin=said).code == 0

    edit_in(ben)
    assert Shell(line).git(*merge, at=ben, env=session).returncode != 0
    edit_in(repo.path)
    assert Shell(line).git(*merge, at=ben, env=session).returncode == 0
