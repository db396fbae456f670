"""Git's worktrees as real git has them: the list, what is ignored, sizes, branches from files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lineclear.git import branches, worktree_commands
from lineclear.git.run import GitFailed
from tests.repository import TemporaryRepo


def test_a_worktree_is_added_listed_locked_and_removed(repo: TemporaryRepo) -> None:
    path, main = str(repo.path.parent / "new"), str(repo.path)
    commit = repo.git("rev-parse", "HEAD")
    assert worktree_commands.add(main, path, branch="feat/x", commit=commit, is_new=True) == "new"
    repo.git("worktree", "lock", "--reason", "two\nlines", path)
    first, second = worktree_commands.list_worktrees(main)
    assert (first.path, first.branch, first.is_locked) == (main, "main", False)
    assert (second.path, second.branch, second.head) == (path, "feat/x", commit)
    assert (second.is_locked, second.lock) == (True, "two\nlines")
    assert worktree_commands.lock_of(f"{main}/.git", "new") == "two\nlines"
    repo.git("worktree", "unlock", path)
    assert worktree_commands.lock_of(f"{main}/.git", "new") is None
    (Path(path) / "file").write_text("x")
    with pytest.raises(GitFailed):
        worktree_commands.remove(main, path, force=False)
    worktree_commands.remove(main, path, force=True)
    assert (len(worktree_commands.list_worktrees(main)), worktree_commands.entry_names(f"{main}/.git")) == (
        1,
        [],
    )


def test_one_whose_directory_is_gone_is_missing_and_can_be_removed(repo: TemporaryRepo) -> None:
    path = repo.add_worktree("gone")
    subprocess.run(["rm", "-rf", str(path)], check=True)
    assert worktree_commands.list_worktrees(str(repo.path))[1].is_missing
    assert worktree_commands.entry_path(f"{repo.path}/.git", "gone") == str(path)
    worktree_commands.remove(str(repo.path), str(path), force=True)
    assert worktree_commands.entry_names(f"{repo.path}/.git") == []


def test_git_numbers_a_name_that_it_has_already(repo: TemporaryRepo) -> None:
    repo.add_worktree("ada")
    other = str(repo.path.parent / "elsewhere" / "ada")
    commit = repo.git("rev-parse", "HEAD")
    assert worktree_commands.add(str(repo.path), other, branch="second", commit=commit, is_new=True) == "ada1"


def test_changed_staged_renamed_and_new_files_count_once_each(repo: TemporaryRepo) -> None:
    repo.commit("Add", {name: f"{name}\n" * 9 for name in ("a", "b", "R c")})
    (repo.path / "a").write_text("changed")
    repo.git("mv", "R c", "C d")
    (repo.path / "new").mkdir()
    (repo.path / "new" / "x").write_text("")
    assert worktree_commands.count_changes(str(repo.path)) == 4  # a, R c, C d, new/


# -- ignored files ----------------------------------------------------------------------------


@pytest.fixture
def full(repo: TemporaryRepo) -> str:
    repo.commit("Ignore", {".gitignore": "node_modules/\n.env\n.env.*\n*.log\n/cache\n", "src/a.py": "x\n"})
    for name in (
        ".env",
        ".env.local",
        "apps/web/.env",
        "src/x.log",
        "node_modules/.cache/deep/f",
        "cache/1",
        "new",
    ):
        (repo.path / name).parent.mkdir(parents=True, exist_ok=True)
        (repo.path / name).write_text("x")
    (repo.path / ".env.shared").write_text("x")
    repo.git("add", "--force", ".env.shared")
    repo.git("commit", "--quiet", "--message=Tracked although ignored")
    return str(repo.path)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (".env", [".env"]),
        (".env.*", [".env.local"]),
        ("**/.env", [".env", "apps/web/.env"]),
        ("node_modules", ["node_modules"]),
        ("node_modules/", ["node_modules"]),
        ("node_modules/.cache", ["node_modules/.cache"]),
        ("node_modules/.cache/*", ["node_modules/.cache/deep"]),
        ("cache/**", ["cache"]),
        ("src/*.log", ["src/x.log"]),
        ("src", []),
        ("src/a.py", []),
        ("new", []),
        ("apps", []),
        ("not/there/*", []),
        ("*", [".env", ".env.local", "cache", "node_modules"]),
    ],
)
def test_a_pattern_finds_what_git_ignores_and_nothing_else(full: str, pattern: str, found: list[str]) -> None:
    assert worktree_commands.ignored_matches(full, [pattern]) == found


def test_git_is_not_asked_when_no_name_fits(full: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worktree_commands, "git", None)
    assert worktree_commands.ignored_matches(full, [".secrets", "nowhere/*.key"]) == []


# -- sizes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3, 4])
def test_the_size_of_a_checkout_is_read_from_the_index(repo: TemporaryRepo, version: int) -> None:
    names = ["a", "ab/" + "d" * 200, "long/" + "x" * 90 + "/é"]
    repo.commit("Add", dict.fromkeys(names, "y" * 5000))
    if version == 3:
        repo.git("update-index", "--skip-worktree", "a")  # an extended flag needs version 3
    else:
        repo.git("update-index", "--index-version", str(version))
    assert (repo.path / ".git/index").read_bytes()[7] == version
    assert worktree_commands.checked_out_bytes(f"{repo.path}/.git") == 3 * 8_192 + 4_096


def test_an_index_that_is_not_there_or_not_one_gives_no_estimate(tmp_path: Path) -> None:
    assert worktree_commands.checked_out_bytes(str(tmp_path)) == 0
    (tmp_path / "index").write_bytes(b"DIRC\0\0\0\x02\0\0\0\x09short")
    assert worktree_commands.checked_out_bytes(str(tmp_path)) == 0


# -- branches ---------------------------------------------------------------------------------


def test_a_commit_is_found_by_branch_remote_tag_and_id(repo: TemporaryRepo) -> None:
    commit, common, cwd = repo.git("rev-parse", "HEAD"), f"{repo.path}/.git", str(repo.path)
    repo.git("update-ref", "refs/remotes/origin/main", commit)
    repo.git("tag", "--annotate", "--message=x", "v1")
    for name in ("main", "origin/main", "v1", commit, commit[:10], "HEAD"):
        assert branches.commit_of(common, cwd, name) == commit, name
    repo.git("pack-refs", "--all")
    assert branches.commit_of(common, cwd, "main") == commit
    for name in ("nope", "1" * 40, "main~9", "--help", "../HEAD", ""):
        assert branches.commit_of(common, cwd, name) == "", name


def test_branches_near_are_those_a_new_one_could_meet(repo: TemporaryRepo) -> None:
    for name in ("a/b/c", "a/x", "B", "other/deep/y"):
        repo.git("branch", name)
    common, cwd = f"{repo.path}/.git", str(repo.path)
    assert branches.branches_near(common, cwd, "A/b") == ["B", "a/b/c", "a/x", "main"]
    repo.git("pack-refs", "--all")
    assert set(branches.branches_near(common, cwd, "a")) >= {"a/b/c", "a/x", "B", "main"}


def test_the_worktree_of_a_branch_is_known(repo: TemporaryRepo) -> None:
    path = repo.add_worktree("feature", branch="feat/x")
    found = branches.checked_out(f"{repo.path}/.git", str(repo.path))
    assert found == {"main": str(repo.path), "feat/x": str(path)}


def test_commits_on_no_branch_are_counted(repo: TemporaryRepo) -> None:
    path = repo.add_worktree("feature")
    repo.git("switch", "--quiet", "--detach", at=path)
    assert branches.count_loose_commits(str(path)) == 0
    repo.commit("Loose", {"b": ""}, at=path)
    assert branches.count_loose_commits(str(path)) == 1
    assert branches.count_between(str(path), "main", "HEAD") == (0, 1)
    assert branches.count_between(str(path), "nope", "HEAD") is None


def test_a_branch_that_moved_is_not_deleted(repo: TemporaryRepo) -> None:
    old = repo.git("rev-parse", "HEAD")
    new = repo.commit("Next", {"b": ""})
    repo.git("branch", "feat")
    assert branches.is_merged(str(repo.path), old, new)
    assert not branches.is_merged(str(repo.path), new, old)
    with pytest.raises(GitFailed):
        branches.delete_branch(str(repo.path), "feat", old)
    branches.delete_branch(str(repo.path), "feat", new)
    assert repo.git("branch", "--list", "feat") == ""


def test_a_submodule_that_is_checked_out_counts_as_a_change(repo: TemporaryRepo, tmp_path: Path) -> None:
    """Only git inside it could tell whether it is clean, by settings that an agent can write."""
    other = TemporaryRepo.create(tmp_path / "other", repo.environment)
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.path), "sub")
    repo.git("commit", "--quiet", "--message=Add")
    assert worktree_commands.count_changes(str(repo.path)) == 1
    assert not worktree_commands.has_changes(str(repo.path))
    repo.git("submodule", "--quiet", "deinit", "sub")
    assert worktree_commands.count_changes(str(repo.path)) == 0
