"""A phase killed at every step: run again it gives the same result, and nothing is there twice."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator

import pytest

from lineclear.app.ports import Caller
from lineclear.core.log.tables import PROPOSAL
from lineclear.core.queue.phases import INTEGRATE, TEST
from lineclear.wiring.repo import open_repo
from tests.crash.test_landing import KILLED, Lander, copy_of
from tests.phasing import Phased, open_phased
from tests.repository import TemporaryRepo
from tests.sampling import some_of

EMAIL, PHONE = "ALTER TABLE users ADD email text;\n", "ALTER TABLE users ADD phone text;\n"


@pytest.fixture
def phaser(repo: TemporaryRepo) -> Iterator[Lander]:
    program = Lander(repo.environment, "phaser")
    yield program
    program.close()


@pytest.fixture
def sample(repo: TemporaryRepo) -> TemporaryRepo:
    """Two migrations with one number, one that does not fit, and one for an owner."""
    with open_phased(repo) as team:
        team.propose("ada", "migrations/0002_email.sql", EMAIL)
        team.propose("ben", "migrations/0002_phone.sql", PHONE)
        team.propose("ben", "migrations/0001_users.sql", "CREATE TABLE users (id text);\n")
        team.propose("cleo", "src/api.py", "def get():\n    return 2\n")
        team.git.commit("By hand", {"migrations/0001_users.sql": "CREATE TABLE users (id bigint);\n"})
    return repo


def phased(git: TemporaryRepo) -> Phased:
    team = Phased.__new__(Phased)
    team.git, team.person = git, Caller("anna", is_person=True)
    team.repo = open_repo(str(git.path), git.environment)
    return team


def end_of(team: Phased) -> tuple[object, ...]:
    """Everything that must be the same whenever it was killed."""
    return (
        team.migrations(),
        [(row.branch, row.state) for row in team.candidates()],
        [team.proposal(number).state for number in numbers(team)],
        [(task.needs, task.labels) for task in team.tasks()],
        [len(team.inbox(agent)) for agent in ("ada", "ben", "cleo")],
        team.git.git("rev-list", "--count", "main"),
        team.findings(),
    )


def numbers(team: Phased) -> list[int]:
    return [row.id for row in team.repo.store.read(lambda view: view.scan(PROPOSAL, "key"))]


@pytest.mark.slow
def test_killed_at_every_step_integration_is_simply_run_again(
    sample: TemporaryRepo, phaser: Lander, record_property: Callable[[str, object], None]
) -> None:
    whole = copy_of(sample, "whole")
    steps = phaser.land(whole.path)
    assert steps > 10
    team = phased(whole)
    team.run_queue()
    expected = end_of(team)
    assert expected[0] == ["0001_users.sql", "0002_email.sql", "0003_phone.sql"]
    assert expected[2] == ["accepted", "accepted", "rejected", "open"]
    team.close()
    for step in some_of(range(1, steps + 1)):
        git = copy_of(sample, f"dies-{step}")
        assert phaser.land(git.path, step) == KILLED
        team = phased(git)
        team.begin(INTEGRATE)
        team.run_queue()
        assert end_of(team) == expected, step
        team.close()
        shutil.rmtree(git.path)
    record_property("told", f"integration: {steps} steps, a share of them its last one")


@pytest.fixture
def broken(repo: TemporaryRepo) -> TemporaryRepo:
    """Integrated, and one of the two drops a table."""
    with open_phased(repo, '[checks]\nfull = "sh check.sh"\n') as team:
        team.propose("ada", "migrations/0002_email.sql", EMAIL)
        team.propose("ben", "migrations/0002_phone.sql", "DROP TABLE users;\n")
        team.begin(INTEGRATE)
        team.run_queue()
    return repo


@pytest.mark.slow
def test_killed_at_every_step_a_red_test_takes_back_and_asks_again_once(
    broken: TemporaryRepo, phaser: Lander, record_property: Callable[[str, object], None]
) -> None:
    whole = copy_of(broken, "whole")
    steps = phaser.land(whole.path)
    assert steps > 10
    team = phased(whole)
    team.run_queue()
    expected = end_of(team)[:5]
    assert expected[0] == ["0001_users.sql", "0002_email.sql"]
    team.close()
    for step in some_of(range(1, steps + 1)):
        git = copy_of(broken, f"dies-{step}")
        assert phaser.land(git.path, step) == KILLED
        team = phased(git)
        team.begin(TEST)
        team.run_queue()
        assert mended(end_of(team)[:5]) == mended(expected), step
        assert team.begin(TEST)["test"]["result"] == "green", step
        team.close()
        shutil.rmtree(git.path)
    record_property("told", f"test: {steps} steps, a share of them its last one")


def mended(end: tuple[object, ...]) -> str:
    """Commits have other ids where another second or number went into them."""
    return re.sub(r"revert-[0-9a-f]{12}", "revert", str(end))
