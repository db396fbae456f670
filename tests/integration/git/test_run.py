"""Git, started: what it prints, and what happens when it fails."""

from __future__ import annotations

import os
import select
import shutil
import threading
from pathlib import Path

import pytest

from lineclear.git.run import GitFailed, Started, git, quick_git, show_on_terminal
from tests.repository import TemporaryRepo


def test_what_git_prints_comes_back_as_bytes(repo: TemporaryRepo) -> None:
    assert git(["branch", "--show-current"], str(repo.path)) == b"main\n"


def test_input_is_handed_over(repo: TemporaryRepo) -> None:
    blob = git(["hash-object", "-w", "--stdin"], str(repo.path), input=b"text\n").decode().strip()
    assert git(["cat-file", "blob", blob], str(repo.path)) == b"text\n"


def test_without_input_git_does_not_wait_for_the_keyboard(repo: TemporaryRepo) -> None:
    assert git(["hash-object", "--stdin"], str(repo.path), timeout_s=20)


def test_a_failure_tells_what_was_asked_and_what_git_said(repo: TemporaryRepo) -> None:
    with pytest.raises(GitFailed) as caught:
        git(["rev-parse", "--verify", "no-such-branch"], str(repo.path))
    assert caught.value.command == ("rev-parse", "--verify", "no-such-branch")
    assert caught.value.exit_code == 128
    assert "fatal: Needed a single revision" in caught.value.stderr
    assert "no-such-branch" in str(caught.value)


def test_a_failure_that_was_expected_is_no_error(repo: TemporaryRepo) -> None:
    assert git(["rev-parse", "--verify", "--quiet", "no-such-branch"], str(repo.path), check=False) == b""


def test_a_hooks_variables_do_not_lead_elsewhere(
    repo: TemporaryRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = TemporaryRepo.create(tmp_path / "other", repo.environment)
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    asked = ["rev-parse", "--absolute-git-dir"]
    assert git(asked, str(repo.path)).decode().strip() == str(repo.path / ".git")
    given = {"GIT_DIR": str(other.path / ".git")}
    assert git(asked, str(repo.path), env=given).decode().strip() == str(other.path / ".git")


def test_messages_are_english_whatever_the_users_language(
    repo: TemporaryRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("LANGUAGE", "de")
    assert git(["-c", "alias.language=!echo $LC_ALL", "language"], str(repo.path)) == b"C\n"


def test_git_that_takes_too_long_is_ended_with_what_it_started(repo: TemporaryRepo, tmp_path: Path) -> None:
    slow = f"alias.slow=!exec 9>{tmp_path}/fifo; exec sleep 1000"
    os.mkfifo(tmp_path / "fifo")
    ear = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(GitFailed) as caught:
        git(["-c", slow, "slow"], str(repo.path), timeout_s=4)
    assert caught.value.exit_code == 124
    assert select.select([ear], [], [], 60)[0], "the pipe ends when nobody has it open"
    assert os.read(ear, 1) == b""
    os.close(ear)


def test_git_that_takes_too_long_leaves_no_lock_behind(repo: TemporaryRepo) -> None:
    hook = repo.path / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntest -e .git/index.lock && echo locked > .git/seen\nexec sleep 60\n")
    hook.chmod(0o755)
    (repo.path / "README.md").write_text("changed")
    with pytest.raises(GitFailed):
        git(["commit", "--all", "--message=slow"], str(repo.path), timeout_s=4)
    assert (repo.path / ".git" / "seen").read_text() == "locked\n"
    assert not (repo.path / ".git" / "index.lock").exists()


def test_git_that_is_not_installed_is_a_failure_of_its_own(
    repo: TemporaryRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitFailed) as caught:
        git(["status"], str(repo.path))
    assert caught.value.exit_code == 127


def test_a_worktree_that_somebody_is_making_just_then_is_waited_out(repo: TemporaryRepo) -> None:
    """Git itself dies of it; seen when twenty agents began and ended at once."""
    repo.commit("first", {"a": "a\n"})
    half = repo.path / ".git/worktrees/half"
    half.mkdir(parents=True)
    (half / "gitdir").write_text(f"{repo.path.parent}/half/.git\n")
    (half / "HEAD").write_text("ref: refs/heads/half\n")
    (half / "commondir").write_text("")
    threading.Timer(0.1, lambda: shutil.rmtree(half)).start()
    with pytest.raises(GitFailed, match="failed to read"):
        Started(["worktree", "list"], str(repo.path)).finish()
    assert git(["worktree", "list"], str(repo.path)).count(b"\n") == 1


def test_programs_that_help_a_person_at_a_terminal_do_not_run(repo: TemporaryRepo, tmp_path: Path) -> None:
    """A file system monitor, also in a nested repository, an editor, a pager."""
    mark = tmp_path / "mark"
    for place in (repo.path, repo.path / "sub"):
        repo.git("init", "--quiet", str(place))
        for name in ("core.fsmonitor", "core.editor", "sequence.editor", "core.pager"):
            repo.git("config", name, f"touch {mark}; false", at=place)
    repo.git("-c", "core.fsmonitor=false", "commit", "-qm", "x", "--allow-empty", at=repo.path / "sub")
    repo.git("-c", "core.fsmonitor=false", "add", "sub")
    git(["commit", "--quiet", "--amend"], str(repo.path))
    assert git(["--paginate", "status", "--porcelain"], str(repo.path)) == b""
    quick_git(["status"], str(repo.path))
    assert show_on_terminal(["status", "--short"], str(repo.path)) == 0
    assert not mark.exists()
