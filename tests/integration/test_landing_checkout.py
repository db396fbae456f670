"""A main that somebody has checked out moves with its files; nothing of theirs is lost or reverted."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from lineclear.core.queue.landing_results import Landed, NeedsYou
from lineclear.git import branch_moves as checkouts
from lineclear.git.branch_moves import Mover
from tests.landings import Team, land, open_team
from tests.repository import TemporaryRepo


@pytest.fixture
def team(repo: TemporaryRepo, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    monkeypatch.setattr(checkouts, "INDEX_WAIT_S", 0.2)
    repo.commit("Base", {"a.txt": "one\ntwo\n", "b.txt": "b\n", "gone.txt": "x\n"})
    with open_team(repo) as team:
        yield team


def needs_you(team: Team, branch: str = "side") -> NeedsYou:
    """Landing the branch is left to the person; main and its tree are as they were."""
    before, changes = team.main, team.status()
    result = land(team.repo, team.person, branch=branch)
    assert isinstance(result, NeedsYou), result
    assert (team.main, team.status()) == (before, changes)
    assert team.leftovers() == []
    return result


def test_changes_that_are_not_in_the_way_stay_as_they_are(team: Team) -> None:
    team.work("side", {"a.txt": "one\nTWO\n", "new.txt": "n\n"})
    team.write("b.txt", "mine\n")
    team.write("notes.txt", "untracked\n")
    team.write("staged.txt", "staged\n")
    team.git.git("add", "staged.txt")
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert team.status() == [" M b.txt", "A  staged.txt", "?? notes.txt"] or set(team.status()) == {
        " M b.txt",
        "A  staged.txt",
        "?? notes.txt",
    }
    assert team.file("a.txt") == "one\nTWO\n"
    assert team.file("b.txt") == "mine\n"


def test_the_users_next_commit_reverts_nothing_that_landed(team: Team) -> None:
    team.work("side", {"a.txt": "landed\n", "new.txt": "n\n"})
    team.write("b.txt", "mine\n")
    land(team.repo, team.person, branch="side")
    team.git.git("commit", "-qam", "Mine")
    assert team.git.git("show", "--format=", "--name-only", "HEAD") == "b.txt"
    assert team.git.git("show", "HEAD:a.txt") == "landed"


@pytest.mark.parametrize("staged", [False, True], ids=["in the work tree", "in the index"])
def test_changes_that_overlap_need_the_person(team: Team, staged: bool) -> None:
    team.work("side", {"a.txt": "landed\n", "b.txt": "landed too\n"})
    team.write("a.txt", "mine\n")
    if staged:
        team.git.git("add", "a.txt")
    result = needs_you(team)
    assert result.files == ["a.txt"]
    assert "uncommitted" in result.why
    assert team.file("a.txt") == "mine\n"
    assert team.file("b.txt") == "b\n"


def test_a_file_the_user_has_deleted_is_not_brought_back(team: Team) -> None:
    team.work("side", {"a.txt": "landed\n"})
    (team.git.path / "a.txt").unlink()
    assert needs_you(team).files == ["a.txt"]
    assert not (team.git.path / "a.txt").exists()


def test_a_change_of_the_user_that_equals_what_would_land_is_not_undone(team: Team) -> None:
    team.work("side", {"a.txt": "same\n", "b.txt": "same\n"})
    team.write("a.txt", "same\n")
    needs_you(team)
    assert team.file("a.txt") == "same\n"


def test_a_file_that_was_only_touched_is_not_in_the_way(team: Team) -> None:
    team.work("side", {"a.txt": "landed\n"})
    os.utime(team.git.path / "a.txt", (1, 1))
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert team.status() == []


@pytest.mark.parametrize("ignored", [False, True], ids=["untracked", "ignored"])
def test_files_that_git_does_not_track_are_not_overwritten(team: Team, ignored: bool) -> None:
    team.work("side", {"new.txt": "landed\n", "deep/er/x": "landed\n", "other/x": "landed\n"})
    if ignored:
        (team.git.path / ".git/info/exclude").write_text("new.txt\ndeep\nother\n")
    team.write("new.txt", "precious\n")
    team.write("deep/er/x", "precious\n")
    team.write("other", "a file where a directory goes\n")
    result = needs_you(team)
    assert result.files == ["deep/er/x", "new.txt", "other"]
    assert team.file("new.txt") == "precious\n"


def test_an_ignored_directory_where_a_file_goes_is_not_removed(team: Team) -> None:
    team.work("side", {"cache": "a file now\n"})
    (team.git.path / ".git/info/exclude").write_text("cache\n")
    team.write("cache/data", "precious\n")
    assert needs_you(team).files == ["cache/data"]


def test_a_directory_that_becomes_a_file_moves(team: Team) -> None:
    team.git.commit("Directory", {"thing/a": "1\n", "thing/b": "2\n"})
    place = team.git.add_worktree("side")
    team.git.git("rm", "-q", "-r", "thing", at=place)
    team.git.commit("File", {"thing": "file\n"}, at=place)
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert team.file("thing") == "file\n"
    assert team.status() == []


@pytest.mark.parametrize(
    "name", ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"], ids=["merge", "cherry-pick", "revert"]
)
def test_a_step_that_the_user_has_begun_is_left_to_them(team: Team, name: str) -> None:
    team.work("side", {"new.txt": "n\n"})
    (team.git.path / ".git" / name).write_text(team.main + "\n")
    assert "in progress" in needs_you(team).why


def test_a_main_that_is_being_rebased_is_left_alone(team: Team) -> None:
    team.work("side", {"new.txt": "n\n"})
    team.git.git("branch", "onto")
    team.git.commit("Mine", {"a.txt": "mine\n"})
    team.git.git("switch", "-q", "onto")
    team.git.commit("Theirs", {"a.txt": "theirs\n"})
    team.git.git("switch", "-q", "main")
    with pytest.raises(AssertionError, match="could not apply"):
        team.git.git("rebase", "onto")
    assert "rebased" in needs_you(team).why


def test_a_main_that_is_checked_out_twice_is_left_to_the_person(team: Team) -> None:
    team.work("side", {"new.txt": "n\n"})
    second = team.git.path.parent / "second"
    team.git.git("worktree", "add", "-q", "--force", str(second), "main")
    assert "checked out in" in needs_you(team).why


def test_an_index_that_another_git_has_locked_is_waited_for(team: Team) -> None:
    team.work("side", {"a.txt": "landed\n"})
    lock = team.git.path / ".git/index.lock"
    lock.write_text("")
    result = land(team.repo, team.person, branch="side")
    assert isinstance(result, NeedsYou)
    assert "index.lock" in result.why
    assert lock.exists()
    lock.unlink()
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)


def test_a_lock_that_goes_away_soon_does_not_need_the_person(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkouts, "INDEX_WAIT_S", 20.0)
    team.work("side", {"a.txt": "landed\n"})
    lock = team.git.path / ".git/index.lock"
    lock.write_text("")
    real, asked = checkouts._linked, threading.Event()

    def linked(source: str, target: str) -> bool:
        if asked.is_set():
            lock.unlink(missing_ok=True)
        asked.set()
        return real(source, target)

    monkeypatch.setattr(checkouts, "_linked", linked)
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)


def test_main_in_a_linked_worktree_moves_there(team: Team) -> None:
    team.work("side", {"a.txt": "landed\n"})
    team.git.git("switch", "-q", "-c", "elsewhere")
    linked = team.git.path.parent / "linked"
    team.git.git("worktree", "add", "-q", str(linked), "main")
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert (linked / "a.txt").read_text() == "landed\n"
    assert team.git.git("status", "--porcelain", at=linked) == ""
    assert team.status() == []


def test_both_logs_tell_of_the_move(team: Team) -> None:
    team.work("side", {"a.txt": "landed\n"})
    land(team.repo, team.person, branch="side")
    for ref in ("main", "HEAD"):
        assert team.git.git("reflog", "-1", "--format=%gs", ref) == "lineclear: land side"


def test_executables_and_symlinks_arrive_as_such(team: Team) -> None:
    place = team.git.add_worktree("side")
    (place / "run.sh").write_text("#!/bin/sh\n")
    (place / "run.sh").chmod(0o755)
    (place / "link").symlink_to("run.sh")
    team.git.git("add", ".", at=place)
    team.git.git("commit", "-qm", "Tools", at=place)
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert os.access(team.git.path / "run.sh", os.X_OK)
    assert os.readlink(team.git.path / "link") == "run.sh"


def test_odd_names_land(team: Team) -> None:
    names = ["with space", "new\nline", 'quote"d', "-dash", "ünïcode"]
    team.work("side", dict.fromkeys(names, "x\n"))
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert all((team.git.path / name).exists() for name in names)
    assert team.status() == []


@pytest.mark.parametrize(
    "settings",
    [
        ["core.splitIndex=true"],
        ["core.untrackedCache=true"],
        ["index.version=4"],
        ["core.autocrlf=true"],
        ["core.fileMode=false"],
        ["extensions.worktreeConfig=true"],
    ],
    ids=lambda settings: settings[0],
)
def test_landing_keeps_to_the_users_settings(team: Team, settings: list[str]) -> None:
    for setting in settings:
        team.git.git("config", *setting.split("=", 1))
    team.git.git("checkout", "-q", "-f", "HEAD")
    team.git.git("update-index", "--refresh")
    team.work("side", {"a.txt": "landed\n", "sub/new.txt": "n\n"})
    team.write("b.txt", "mine\n")
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert team.status() == [" M b.txt"]
    team.git.git("fsck", "--no-progress")


def test_files_outside_a_sparse_checkout_stay_outside(team: Team) -> None:
    team.git.commit("Parts", {"in/x": "1\n", "out/y": "1\n"})
    team.work("side", {"in/x": "2\n", "out/y": "2\n", "out/z": "2\n"})
    team.git.git("sparse-checkout", "set", "in")
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert team.file("in/x") == "2\n"
    assert not (team.git.path / "out").exists()
    assert team.status() == []


def test_content_goes_through_the_users_filters(team: Team) -> None:
    team.git.git("config", "filter.loud.smudge", "tr a-z A-Z")
    team.git.git("config", "filter.loud.clean", "tr A-Z a-z")
    team.git.commit("Attributes", {".gitattributes": "*.loud filter=loud\n"})
    team.work("side", {"x.loud": "hello\n"})
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert team.file("x.loud") == "HELLO\n"
    assert team.status() == []


@pytest.mark.parametrize("form", ["sha256", "reftable"])
def test_other_formats_of_repositories_land(
    repo: TemporaryRepo, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    option = "--object-format=sha256" if form == "sha256" else "--ref-format=reftable"
    other = TemporaryRepo(repo.path.parent / "other", repo.environment)
    other.path.mkdir()
    try:
        other.git("init", "-q", "-b", "main", option)
    except AssertionError:
        pytest.skip(f"this git has no {option}")
    other.commit("Base", {"a.txt": "1\n", "b.txt": "1\n"})
    with open_team(other) as team:
        team.work("side", {"a.txt": "2\n"})
        other.commit("Mine", {"b.txt": "2\n"})
        assert isinstance(land(team.repo, team.person, branch="side"), Landed)
        assert (team.file("a.txt"), team.status()) == ("2\n", [])


def test_a_move_that_lost_the_race_at_the_last_moment_puts_the_files_back(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ref is moved from elsewhere after our files have changed: the only way past the index lock."""
    team.work("side", {"a.txt": "landed\n", "new/file": "n\n"})
    team.git.git("rm", "-q", "gone.txt", at=team.tree_of("side"))
    team.git.git("commit", "-qm", "Remove", at=team.tree_of("side"))
    empty = team.git.git("commit-tree", "-p", "main", "-m", "Elsewhere", "main^{tree}")
    real = Mover._set_ref
    raced: list[tuple[str, list[str]]] = []

    def late(mover: Mover, old: str, new: str, why: str, cwd: str) -> bool:
        if not raced:
            raced.append((team.file("a.txt"), sorted(os.listdir(team.git.path))))
            team.git.git("update-ref", "refs/heads/main", empty)
        return real(mover, old, new, why, cwd)

    monkeypatch.setattr(Mover, "_set_ref", late)
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert raced[0][0] == "landed\n"
    assert "gone.txt" not in raced[0][1]
    team.git.git("merge-base", "--is-ancestor", empty, "main")
    assert team.status() == []
    assert team.leftovers() == []
