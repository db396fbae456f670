"""Where a repository's parts are, compared with what git itself says."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from lineclear.core.words.refusals import Refusal
from lineclear.git import layout as layouts
from lineclear.git.layout import Layout, find_layout
from tests.repository import TemporaryRepo


def parts(layout: Layout) -> tuple[str, str, str]:
    return layout.worktree, layout.git_dir, layout.common_dir


def as_git_sees_it(repo: TemporaryRepo, at: Path) -> tuple[str, str, str]:
    answer = repo.git(
        "rev-parse",
        "--path-format=absolute",
        "--show-toplevel",
        "--absolute-git-dir",
        "--git-common-dir",
        at=at,
    )
    top, git_dir, common_dir = answer.split("\n")
    return os.path.realpath(top), os.path.realpath(git_dir), os.path.realpath(common_dir)


def add_submodule(repo: TemporaryRepo, name: str) -> Path:
    other = TemporaryRepo.create(repo.path.parent / f"{name}-origin", repo.environment)
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.path), name)
    return repo.path / name


def test_the_main_worktree(repo: TemporaryRepo) -> None:
    layout = find_layout(str(repo.path), {})
    assert parts(layout) == as_git_sees_it(repo, repo.path)
    assert (layout.is_main, layout.tree) == (True, "main")


def test_a_directory_inside_it(repo: TemporaryRepo) -> None:
    (repo.path / "a" / "b").mkdir(parents=True)
    assert parts(find_layout(str(repo.path / "a" / "b"), {})) == as_git_sees_it(repo, repo.path)


def test_a_linked_worktree(repo: TemporaryRepo) -> None:
    tree = repo.add_worktree("codex-1")
    (tree / "a").mkdir()
    layout = find_layout(str(tree / "a"), {})
    assert parts(layout) == as_git_sees_it(repo, tree)
    assert (layout.is_main, layout.tree) == (False, "codex-1")


def test_worktrees_of_one_base_name_have_different_names(repo: TemporaryRepo) -> None:
    for parent in ("one", "two"):
        repo.git("worktree", "add", "--quiet", "-b", parent, str(repo.path.parent / parent / "tree"))
    names = [find_layout(str(repo.path.parent / parent / "tree"), {}).tree for parent in ("one", "two")]
    assert len(set(names)) == 2
    assert {name for name, _ in layouts.worktrees(str(repo.path / ".git"))} == {"main", *names}


def test_a_worktree_inside_another(repo: TemporaryRepo) -> None:
    repo.git("worktree", "add", "--quiet", "-b", "inner", str(repo.path / "trees" / "inner"))
    layout = find_layout(str(repo.path / "trees" / "inner"), {})
    assert parts(layout) == as_git_sees_it(repo, repo.path / "trees" / "inner")
    assert layout.tree == "inner"


def test_a_worktree_with_relative_links(repo: TemporaryRepo) -> None:
    tree = repo.add_worktree("codex-1")
    entry = repo.path / ".git" / "worktrees" / "codex-1"
    (tree / ".git").write_text(f"gitdir: {os.path.relpath(entry, tree)}\n")
    (entry / "gitdir").write_text(f"{os.path.relpath(tree / '.git', entry)}\n")
    assert parts(find_layout(str(tree), {})) == as_git_sees_it(repo, tree)
    assert ("codex-1", str(tree)) in layouts.worktrees(str(repo.path / ".git"))


def test_a_submodule_is_a_repository_of_its_own(repo: TemporaryRepo) -> None:
    sub = add_submodule(repo, "sub")
    layout = find_layout(str(sub), {})
    assert parts(layout) == as_git_sees_it(repo, sub)
    assert (layout.is_main, layout.tree) == (True, "main")
    assert layouts.worktrees(layout.common_dir) == [("main", str(sub))]


def test_a_git_directory_kept_elsewhere(repo: TemporaryRepo) -> None:
    elsewhere = repo.path.parent / "elsewhere"
    repo.git("init", "--quiet", f"--separate-git-dir={elsewhere}")
    assert parts(find_layout(str(repo.path), {})) == as_git_sees_it(repo, repo.path)


def test_a_git_directory_that_is_a_symlink(repo: TemporaryRepo) -> None:
    (repo.path / ".git").rename(repo.path.parent / "store")
    (repo.path / ".git").symlink_to("../store")
    assert parts(find_layout(str(repo.path), {})) == as_git_sees_it(repo, repo.path)


def test_a_symlink_to_the_repository(repo: TemporaryRepo) -> None:
    (repo.path / "a").mkdir()
    link = repo.path.parent / "link"
    link.symlink_to(repo.path)
    assert parts(find_layout(str(link / "a"), {})) == as_git_sees_it(repo, repo.path)


@pytest.mark.parametrize("inside", ["", "hooks", "refs/heads"])
def test_inside_the_git_directory_the_worktree_is_still_known(repo: TemporaryRepo, inside: str) -> None:
    assert parts(find_layout(str(repo.path / ".git" / inside), {})) == as_git_sees_it(repo, repo.path)


def test_inside_a_linked_git_directory_too(repo: TemporaryRepo) -> None:
    tree = repo.add_worktree("codex-1")
    inside = repo.path / ".git" / "worktrees" / "codex-1"
    assert parts(find_layout(str(inside), {})) == as_git_sees_it(repo, tree)


def test_inside_a_submodules_git_directory_too(repo: TemporaryRepo) -> None:
    sub = add_submodule(repo, "sub")
    assert parts(find_layout(str(repo.path / ".git" / "modules" / "sub"), {})) == as_git_sees_it(repo, sub)


def test_an_empty_git_directory_is_passed_over_as_git_does(repo: TemporaryRepo) -> None:
    (repo.path / "a" / ".git").mkdir(parents=True)
    assert find_layout(str(repo.path / "a"), {}).worktree == str(repo.path)


# -- the environment --------------------------------------------------------------------------


def test_git_dir_in_the_environment_counts(repo: TemporaryRepo, tmp_path: Path) -> None:
    tree = repo.add_worktree("codex-1")
    entry = str(repo.path / ".git" / "worktrees" / "codex-1")
    assert parts(find_layout(str(tree), {"GIT_DIR": entry})) == as_git_sees_it(repo, tree)
    assert parts(find_layout(str(tree), {"GIT_DIR": ".git"})) == as_git_sees_it(repo, tree)
    assert parts(find_layout(str(repo.path), {"GIT_DIR": ".git"})) == as_git_sees_it(repo, repo.path)


def test_a_hook_that_changes_directory_stays_in_its_worktree(repo: TemporaryRepo) -> None:
    (repo.path / "a").mkdir()
    environment = {"GIT_DIR": str(repo.path / ".git")}
    assert find_layout(str(repo.path / "a"), environment).worktree == str(repo.path)


def test_git_dir_alone_makes_a_foreign_directory_the_worktree(repo: TemporaryRepo, tmp_path: Path) -> None:
    (tmp_path / "foreign").mkdir()
    layout = find_layout(str(tmp_path / "foreign"), {"GIT_DIR": str(repo.path / ".git")})
    assert layout.worktree == str(tmp_path / "foreign")
    assert layout.common_dir == str(repo.path / ".git")


def test_git_work_tree_in_the_environment_counts(repo: TemporaryRepo, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    environment = {"GIT_DIR": str(repo.path / ".git"), "GIT_WORK_TREE": "tree"}
    assert find_layout(str(tmp_path), environment).worktree == str(tmp_path / "tree")


def test_git_common_dir_in_the_environment_counts(repo: TemporaryRepo) -> None:
    tree = repo.add_worktree("codex-1")
    entry = repo.path / ".git" / "worktrees" / "codex-1"
    environment = {"GIT_DIR": str(entry), "GIT_COMMON_DIR": "../../repo/.git"}
    assert find_layout(str(tree), environment).common_dir == str(repo.path / ".git")


def test_git_dir_that_is_none_is_refused(repo: TemporaryRepo, tmp_path: Path) -> None:
    with pytest.raises(Refusal) as caught:
        find_layout(str(repo.path), {"GIT_DIR": str(tmp_path / "home")})
    assert caught.value.code == "repo.none"


def test_an_empty_variable_does_not_count(repo: TemporaryRepo) -> None:
    assert find_layout(str(repo.path), {"GIT_DIR": "", "GIT_WORK_TREE": ""}).worktree == str(repo.path)


# -- refusals ---------------------------------------------------------------------------------


def test_outside_a_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal) as caught:
        find_layout(str(tmp_path), {})
    assert (caught.value.code, caught.value.exit_code) == ("repo.none", 5)


@pytest.mark.parametrize("inside", ["", "refs/heads"])
def test_a_bare_repository_is_refused(repo: TemporaryRepo, inside: str) -> None:
    bare = repo.path.parent / "bare.git"
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(bare))
    for place, environment in ((bare / inside, {}), (repo.path, {"GIT_DIR": str(bare)})):
        with pytest.raises(Refusal) as caught:
            find_layout(str(place), environment)
        assert (caught.value.code, caught.value.exit_code) == ("repo.bare", 4)


def test_a_bare_repository_in_a_dot_git_directory_is_refused(repo: TemporaryRepo) -> None:
    repo.git("config", "core.bare", "true")
    with pytest.raises(Refusal) as caught:
        find_layout(str(repo.path), {})
    assert caught.value.code == "repo.bare"


def test_what_is_configured_for_the_main_worktree_alone_counts_there_alone(repo: TemporaryRepo) -> None:
    tree = repo.add_worktree("codex-1")
    repo.git("config", "extensions.worktreeConfig", "true")
    repo.git("config", "--unset", "core.bare")
    repo.git("config", "--worktree", "core.bare", "true")
    with pytest.raises(Refusal) as caught:
        find_layout(str(repo.path), {})
    assert caught.value.code == "repo.bare"
    assert parts(find_layout(str(tree), {})) == as_git_sees_it(repo, tree)


def test_a_worktree_of_a_bare_repository_is_fine(repo: TemporaryRepo) -> None:
    bare, tree = repo.path.parent / "bare.git", repo.path.parent / "tree"
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(bare))
    repo.git("worktree", "add", "--quiet", "-b", "work", str(tree), at=bare)
    layout = find_layout(str(tree), {})
    assert parts(layout) == as_git_sees_it(repo, tree)
    assert (layout.is_main, layout.tree) == (False, "tree")
    assert layouts.worktrees(layout.common_dir) == [("tree", str(tree))]


def test_a_worktree_whose_repository_is_gone_is_refused(repo: TemporaryRepo) -> None:
    tree = repo.add_worktree("codex-1")
    shutil.rmtree(repo.path)
    with pytest.raises(Refusal) as caught:
        find_layout(str(tree), {})
    assert caught.value.code == "repo.broken_link"
    assert caught.value.facts["target"] == str(repo.path / ".git" / "worktrees" / "codex-1")


@pytest.mark.parametrize("text", [b"", b"nonsense", b"gitdir:", b"\xff\xfe", b"gitdir: \0"])
def test_a_git_file_that_says_nothing_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / ".git").write_bytes(text)
    with pytest.raises(Refusal) as caught:
        find_layout(str(tmp_path), {})
    assert caught.value.code == "repo.broken_link"


# -- what the repository says of itself -------------------------------------------------------


def test_all_worktrees_that_are_there_are_listed(repo: TemporaryRepo) -> None:
    one, two = repo.add_worktree("one"), repo.add_worktree("two")
    repo.add_worktree("gone")
    shutil.rmtree(repo.path.parent / "repo.worktrees" / "gone")
    found = layouts.worktrees(str(repo.path / ".git"))
    assert found == [("main", str(repo.path)), ("one", str(one)), ("two", str(two))]


def test_another_repository_in_the_place_of_a_worktree_is_not_listed(repo: TemporaryRepo) -> None:
    tree = repo.add_worktree("one")
    shutil.rmtree(tree)
    TemporaryRepo.create(tree, repo.environment)
    assert [name for name, _ in layouts.worktrees(str(repo.path / ".git"))] == ["main"]


def test_case_is_ignored_where_git_says_so(repo: TemporaryRepo) -> None:
    common_dir = str(repo.path / ".git")
    repo.git("config", "core.ignorecase", "false")
    assert not layouts.ignores_case(common_dir)
    repo.git("config", "core.ignorecase", "true")
    assert layouts.ignores_case(common_dir)


def test_the_branch_of_each_worktree(repo: TemporaryRepo) -> None:
    tree = repo.add_worktree("codex-1", branch="agents/codex-1")
    assert layouts.head_branch(find_layout(str(repo.path), {}).git_dir) == "main"
    assert layouts.head_branch(find_layout(str(tree), {}).git_dir) == "agents/codex-1"
    repo.git("checkout", "--quiet", "--detach", at=tree)
    assert layouts.head_branch(find_layout(str(tree), {}).git_dir) is None


def test_a_repository_without_commit_is_fine_and_says_so(repo: TemporaryRepo, tmp_path: Path) -> None:
    repo.git("init", "--quiet", "--initial-branch=main", str(tmp_path / "new"))
    layout = find_layout(str(tmp_path / "new"), {})
    assert layouts.head_branch(layout.git_dir) == "main"
    assert not layouts.has_commit(layout.common_dir, layout.git_dir)
    assert layouts.landing_branch(layout.common_dir) is None


@pytest.mark.parametrize("pack", [False, True])
def test_a_commit_is_found_loose_packed_and_detached(repo: TemporaryRepo, pack: bool) -> None:
    tree = repo.add_worktree("codex-1")
    repo.git("checkout", "--quiet", "--detach", at=tree)
    if pack:
        repo.git("pack-refs", "--all")
    for place in (repo.path, tree):
        layout = find_layout(str(place), {})
        assert layouts.has_commit(layout.common_dir, layout.git_dir)


@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize(("branch", "landing"), [("main", "main"), ("master", "master"), ("trunk", None)])
def test_the_landing_branch_is_main_or_master(
    repo: TemporaryRepo, pack: bool, branch: str, landing: str | None
) -> None:
    repo.git("branch", "--move", branch)
    if pack:
        repo.git("pack-refs", "--all")
    assert layouts.landing_branch(str(repo.path / ".git")) == landing


def test_the_remotes_default_comes_before_main(repo: TemporaryRepo) -> None:
    repo.git("branch", "release/next")
    repo.git("symbolic-ref", "HEAD", "refs/heads/release/next")
    clone = repo.path.parent / "clone"
    repo.git("clone", "--quiet", str(repo.path), str(clone))
    repo.git("branch", "main", at=clone)
    assert layouts.landing_branch(str(clone / ".git")) == "release/next"


def test_a_reftable_is_left_to_git(repo: TemporaryRepo) -> None:
    (repo.path / ".git" / "reftable").mkdir()
    (repo.path / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n")
    common_dir = str(repo.path / ".git")
    assert layouts.head_branch(common_dir) is None
    assert layouts.landing_branch(common_dir) is None
    assert layouts.has_commit(common_dir, common_dir)
