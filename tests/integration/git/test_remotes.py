"""Fetches from a remote that meet another fetch in the same clone."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from lineclear.git import remotes
from lineclear.git.remotes import fetch_branch
from lineclear.git.run import GitFailed
from tests.repository import TemporaryRepo


@pytest.fixture
def clone(repo: TemporaryRepo, tmp_path: Path) -> TemporaryRepo:
    repo.commit("Base", {"a.txt": "1\n"})
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "clone"))
    repo.commit("More", {"a.txt": "2\n"})
    return TemporaryRepo(tmp_path / "clone", repo.environment)


def test_a_fetch_that_meets_a_locked_ref_is_tried_again(
    clone: TemporaryRepo, repo: TemporaryRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocking = clone.path / ".git" / "refs" / "remotes" / "origin" / "main.lock"
    blocking.write_text("")
    pauses: list[float] = []

    def end_the_other_fetch(pause_s: float) -> None:
        pauses.append(pause_s)
        blocking.unlink()

    monkeypatch.setattr(remotes, "time", SimpleNamespace(sleep=end_the_other_fetch))
    found = fetch_branch(str(clone.path), "origin", "main", str(tmp_path / "lock"))
    assert found == repo.git("rev-parse", "main").strip()
    assert len(pauses) == 1


def test_a_ref_that_stays_locked_is_an_error_that_names_it(
    clone: TemporaryRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (clone.path / ".git" / "refs" / "remotes" / "origin" / "main.lock").write_text("")
    monkeypatch.setattr(remotes, "time", SimpleNamespace(sleep=lambda _s: None))
    with pytest.raises(GitFailed, match="cannot lock ref 'refs/remotes/origin/main'"):
        fetch_branch(str(clone.path), "origin", "main", str(tmp_path / "lock"))


@pytest.mark.slow
def test_many_fetches_at_once_while_the_branch_moves_all_succeed(
    clone: TemporaryRepo, repo: TemporaryRepo, tmp_path: Path
) -> None:
    errors: list[Exception] = []

    def fetch() -> None:
        try:
            for _ in range(5):
                fetch_branch(str(clone.path), "origin", "main", str(tmp_path / "lock"))
        except GitFailed as error:
            errors.append(error)

    threads = [threading.Thread(target=fetch) for _ in range(6)]
    for thread in threads:
        thread.start()
    for number in range(8):
        repo.commit(f"Move {number}", {"a.txt": f"{number}\n"})
    for thread in threads:
        thread.join()
    assert errors == []
