"""Review by a command: it sees each candidate as it would land, and its exit code decides."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineclear.app.queue import candidates
from lineclear.app.queue.runner import QueueNews
from lineclear.core.log.tables import CANDIDATE, Candidate
from lineclear.wiring import queue as wired
from lineclear.wiring.repo import open_repo
from lineclear.wiring.trust import trust_of
from tests.landings import Team, open_team
from tests.repository import TemporaryRepo
from tests.world import refused

# Says no to whatever holds the word "eval", and shows what it was given.
REVIEWER = 'echo "$LINECLEAR_CANDIDATE in $PWD"; cat a.txt; ! grep -q "^+.*eval" "$LINECLEAR_DIFF"'
SETTINGS = f"[queue]\nreview = \"agent\"\nreviewer = '{REVIEWER}'\n"


@pytest.fixture
def team(repo: TemporaryRepo) -> Iterator[Team]:
    repo.commit("Base", {"a.txt": "main's own\n", "lineclear.toml": SETTINGS})
    with open_team(repo) as team:
        trust_of(team.repo).record(team.person, trust_of(team.repo).judged())
        yield team


def submit(team: Team, branch: str, files: dict[str, str]) -> int:
    team.work(branch, files)
    found = wired.landings_of(team.repo).submit(team.person, branch=branch, agent=branch)
    return int(found["candidate"][2:])


def row(team: Team, number: int) -> Candidate:
    found = team.repo.store.read(lambda view: view.get(CANDIDATE, (number,)))
    assert found is not None
    return found


def note_of(team: Team, number: int) -> str:
    history = team.repo.store.read(lambda view: candidates.show(view, number))["history"]
    return str(next(item["note"] for item in history if item["event"] == "CandidateReviewed"))


def test_exit_code_0_approves_and_everything_else_sends_back_with_its_words(team: Team) -> None:
    good, bad = submit(team, "ada", {"b.py": "print(1)\n"}), submit(team, "ben", {"c.py": "eval('1')\n"})
    news: list[QueueNews] = []
    assert wired.landings_of(team.repo).review_waiting(team.person, tell=news.append) == [good, bad]
    assert [(one.kind, one.candidate) for one in news] == [("sent back", bad)]
    assert news[0].text.startswith("ben: reviewer rejected it: Q-2 in ")
    assert (row(team, good).review, row(team, good).reviewer) == ("approved", "reviewer")
    assert (row(team, bad).state, row(team, bad).kind) == ("sent back", "review")
    assert note_of(team, bad).startswith("Q-2 in ")
    assert "main's own" in note_of(team, bad)
    assert wired.landings_of(team.repo).review_waiting(team.person) == []


def test_it_looks_at_the_merge_in_a_tree_of_its_own(team: Team) -> None:
    number = submit(team, "ada", {"b.py": "1\n"})
    team.git.commit("Meanwhile", {"a.txt": "as main has it now\n"})
    wired.landings_of(team.repo).review_waiting(team.person)
    note = note_of(team, number)
    assert "as main has it now" in note
    assert ".checks" in note
    assert team.git.git("status", "--porcelain") == ""


def test_what_was_approved_lands_and_what_is_new_is_looked_at_again(team: Team) -> None:
    number = submit(team, "ada", {"b.py": "1\n"})
    wired.landings_of(team.repo).review_waiting(team.person)
    assert submit(team, "ada", {"b.py": "eval('2')\n"}) == number
    assert wired.landings_of(team.repo).review_waiting(team.person) == [number]
    assert row(team, number).state == "sent back"


def test_what_does_not_fit_goes_back_without_a_review(team: Team) -> None:
    number = submit(team, "ada", {"a.txt": "ada's\n"})
    team.git.commit("Meanwhile", {"a.txt": "mine\n"})
    assert wired.landings_of(team.repo).review_waiting(team.person) == [number]
    assert (row(team, number).state, row(team, number).kind, row(team, number).review) == (
        "sent back",
        "conflict",
        "",
    )


def test_who_says_stop_does_not_wait_for_the_reviewer(repo: TemporaryRepo, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    slow = f"[queue]\nreview = \"agent\"\nreviewer = 'echo x > {begun}; exec sleep 60'\n"
    repo.commit("Base", {"a.txt": "1\n", "lineclear.toml": slow})
    with open_team(repo) as team:
        trust_of(team.repo).record(team.person, trust_of(team.repo).judged())
        first, second = submit(team, "ada", {"b.py": "1\n"}), submit(team, "ben", {"c.py": "1\n"})
        assert wired.landings_of(team.repo).review_waiting(team.person, is_over=begun.exists) == []
        assert [row(team, number).review for number in (first, second)] == ["", ""]
        assert [row(team, number).state for number in (first, second)] == ["waiting", "waiting"]


def test_held_ones_and_reviewed_ones_are_left_alone(team: Team) -> None:
    first, second = submit(team, "ada", {"b.py": "1\n"}), submit(team, "ben", {"c.py": "1\n"})
    candidates.hold(team.repo.store, team.person, first, "")
    candidates.review(team.repo.store, team.person, second, is_good=True)
    assert wired.landings_of(team.repo).review_waiting(team.person) == []


def test_a_command_that_nobody_trusts_is_not_run(team: Team) -> None:
    submit(team, "ada", {"b.py": "1\n"})
    team.git.commit("Other", {"lineclear.toml": SETTINGS.replace("echo", "echo again")})
    with refused("trust.missing"):
        wired.landings_of(team.repo).review_waiting(team.person)


def test_the_command_is_mains_and_not_the_candidates(team: Team) -> None:
    mine = SETTINGS.replace(REVIEWER, "true")
    number = submit(team, "ada", {"lineclear.toml": mine, "c.py": "eval('1')\n"})
    wired.landings_of(team.repo).review_waiting(team.person)
    assert row(team, number).state == "sent back"


@pytest.mark.parametrize("settings", ['[queue]\nreview = "agent"\n', SETTINGS.replace('"agent"', '"person"')])
def test_nobody_is_asked_unless_the_repository_says_whom(repo: TemporaryRepo, settings: str) -> None:
    repo.commit("Base", {"a.txt": "1\n", "lineclear.toml": settings})
    with open_team(repo) as team:
        trust_of(team.repo).record(team.person, trust_of(team.repo).judged())
        number = submit(team, "ada", {"b.py": "1\n"})
        assert wired.landings_of(team.repo).review_waiting(team.person) == []
        assert row(team, number).review == ""


def test_the_difference_is_not_left_behind(team: Team) -> None:
    submit(team, "ada", {"b.py": "1\n"})
    wired.landings_of(team.repo).review_waiting(team.person)
    logs = os.listdir(os.path.join(team.repo.state_directory, "checks"))
    assert [name for name in logs if name.endswith(".diff")] == []


def test_an_agents_review_is_recorded_in_its_own_name(team: Team) -> None:
    submit(team, "ada", {"b.py": "1\n"})
    wired.landings_of(team.repo).review_waiting(team.person)
    other = open_repo(str(team.git.path), team.git.environment)
    try:
        assert row(team, 1).reviewer == "reviewer"
        assert team.findings() == []
    finally:
        other.close()
