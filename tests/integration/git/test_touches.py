"""Which steps of one side changed a file: landings as one, other merges opened, none of the other side."""

from __future__ import annotations

import pytest

from lineclear.git.run import GitFailed
from lineclear.git.side_authors import touches
from tests.repository import TemporaryRepo

LANDING = "Land T-3: Add login\n\nTask: T-3\nAgent: codex-2\n"


def told(repo: TemporaryRepo, side: str, other: str, *paths: str) -> list[tuple[str, str, list[str]]]:
    found = touches(str(repo.path), side, other, paths)
    return [(touch.subject, touch.task, sorted(touch.paths)) for touch in found]


def branch(repo: TemporaryRepo, name: str, start: str = "main") -> None:
    repo.git("switch", "--quiet", "--create", name, start)


def merge(repo: TemporaryRepo, into: str, what: str, message: str) -> None:
    repo.git("switch", "--quiet", into)
    repo.git("merge", "--quiet", "--no-ff", "--message", message, what)


@pytest.fixture
def parted(repo: TemporaryRepo) -> TemporaryRepo:
    """`work` has left main; two commits on `login` are about to be merged."""
    repo.commit("Base", {"a.py": "1\n", "b.py": "1\n"})
    repo.git("branch", "work")
    branch(repo, "login")
    repo.commit("First part", {"a.py": "2\n"})
    repo.commit("Second part", {"b.py": "2\n", "new.py": "2\n"})
    return repo


def test_a_landing_is_one_step_with_all_that_it_brought(parted: TemporaryRepo) -> None:
    merge(parted, "main", "login", LANDING)
    assert told(parted, "main", "work", "a.py", "b.py") == [("Land T-3: Add login", "T-3", ["a.py", "b.py"])]


def test_a_merge_by_a_person_is_the_commits_that_it_brought(parted: TemporaryRepo) -> None:
    merge(parted, "main", "login", "Merge the login page")
    assert told(parted, "main", "work", "a.py", "b.py") == [
        ("Second part", "", ["b.py"]),
        ("First part", "", ["a.py"]),
    ]


def test_only_steps_that_changed_one_of_the_paths_count(parted: TemporaryRepo) -> None:
    assert told(parted, "login", "work", "a.py") == [("First part", "", ["a.py"])]
    assert told(parted, "login", "work", "c.py") == []
    assert told(parted, "login", "work") == []


def test_what_a_branch_took_from_the_other_side_is_not_its_own(parted: TemporaryRepo) -> None:
    merge(parted, "main", "login", LANDING)
    merge(parted, "work", "main", "Sync work\n\nTask: T-9\nAgent: ada\n")
    parted.commit("Own", {"b.py": "3\n"})
    assert told(parted, "work", "main", "a.py", "b.py") == [("Own", "", ["b.py"])]


def test_what_a_later_landing_contains_is_told_of_the_first_that_brought_it(parted: TemporaryRepo) -> None:
    branch(parted, "more", "login")
    parted.commit("Third part", {"c.py": "3\n"})
    merge(parted, "main", "login", LANDING)
    merge(parted, "main", "more", "Land T-4: More\n\nTask: T-4\n")
    assert told(parted, "main", "work", "a.py", "c.py") == [
        ("Land T-4: More", "T-4", ["c.py"]),
        ("Land T-3: Add login", "T-3", ["a.py"]),
    ]


def test_what_was_resolved_in_a_merge_is_the_merges(parted: TemporaryRepo) -> None:
    parted.git("switch", "--quiet", "main")
    parted.commit("Elsewhere", {"c.py": "1\n"})
    parted.git("merge", "--quiet", "--no-ff", "--no-commit", "login")
    (parted.path / "a.py").write_text("resolved\n")
    parted.git("add", "a.py")
    parted.git("commit", "--quiet", "--message", "Merge by hand")
    assert told(parted, "main", "work", "a.py") == [
        ("Merge by hand", "", ["a.py"]),
        ("First part", "", ["a.py"]),
    ]


def test_a_removed_file_was_changed_too(parted: TemporaryRepo) -> None:
    parted.git("rm", "--quiet", "a.py")
    parted.git("commit", "--quiet", "--message", "Remove")
    assert told(parted, "login", "work", "a.py")[0] == ("Remove", "", ["a.py"])


@pytest.mark.parametrize("name", ["nowhere", "main^{tree}", "--all"])
def test_what_is_no_commit_is_gits_to_refuse(parted: TemporaryRepo, name: str) -> None:
    with pytest.raises(GitFailed):
        touches(str(parted.path), name, "work", ["a.py"])
    with pytest.raises(GitFailed):
        touches(str(parted.path), "work", name, ["a.py"])
