"""A landing is taken back by a commit on top: what landed since stays, and nothing is rewritten."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lineclear.app.ports import Caller
from lineclear.app.queue import candidates
from lineclear.app.queue.undo import prepare, revert, undoes
from lineclear.core.queue.landing_results import Author, Landed
from lineclear.wiring import queue as wired
from tests.landings import Team, open_team
from tests.repository import TemporaryRepo
from tests.world import refused

ADA, BEN = Caller("ada", tree="ada"), Caller("ben", tree="ben")


@pytest.fixture
def team(repo: TemporaryRepo) -> Iterator[Team]:
    repo.commit("Base", {"a.txt": "one\ntwo\nthree\n"})
    with open_team(repo) as team:
        yield team


def land(team: Team, branch: str, caller: Caller | None = None, *, agent: str = "", task: int = 0) -> int:
    found, result = wired.landings_of(team.repo).land(
        caller or team.person, branch=branch, agent=agent, task=task
    )
    assert isinstance(result, Landed), result
    return int(found["candidate"][2:])


def take_back(team: Team, caller: Caller, number: int = 0) -> str:
    made = prepare(team.repo.store, wired.undo_git_of(team.repo), caller, number)
    land(team, made["branch"], caller, agent="" if caller.is_person else caller.name)
    return str(made["undoes"])


def test_what_landed_since_stays(team: Team) -> None:
    team.work("ada", {"new.txt": "of ada\n", "a.txt": "ONE\ntwo\nthree\n"})
    team.work("ben", {"a.txt": "one\ntwo\nTHREE\n"})
    first = land(team, "ada", agent="ada")
    land(team, "ben", agent="ben")
    assert take_back(team, team.person, first) == "Q-1"
    assert team.file("a.txt") == "one\ntwo\nTHREE\n"
    assert not (team.git.path / "new.txt").exists()
    assert team.status() == []
    assert team.findings() == []


def test_its_commit_says_what_it_takes_back(team: Team) -> None:
    number = team.task("Say hello", "ada")
    team.work("ada", {"hello.txt": "hello\n"})
    landed = land(team, "ada", ADA, task=number)
    commit = team.main
    take_back(team, ADA, landed)
    text = team.git.git("show", "-s", "--format=%B", "main").strip()
    assert text == f"Undo Q-1: Say hello\n\nTask: T-1\nAgent: ada\nReverts: {commit}"
    assert team.git.git("show", "-s", "--format=%P", "main") == commit


def test_a_branch_that_brought_several_commits_goes_as_a_whole(team: Team) -> None:
    team.work("ada", {"one.txt": "1\n"})
    team.work("ada", {"two.txt": "2\n"})
    before = team.git.git("rev-parse", "main^{tree}")
    land(team, "ada", agent="ada")
    take_back(team, team.person)
    assert team.git.git("rev-parse", "main^{tree}") == before


def test_without_a_number_it_is_ones_own_last_landing(team: Team) -> None:
    for agent, name in (("ada", "1.txt"), ("ben", "2.txt"), ("cid", "3.txt")):
        team.work(agent, {name: "x\n"})
        land(team, agent, agent=agent)
    assert take_back(team, ADA) == "Q-1"
    # Its own undoing is no landing that the next one takes back.
    assert take_back(team, team.person) == "Q-3"
    assert take_back(team, team.person) == "Q-2"
    with refused("queue.nothing_to_undo"):
        prepare(team.repo.store, wired.undo_git_of(team.repo), team.person)


def test_nobody_but_a_person_takes_back_what_others_landed(team: Team) -> None:
    team.work("ada", {"1.txt": "x\n"})
    number = land(team, "ada", agent="ada")
    with refused("person.only"):
        prepare(team.repo.store, wired.undo_git_of(team.repo), BEN, number)
    with refused("queue.nothing_to_undo"):
        prepare(team.repo.store, wired.undo_git_of(team.repo), BEN)


def test_what_others_built_on_is_refused_with_the_places(team: Team) -> None:
    team.work("ada", {"a.txt": "one\nTWO\nthree\n"})
    number = land(team, "ada", agent="ada")
    team.git.commit("On top", {"a.txt": "one\nTWO and more\nthree\n"})
    main = team.main
    with refused("queue.undo_conflicts") as caught:
        prepare(team.repo.store, wired.undo_git_of(team.repo), team.person, number)
    assert caught.value.facts["conflicts"][0]["path"] == "a.txt"
    assert team.main == main
    assert team.git.git("branch", "--list", "lineclear/*") == ""


def test_who_built_on_it_is_named(team: Team) -> None:
    team.work("ada", {"a.txt": "one\nTWO\nthree\n"})
    number = land(team, "ada", agent="ada")
    task = team.task("Say more", "ben")
    team.git.git("reset", "--quiet", "--hard", "main", at=team.git.add_worktree("ben"))
    team.work("ben", {"a.txt": "one\nTWO and more\nthree\n"})
    land(team, "ben", BEN, task=task)
    with refused("queue.undo_conflicts") as caught:
        prepare(team.repo.store, wired.undo_git_of(team.repo), team.person, number)
    assert "a.txt near line 2: content; landed since: T-1 by ben." in str(caught.value)


def test_twice_is_refused_while_the_first_waits_and_after_it_landed(team: Team) -> None:
    team.work("ada", {"1.txt": "x\n"})
    number = land(team, "ada", agent="ada")
    made = prepare(team.repo.store, wired.undo_git_of(team.repo), team.person, number)
    wired.landings_of(team.repo).submit(team.person, branch=made["branch"])
    for _ in range(2):
        with refused("queue.undone") as caught:
            prepare(team.repo.store, wired.undo_git_of(team.repo), team.person, number)
        assert caught.value.facts["by"] == "Q-2"
        wired.landings_of(team.repo).run_once(team.person)


def test_one_that_was_dropped_can_be_begun_again_on_a_branch_of_its_own(team: Team) -> None:
    team.work("ada", {"1.txt": "x\n"})
    number = land(team, "ada", agent="ada")
    first = prepare(team.repo.store, wired.undo_git_of(team.repo), team.person, number)
    wired.landings_of(team.repo).submit(team.person, branch=first["branch"])
    candidates.drop(team.repo.store, team.person, 2, "not yet")
    second = prepare(team.repo.store, wired.undo_git_of(team.repo), team.person, number)
    assert (first["branch"], second["branch"]) == ("lineclear/undo-Q-1", "lineclear/undo-Q-1-2")
    assert [undoes(made["branch"]) for made in (first, second)] == [1, 1]


def test_what_is_not_landed_cannot_be_taken_back(team: Team) -> None:
    team.work("ada", {"1.txt": "x\n"})
    wired.landings_of(team.repo).submit(team.person, branch="ada")
    with refused("queue.not_landed"):
        prepare(team.repo.store, wired.undo_git_of(team.repo), team.person, 1)
    with refused("queue.unknown"):
        prepare(team.repo.store, wired.undo_git_of(team.repo), team.person, 9)


def test_any_commit_of_main_can_be_reverted_in_an_authors_name(team: Team) -> None:
    commit = team.git.commit("Mistake", {"b.txt": "b\n"})
    made = revert(
        wired.undo_git_of(team.repo), commit, "Take it back\n", Author("Eve", "eve@example.invalid")
    )
    assert isinstance(made, str)
    assert team.git.git("show", "-s", "--format=%an %P", made) == f"Eve {commit}"
    assert team.git.git("rev-parse", f"{made}^{{tree}}") == team.git.git("rev-parse", "main~1^{tree}")
    assert team.main == commit


def test_a_commit_that_main_no_longer_shows_leaves_nothing_to_revert(team: Team) -> None:
    commit = team.git.commit("Mistake", {"b.txt": "b\n"})
    team.git.git("revert", "--no-edit", commit)
    assert revert(wired.undo_git_of(team.repo), commit, "Take it back\n") == ""


def test_branches_of_others_undo_nothing() -> None:
    assert [undoes(name) for name in ("main", "lineclear/undo-", "lineclear/undo-Q-x", "undo-Q-1")] == [0] * 4
