"""A branch is brought up to main with its files; what does not fit, and what is in the way, is left alone."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from lineclear.app.ports import Caller
from lineclear.core.queue.landing_results import Landed
from lineclear.core.worktrees.syncing import Synced
from lineclear.git import branch_moves
from lineclear.git.landing import LandingLock
from lineclear.wiring.repo import open_repo
from lineclear.wiring.sync import sync_in
from lineclear.wiring.worktrees import worktrees_in
from tests.landings import Team, land, open_team
from tests.repository import TemporaryRepo
from tests.syncs import BASE, leftovers, refusal_of, state_of, sync


@pytest.fixture
def team(repo: TemporaryRepo, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    """ada and ben have begun at the same commit."""
    monkeypatch.setattr(branch_moves, "INDEX_WAIT_S", 0.2)
    repo.commit("Base", BASE)
    repo.add_worktree("ada")
    repo.add_worktree("ben")
    with open_team(repo) as team:
        yield team


def synced(team: Team, agent: str = "ada") -> Synced:
    result = sync(team, agent)
    assert isinstance(result, Synced), result.conflicts
    assert leftovers(team.git, team.tree_of(agent)) == []
    return result


def land_work(team: Team, agent: str, files: dict[str, str], title: str = "") -> int:
    """The agent's commit, landed on main; for a task when a title is given."""
    number = team.task(title, agent) if title else 0
    team.work(agent, files)
    assert isinstance(land(team.repo, Caller(agent, tree=agent), task=number, branch=agent), Landed)
    return number


def unchanged(team: Team, *, keep: bool = False, code: str, agent: str = "ada") -> dict[str, object]:
    """The sync is refused with this code, and everything is as it was."""
    before = state_of(team.git, team.tree_of(agent))
    refusal = refusal_of(lambda: sync(team, agent, keep=keep))
    assert refusal.code == code, refusal
    assert state_of(team.git, team.tree_of(agent)) == before
    assert leftovers(team.git, team.tree_of(agent)) == []
    return refusal.as_data()


# -- what fits ------------------------------------------------------------------------------------


def test_a_branch_that_holds_main_is_up_to_date(team: Team) -> None:
    team.work("ada", {"b.txt": "mine\n"})
    before = state_of(team.git, team.tree_of("ada"))
    assert synced(team).how == "up to date"
    assert state_of(team.git, team.tree_of("ada")) == before


def test_a_clean_sync_is_one_merge_commit_with_its_files(team: Team) -> None:
    tip_before = team.git.git("rev-parse", team.work("ada", {"login.py": BASE["login.py"] + "# mine\n"}))
    land_work(team, "ben", {"a.txt": "ONE\n", "new/deep.txt": "n\n"})
    team.git.git("rm", "-q", "gone.txt")
    team.git.git("commit", "-qm", "Remove")
    result = synced(team)
    place = team.tree_of("ada")
    assert (result.how, result.files) == ("merge", ["a.txt", "gone.txt", "new/deep.txt"])
    assert team.git.git("rev-parse", "ada") == result.commit
    assert team.git.git("show", "-s", "--format=%P", "ada").split() == [tip_before, team.main]
    assert team.git.git("status", "--porcelain", at=place) == ""
    assert (place / "a.txt").read_text() == "ONE\n"
    assert not (place / "gone.txt").exists()
    assert synced(team).how == "up to date"


def test_a_branch_without_work_of_its_own_is_moved_along(team: Team) -> None:
    land_work(team, "ben", {"a.txt": "ONE\n"})
    assert synced(team).how == "fast-forward"
    assert team.git.git("rev-parse", "ada") == team.main


def test_both_sides_of_one_place_are_merged_by_structure(team: Team) -> None:
    """Git alone reports a conflict here; the branch then lands without another merge of it."""
    imports = "import os\n\n\ndef main() -> None:\n    os.getcwd()\n"
    team.git.commit("Program", {"app.py": imports})
    synced(team)
    synced(team, "ben")
    land_work(team, "ben", {"app.py": imports.replace("import os\n", "import os\nimport sys\n")})
    team.work("ada", {"app.py": imports.replace("import os\n", "import os\nimport re\n")})
    assert synced(team).how == "merge"
    text = (team.tree_of("ada") / "app.py").read_text()
    assert "import re\n" in text
    assert "import sys\n" in text
    assert isinstance(land(team.repo, team.person, branch="ada"), Landed)
    assert team.file("app.py") == text


def test_a_migration_of_the_branch_gets_the_next_number_not_that_of_main(team: Team) -> None:
    team.git.commit("Begin", {"db/migrations/0001_begin.sql": "CREATE TABLE a (id int);\n"})
    synced(team)
    synced(team, "ben")
    land_work(team, "ben", {"db/migrations/0002_b.sql": "CREATE TABLE b (id int);\n"})
    team.work("ada", {"db/migrations/0002_c.sql": "CREATE TABLE c (id int);\n"})
    synced(team)
    names = sorted(os.listdir(team.tree_of("ada") / "db/migrations"))
    assert names == ["0001_begin.sql", "0002_b.sql", "0003_c.sql"]
    assert team.git.git("diff", "--name-status", "main...ada") == "A\tdb/migrations/0003_c.sql"


def test_the_merge_commit_names_task_and_agent(team: Team) -> None:
    number = team.task("Count logins", "ada")
    team.work("ada", {"b.txt": "mine\n"})
    team.git.commit("Meanwhile", {"a.txt": "ONE\n"})
    sync(team, task=number)
    said = team.git.git("show", "-s", "--format=%B", "ada")
    assert said.rstrip() == "Sync T-1: Count logins\n\nTask: T-1\nAgent: ada"


def test_a_main_that_an_agent_moved_itself_is_not_built_upon(team: Team) -> None:
    team.work("ada", {"b.txt": "mine\n"})
    good = team.git.commit("Meanwhile", {"a.txt": "ONE\n"})
    stray = team.work("ben", {"evil.txt": "e\n"})
    team.git.git("update-ref", "-m", "lineclear:ben: commit", "refs/heads/main", stray)
    team.git.git("reset", "-q", "--hard")
    synced(team)
    assert team.git.git("show", "-s", "--format=%P", "ada").split()[1] == good
    assert not (team.tree_of("ada") / "evil.txt").exists()


def test_being_moved_along_does_not_make_an_agent_the_one_who_moved_main(team: Team) -> None:
    """A person's `update-ref` leaves no word in main's log; whose commit it was is then guessed."""
    worktrees_in(team.repo).adopt(team.person, str(team.tree_of("ada")), agent="ada")
    tree = team.git.git("rev-parse", "HEAD^{tree}")
    new = team.git.git("commit-tree", tree, "-p", "main", "-m", "By hand")
    team.git.git("update-ref", "refs/heads/main", new, at=team.tree_of("ben"))
    assert synced(team).how == "fast-forward"
    team.work("ben", {"b.txt": "b2\n"})
    land(team.repo, team.person, branch="ben")
    assert team.git.git("merge-base", "main", new) == new


# -- work that is not committed -------------------------------------------------------------------


def test_uncommitted_work_that_is_not_in_the_way_stays_as_it_is(team: Team) -> None:
    land_work(team, "ben", {"a.txt": "ONE\n"})
    place = team.tree_of("ada")
    team.work("ada", {"login.py": BASE["login.py"] + "# mine\n"})
    (place / "b.txt").write_text("changed\n")
    (place / "notes.txt").write_text("untracked\n")
    (place / "staged.txt").write_text("staged\n")
    team.git.git("add", "staged.txt", at=place)
    synced(team)
    assert set(team.git.git("status", "--porcelain", at=place).split("\n")) == {
        " M b.txt",
        "A  staged.txt",
        "?? notes.txt",
    }
    assert (place / "a.txt").read_text() == "ONE\n"


@pytest.mark.parametrize("how", ["changed", "staged", "deleted", "untracked", "ignored"])
@pytest.mark.parametrize("keep", [False, True], ids=["plain", "keep"])
def test_uncommitted_work_that_overlaps_is_refused_with_the_list(team: Team, how: str, keep: bool) -> None:
    land_work(team, "ben", {"a.txt": "ONE\n", "new.txt": "n\n"})
    place = team.tree_of("ada")
    team.work("ada", {"b.txt": "mine\n", ".gitignore": "new.txt\n" if how == "ignored" else "\n"})
    name = "new.txt" if how in ("untracked", "ignored") else "a.txt"
    if how == "deleted":
        (place / name).unlink()
    else:
        (place / name).write_text("my own\n")
    if how == "staged":
        team.git.git("add", name, at=place)
    assert unchanged(team, code="sync.overlaps", keep=keep)["files"] == [name]


@pytest.mark.parametrize("step", ["merge", "rebase", "cherry-pick"])
def test_what_is_in_progress_is_left_alone(team: Team, step: str) -> None:
    land_work(team, "ben", {"a.txt": "ONE\n"})
    team.work("ada", {"a.txt": "mine\n"})
    place = team.tree_of("ada")
    words = {"merge": ["merge", "main"], "rebase": ["rebase", "main"], "cherry-pick": ["cherry-pick", "ben"]}
    with pytest.raises(AssertionError, match="exited 1"):
        team.git.git(*words[step], at=place)
    refusal = refusal_of(lambda: sync(team))
    assert (refusal.code, refusal.facts["step"]) == ("sync.in_progress", f"a {step}")


def test_a_tree_without_a_branch_is_refusal_of(team: Team) -> None:
    team.git.git("checkout", "-q", "--detach", at=team.tree_of("ada"))
    assert refusal_of(lambda: sync(team)).code == "land.detached"


def test_main_itself_is_refusal_of(team: Team) -> None:
    assert refusal_of(lambda: sync_in(team.repo, team.person).sync()).code == "sync.main"


def test_a_branch_with_another_beginning_is_refusal_of(team: Team) -> None:
    team.git.git("checkout", "-q", "--orphan", "apart", at=team.tree_of("ada"))
    team.git.git("commit", "-qm", "Apart", at=team.tree_of("ada"))
    assert refusal_of(lambda: sync(team)).code == "land.unrelated"


def test_a_branch_without_a_commit_is_refusal_of(team: Team) -> None:
    team.git.git("checkout", "-q", "--orphan", "apart", at=team.tree_of("ada"))
    assert refusal_of(lambda: sync(team)).code == "branch.unknown"


def test_a_branch_that_is_checked_out_twice_is_refusal_of(team: Team) -> None:
    team.git.commit("Meanwhile", {"a.txt": "ONE\n"})
    team.git.git("checkout", "-q", "--ignore-other-worktrees", "ada", at=team.tree_of("ben"))
    assert "checked out in" in str(unchanged(team, code="sync.blocked")["why"])


def test_an_index_that_another_git_holds_is_refusal_of(team: Team) -> None:
    team.git.commit("Meanwhile", {"a.txt": "ONE\n"})
    lock = team.git.path / ".git/worktrees/ada/index.lock"
    lock.touch()
    before = state_of(team.git, team.tree_of("ada"))
    assert refusal_of(lambda: sync(team)).code == "sync.blocked"
    lock.unlink()
    assert state_of(team.git, team.tree_of("ada")) == before


def test_a_second_sync_at_the_same_time_is_refusal_of(team: Team) -> None:
    lock = LandingLock(team.repo.state_directory, "sync-ada.lock")
    assert lock.take(0)
    repo = open_repo(str(team.tree_of("ada")), team.git.environment)
    assert refusal_of(lambda: sync_in(repo, team.person).sync(wait_s=0.1)).code == "sync.busy"
    lock.free()
    repo.close()


def test_a_landing_at_the_same_time_is_not_waited_for(team: Team) -> None:
    lock = LandingLock(team.repo.state_directory)
    assert lock.take(0)
    team.git.commit("Meanwhile", {"a.txt": "ONE\n"})
    synced(team)
    lock.free()


# -- whose worktree it is -------------------------------------------------------------------------


def test_another_agent_may_not_sync_it_and_a_person_may(team: Team) -> None:
    worktrees_in(team.repo).adopt(team.person, str(team.tree_of("ada")), agent="ada")
    team.git.commit("Meanwhile", {"a.txt": "ONE\n"})
    repo = open_repo(str(team.tree_of("ada")), team.git.environment)
    refusal = refusal_of(lambda: sync_in(repo, Caller("ben", tree="ada")).sync())
    assert (refusal.code, refusal.facts["holder"]) == ("worktree.not_yours", "ada")
    assert isinstance(sync_in(repo, Caller("ada/helper", tree="ada")).sync(), Synced)
    team.git.commit("Again", {"a.txt": "TWO\n"})
    assert isinstance(sync_in(repo, team.person).sync(), Synced)
    repo.close()


def test_a_task_that_is_not_there_is_refusal_of(team: Team) -> None:
    assert refusal_of(lambda: sync(team, task=9)).code == "task.unknown"


# -- checkouts of a particular kind ---------------------------------------------------------------


def test_a_sparse_checkout_stays_sparse(team: Team) -> None:
    team.git.commit("Folders", {"in/a.txt": "a\n", "out/a.txt": "a\n"})
    synced(team)
    place = team.tree_of("ada")
    team.git.git("sparse-checkout", "set", "in", at=place)
    team.git.commit("Meanwhile", {"in/a.txt": "A\n", "out/a.txt": "A\n", "out/new.txt": "n\n"})
    team.work("ada", {"in/b.txt": "mine\n"})
    synced(team)
    assert (place / "in/a.txt").read_text() == "A\n"
    assert not (place / "out").exists()
    assert team.git.git("status", "--porcelain", at=place) == ""
    assert team.git.git("show", "ada:out/a.txt") == "A"


def test_a_submodule_that_main_moved_comes_along(team: Team) -> None:
    first, second = (team.git.git("rev-parse", name) for name in ("main~1", "main"))
    team.git.git("update-index", "--add", "--cacheinfo", f"160000,{first},lib")
    team.git.git("commit", "-qm", "With a library")
    synced(team)
    team.git.git("update-index", "--cacheinfo", f"160000,{second},lib")
    team.git.git("commit", "-qm", "A newer library")
    team.work("ada", {"b.txt": "mine\n"})
    synced(team)
    assert team.git.git("rev-parse", "ada:lib") == second
    assert team.git.git("status", "--porcelain", at=team.tree_of("ada")) == ""


def test_names_that_are_one_file_on_this_disk_are_refused(team: Team) -> None:
    team.git.git("config", "core.ignorecase", "true")
    team.work("ada", {"Notes.txt": "mine\n"})
    team.git.commit("Meanwhile", {"notes.txt": "theirs\n"})
    assert unchanged(team, code="sync.case")["name"] == "notes.txt"
