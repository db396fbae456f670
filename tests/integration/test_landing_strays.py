"""An agent that moves main itself is found by the marks it leaves; main is put back, nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lineclear.core.log.events import Draft
from lineclear.core.queue.landing_results import Landed, NeedsYou, Stray
from lineclear.wiring.strays import strays_of
from tests.landings import Team, land, open_team
from tests.repository import TemporaryRepo

AGENT = "claude-1"


@pytest.fixture
def team(repo: TemporaryRepo) -> Iterator[Team]:
    repo.commit("Base", {"a.txt": "one\n", "b.txt": "b\n"})
    with open_team(repo) as team:
        team.work(AGENT, {"mine.txt": "agent\n"})
        path = str(team.tree_of(AGENT))
        made = Draft(
            "WorktreeMade", AGENT, name=AGENT, path=path, branch=AGENT, base="", agent=AGENT, task=0,
            origin="run", port_first=0, port_count=0,
        )  # fmt: skip
        team.repo.store.transact(team.person, lambda tx: tx.append(made))
        yield team


def as_agent(team: Team) -> TemporaryRepo:
    """The agent's own git, with the mark that the supervisor puts into its environment."""
    marked = {**team.git.environment, "GIT_REFLOG_ACTION": f"lineclear:{AGENT}"}
    return TemporaryRepo(team.git.path, marked)


def commit_in_main(team: Team, git: TemporaryRepo) -> None:
    git.commit("Straight to main", {"a.txt": "stray\n"})


def merge_in_main(_team: Team, git: TemporaryRepo) -> None:
    git.git("merge", "-q", "--no-edit", AGENT)


def merge_with_a_commit(_team: Team, git: TemporaryRepo) -> None:
    git.git("merge", "-q", "--no-ff", "-m", "Merge", AGENT)


def rewind(_team: Team, git: TemporaryRepo) -> None:
    git.git("reset", "-q", "--hard", "HEAD~1")


def amend(_team: Team, git: TemporaryRepo) -> None:
    git.git("commit", "-q", "--amend", "-m", "Other words")


def cherry_pick(_team: Team, git: TemporaryRepo) -> None:
    git.git("cherry-pick", AGENT)


def update_ref(team: Team, git: TemporaryRepo) -> None:
    git.git("update-ref", "refs/heads/main", AGENT, at=team.tree_of(AGENT))


WAYS: list[Callable[[Team, TemporaryRepo], None]] = [
    commit_in_main,
    merge_in_main,
    merge_with_a_commit,
    rewind,
    amend,
    cherry_pick,
    update_ref,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_main_that_an_agent_moved_is_put_back_with_its_files(
    team: Team, way: Callable[[Team, TemporaryRepo], None]
) -> None:
    ref, old = strays_of(team.repo).main()
    assert (ref, old) == ("refs/heads/main", team.main)
    way(team, as_agent(team))
    new = team.main
    assert new != old
    assert strays_of(team.repo).find() == Stray(AGENT, old, new)
    kept = strays_of(team.repo).restore(old, new, AGENT)
    assert kept == f"refs/lineclear/strayed/{AGENT}/1"
    assert team.git.git("rev-parse", str(kept)) == new
    assert team.main == old
    assert team.status() == []
    assert (team.file("a.txt"), team.file("b.txt")) == ("one\n", "b\n")
    assert strays_of(team.repo).find() is None
    assert team.leftovers() == []


def test_several_moves_of_one_agent_are_one_stray(team: Team) -> None:
    old = team.main
    for way in (commit_in_main, cherry_pick):
        way(team, as_agent(team))
    stray = strays_of(team.repo).find()
    assert stray is not None
    assert (stray.agent, stray.old, stray.new) == (AGENT, old, team.main)


@pytest.mark.parametrize("way", [*WAYS[:6]], ids=lambda way: way.__name__)
def test_what_a_person_does_to_main_is_theirs(team: Team, way: Callable[[Team, TemporaryRepo], None]) -> None:
    way(team, team.git)
    assert strays_of(team.repo).find() is None


def test_a_person_who_merges_an_agents_branch_by_plumbing_in_their_own_tree_is_a_person(team: Team) -> None:
    team.git.git("update-ref", "refs/heads/main", AGENT)
    assert strays_of(team.repo).find() is None


def test_what_a_person_built_upon_is_left_to_them(team: Team) -> None:
    old = team.main
    commit_in_main(team, as_agent(team))
    between = team.main
    team.git.commit("Mine, on top", {"b.txt": "mine\n"})
    assert strays_of(team.repo).find() is None
    assert isinstance(strays_of(team.repo).restore(old, between, AGENT), NeedsYou)
    assert team.file("a.txt") == "stray\n"


def test_uncommitted_changes_in_the_way_keep_main_where_it_is(team: Team) -> None:
    old = team.main
    commit_in_main(team, as_agent(team))
    new = team.main
    team.write("a.txt", "mine\n")
    result = strays_of(team.repo).restore(old, new, AGENT)
    assert isinstance(result, NeedsYou)
    assert result.files == ["a.txt"]
    assert (team.main, team.file("a.txt")) == (new, "mine\n")


def test_uncommitted_changes_elsewhere_stay(team: Team) -> None:
    old = team.main
    commit_in_main(team, as_agent(team))
    team.write("b.txt", "mine\n")
    assert isinstance(strays_of(team.repo).restore(old, team.main, AGENT), str)
    assert team.status() == [" M b.txt"]


def test_a_landing_builds_on_nothing_that_an_agent_put_on_main(team: Team) -> None:
    old = team.main
    commit_in_main(team, as_agent(team))
    stray = team.main
    result = land(team.repo, team.person, branch=AGENT)
    assert isinstance(result, Landed)
    assert "had moved main itself" in result.notes[0]
    assert team.git.git("merge-base", stray, "main") == old
    assert team.file("a.txt") == "one\n"


def test_each_stray_is_kept_under_a_name_of_its_own(team: Team) -> None:
    refs = []
    for text in ("first\n", "second\n"):
        old = team.main
        as_agent(team).commit("Stray", {"a.txt": text})
        refs.append(strays_of(team.repo).restore(old, team.main, AGENT))
    assert refs == [f"refs/lineclear/strayed/{AGENT}/{number}" for number in (1, 2)]


def test_a_landing_by_an_agents_own_command_is_no_stray(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_REFLOG_ACTION", f"lineclear:{AGENT}")
    assert isinstance(land(team.repo, team.person, branch=AGENT), Landed)
    assert strays_of(team.repo).find() is None
    assert os.path.exists(Path(team.git.path) / "mine.txt")
