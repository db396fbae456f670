"""The phase `test` on a real repository: all tests in parts, and the landing that broke them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineclear.app.ports import Caller
from lineclear.core.queue.phases import INTEGRATE, PARALLEL, TEST
from lineclear.wiring.phases import phase_work_of
from lineclear.wiring.queue import landings_of
from lineclear.wiring.trust import trust_of
from tests.phasing import Phased, open_phased
from tests.repository import TemporaryRepo
from tests.world import refused

FULL = '[checks]\nfull = "sh check.sh"\nshards = 2\n'
GOOD, BAD = "ALTER TABLE users ADD email text;\n", "DROP TABLE users;\n"


def runs(team: Phased) -> list[str]:
    """Which parts ran so far, in any order within one round."""
    log = Path(team.git.environment["LOG"])
    return log.read_text().split() if log.exists() else []


def integrate(team: Phased, **files: str) -> dict[str, int]:
    """Proposals by name of their author, all landed."""
    made = {agent: team.propose(agent, f"migrations/0002_{agent}.sql", text) for agent, text in files.items()}
    team.begin(INTEGRATE)
    team.run_queue()
    return made


def outcome(team: Phased) -> dict[str, Any]:
    found: dict[str, Any] = team.begin(TEST)["test"]
    return found


def test_all_parts_run_at_once_and_are_told_which_they_are(repo: TemporaryRepo) -> None:
    with open_phased(repo, FULL.replace("2", "3")) as team:
        team.begin(INTEGRATE)
        assert outcome(team)["result"] == "green"
        assert sorted(runs(team)) == ["1/3", "2/3", "3/3"]
        shown = phase_work_of(team.repo).show()
        assert (shown["phase"], shown["progress"]) == (TEST, {"done": 3, "parts": 3})
        assert outcome(team)["result"] == "green"
        assert len(runs(team)) == 3
        assert team.begin(PARALLEL)["phase"] == PARALLEL
        assert team.findings() == []


def test_progress_is_seen_while_the_parts_run(repo: TemporaryRepo) -> None:
    """Part 2 ends only when somebody has seen that part 1 is done."""
    seen = repo.path.parent / "seen"
    wait = f'if [ "$LINECLEAR_SHARD" = 2 ]; then while [ ! -e {seen} ]; do sleep 0.05; done; fi\n'
    found: list[dict[str, int]] = []
    with open_phased(repo, FULL, {"check.sh": wait}) as team:
        team.begin(INTEGRATE)

        def look(words: str) -> None:
            if "[1/2] passed" in words:
                found.append(phase_work_of(team.repo).show()["progress"])
                seen.touch()

        answer = phase_work_of(team.repo).begin(team.person, TEST, tell=look)
    assert answer["test"]["result"] == "green"
    assert found == [{"done": 1, "parts": 2}]


def test_a_red_run_sends_the_right_proposal_back_and_takes_it_off_main(repo: TemporaryRepo) -> None:
    with open_phased(repo, FULL) as team:
        team.begin(INTEGRATE)
        outcome(team)
        team.begin(PARALLEL)
        made = integrate(team, ada=GOOD, ben=BAD, cleo=GOOD, dan=GOOD)
        assert team.migrations()[1:] == ["0002_ada.sql", "0003_ben.sql", "0004_cleo.sql", "0005_dan.sql"]
        before = len(runs(team))
        answer = outcome(team)
        assert (answer["result"], answer["proposal"], answer["agent"]) == ("red", made["ben"], "ben")
        assert "migrations/0003_ben.sql" in answer["output"]
        # Both parts on main, then one of them on at most two of the three states between.
        assert len(runs(team)) - before <= 4
        (task,) = team.tasks()
        assert (task.state, f"lineclear proposal show {made['ben']}" in task.body) == ("open", True)
        assert "broke the tests" in team.inbox("ben")[0]
        assert outcome(team)["result"] == "reverting"
        team.run_queue()
        assert team.migrations()[1:] == ["0002_ada.sql", "0004_cleo.sql", "0005_dan.sql"]
        assert outcome(team)["result"] == "green"
        assert len(team.tasks()) == 1
        assert team.findings() == []


def test_a_red_run_gives_the_task_of_a_branch_back_as_a_new_one(repo: TemporaryRepo) -> None:
    with open_phased(repo, '[checks]\nfull = "test ! -e bad.txt"\n') as team:
        number = team.task("Add a file", "ada", scope=["bad.txt"])
        team.work("ada", {"bad.txt": "b\n"})
        landings_of(team.repo).submit(Caller("ada", tree="ada"), branch="ada", task=number, agent="ada")
        team.run_queue()
        team.begin(INTEGRATE)
        answer = outcome(team)
        assert (answer["result"], answer["task"], answer["agent"]) == ("red", "T-1", "ada")
        follow_up = team.tasks()[-1]
        assert (follow_up.title, follow_up.scope) == ("Again: Add a file", "file:bad.txt")
        assert (team.state(1), follow_up.state) == ("merged", "open")
        team.run_queue()
        assert not (repo.path / "bad.txt").exists()
        assert team.status() == []


def test_what_a_person_put_on_main_is_not_taken_back(repo: TemporaryRepo) -> None:
    with open_phased(repo, '[checks]\nfull = "test ! -e bad.txt"\n') as team:
        team.begin(INTEGRATE)
        culprit = team.git.commit("Mine", {"bad.txt": "b\n"})
        team.git.commit("More", {"good.txt": "g\n"})
        answer = outcome(team)
        assert (answer["result"], answer["culprit"], team.candidates()) == ("needs you", culprit, [])


def test_a_check_that_never_passed_is_nobodys_fault(repo: TemporaryRepo) -> None:
    with open_phased(repo, '[checks]\nfull = "false"\n') as team:
        integrate(team, ada=GOOD)
        answer = outcome(team)
        assert (answer["result"], answer["culprit"]) == ("needs you", "")
        assert "the oldest state that was checked" in answer["why"]
        assert team.tasks() == []


def test_what_others_built_on_is_not_taken_back_by_force(repo: TemporaryRepo) -> None:
    with open_phased(repo, '[checks]\nfull = "! grep -q bad a.txt"\n', {"a.txt": "one\ntwo\n"}) as team:
        team.work("ada", {"a.txt": "one bad\ntwo\n"})
        landings_of(team.repo).submit(Caller("ada", tree="ada"), branch="ada", agent="ada")
        team.run_queue()
        team.git.commit("Upon it", {"a.txt": "one bad and more\ntwo\n"})
        team.begin(INTEGRATE)
        answer = outcome(team)
        assert (answer["result"], answer["agent"], answer["revert"]) == ("needs you", "ada", "")
        assert "cannot be reverted because later work builds on it: a.txt" in answer["why"]
        assert answer["follow_up"] == "T-1"
        assert outcome(team)["follow_up"] == "T-1"


def test_only_what_is_trusted_runs_and_the_phase_does_not_begin_without(repo: TemporaryRepo) -> None:
    with open_phased(repo, FULL) as team:
        team.begin(INTEGRATE)
        trust_of(team.repo).revoke(team.person)
        with refused("trust.missing"):
            team.begin(TEST)
        assert phase_work_of(team.repo).show()["phase"] == INTEGRATE
        assert runs(team) == []


def test_without_a_full_check_there_is_no_test_phase(repo: TemporaryRepo) -> None:
    with open_phased(repo) as team:
        team.begin(INTEGRATE)
        with refused("phase.no_check"):
            team.begin(TEST)
        assert phase_work_of(team.repo).show()["phase"] == INTEGRATE


@pytest.mark.parametrize("phase", [INTEGRATE, TEST])
def test_two_processes_do_not_work_on_one_phase(repo: TemporaryRepo, phase: str) -> None:
    with open_phased(repo, FULL) as team:
        team.begin(INTEGRATE)
        held = team.repo.bonds.hold("phase")
        try:
            with refused("phase.busy"):
                team.begin(phase)
        finally:
            held.release()
        assert team.begin(phase)["phase"] == phase


def test_without_a_run_that_passed_the_culprit_is_found_though_the_oldest_states_have_no_tests(
    repo: TemporaryRepo,
) -> None:
    """The repository's first commit has no check.sh, so the check fails there as well."""
    with open_phased(repo, FULL) as team:
        made = integrate(team, ada=BAD, ben=GOOD)
        answer = outcome(team)
        assert (answer["result"], answer["proposal"]) == ("red", made["ada"])
