"""`check`: what landing would come to, with the repository's checks on request. Nothing moves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lineclear.app import claims
from lineclear.app.ports import Caller
from lineclear.app.queue.trial_landing import BranchCheck
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.log.tables import CHECK_RECORD
from lineclear.core.queue.landing_results import Landed, SentBack
from lineclear.wiring import queue as wired
from lineclear.wiring.repo import open_repo
from lineclear.wiring.trust import trust_of
from tests.landings import Team, open_team
from tests.repository import TemporaryRepo
from tests.world import refused

GATE = '[checks]\ngate = "echo looking; test ! -f bad"\n'


@pytest.fixture
def team(repo: TemporaryRepo) -> Iterator[Team]:
    repo.commit("Base", {"a.txt": "one\n", "lineclear.toml": GATE})
    with open_team(repo) as team:
        trust_of(team.repo).record(team.person, trust_of(team.repo).judged())
        yield team


def look(team: Team, branch: str, *, runs: bool = False) -> BranchCheck:
    main = team.main
    found = wired.landings_of(team.repo).check(team.person, branch=branch, runs_checks=runs)
    assert team.main == main
    return found


def runs_of(team: Team) -> int:
    rows = team.repo.store.read(lambda view: list(view.scan(CHECK_RECORD, "key")))
    return sum(row.runs for row in rows)


def test_a_branch_that_fits_has_no_findings(team: Team) -> None:
    team.work("ada", {"b.txt": "b\n"})
    found = look(team, "ada")
    assert found.is_good
    assert isinstance(found.result, Landed)
    assert (found.result.how, found.result.files, found.checks) == ("fast-forward", ["b.txt"], [])
    assert runs_of(team) == 0


def test_a_conflict_is_a_finding_with_its_place(team: Team) -> None:
    team.work("ada", {"a.txt": "two\n"})
    team.git.commit("Mine", {"a.txt": "three\n"})
    found = look(team, "ada", runs=True)
    assert isinstance(found.result, SentBack)
    assert [(one["path"], one["kind"]) for one in found.findings] == [("a.txt", "content")]
    assert found.checks == []


def test_what_breaks_only_in_combination_is_a_finding(team: Team) -> None:
    team.work("ada", {"web/one.css": ".card { color: red; }\n"})
    team.git.commit("Mine", {"web/two.css": ".card { color: blue; }\n"})
    found = look(team, "ada")
    assert [one["kind"] for one in found.findings] == ["selector"]


def test_what_its_author_may_not_change_is_a_finding(team: Team) -> None:
    resource = parse_resource("file:a.txt")
    claims.ask(
        team.repo.store, team.repo.liveness, Caller("ben", tree="ben"),
        Request("ben", "ben", EXCLUSIVE, [resource], ttl_ms=60_000),
    )  # fmt: skip
    team.work("ada", {"a.txt": "two\n"})
    found = wired.landings_of(team.repo).check(team.person, branch="ada", agent="ada")
    assert isinstance(found.result, SentBack)
    assert found.is_forbidden
    assert "ben holds" in found.findings[0]["text"]


def test_checks_run_on_the_merge_of_both(team: Team) -> None:
    team.work("ada", {"b.txt": "b\n"})
    assert [one["result"] for one in look(team, "ada", runs=True).checks] == ["passed"]
    team.git.commit("Mine", {"bad": "x\n"})
    found = look(team, "ada", runs=True)
    assert not found.is_good
    assert [one["kind"] for one in found.findings] == ["check"]
    assert "| looking" in found.output


def test_what_passed_is_not_run_again_when_it_lands(team: Team) -> None:
    team.work("ada", {"b.txt": "b\n"})
    look(team, "ada", runs=True)
    assert [one["result"] for one in look(team, "ada", runs=True).checks] == ["passed before"]
    assert runs_of(team) == 1
    _, result = wired.landings_of(team.repo).land(team.person, branch="ada")
    assert isinstance(result, Landed)
    assert runs_of(team) == 1


def test_a_check_that_nobody_trusts_is_not_run(repo: TemporaryRepo) -> None:
    repo.commit("Base", {"lineclear.toml": GATE})
    with open_team(repo) as team:
        team.work("ada", {"b.txt": "b\n"})
        assert look(team, "ada").is_good
        with refused("trust.missing"):
            look(team, "ada", runs=True)


def test_the_checks_are_mains_and_not_the_candidates(team: Team) -> None:
    team.work("ada", {"lineclear.toml": '[checks]\ngate = "true"\n', "bad": "x\n"})
    assert not look(team, "ada", runs=True).is_good


def test_what_cannot_land_at_all_is_refused(team: Team) -> None:
    with refused("branch.unknown"):
        look(team, "nowhere")
    with refused("land.main"):
        look(team, "main")


def test_a_branch_that_main_holds_already_has_nothing_to_be_checked(team: Team) -> None:
    team.git.git("branch", "old")
    found = look(team, "old", runs=True)
    assert isinstance(found.result, Landed)
    assert (found.is_good, found.result.how, runs_of(team)) == (True, "nothing", 0)


def test_it_is_open_to_a_second_process(team: Team) -> None:
    """Nobody who only looks waits for the one that lands."""
    team.work("ada", {"b.txt": "b\n"})
    with wired.landings_of(team.repo).turns.take():
        other = open_repo(str(team.git.path), team.git.environment)
        try:
            assert wired.landings_of(other).check(team.person, branch="ada", runs_checks=True).is_good
        finally:
            other.close()
