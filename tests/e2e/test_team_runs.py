"""`run` on two machines with one PostgreSQL and one remote: names, fetches, and outages of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.test_team import SETTINGS, Team, let_go, make_team, pausing
from tests.repository import TemporaryRepo
from tests.waiting import until_there

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture
def team(repo: TemporaryRepo, tmp_path: Path, fresh_postgres: Callable[[], str]) -> Iterator[Team]:
    yield from make_team(repo, tmp_path, fresh_postgres(), SETTINGS)


def writes(name: str) -> str:
    """A shell command that commits a new file."""
    return f"echo 1 > {name}; git add {name}; git commit -qm {name}"


# -- names ----------------------------------------------------------------------------------------


def test_the_workers_of_two_machines_have_different_names(team: Team, tmp_path: Path) -> None:
    left, right = team.left, team.right
    left.line.ok("task", "add", "One")
    left.line.ok("task", "add", "Two")
    running = []
    for machine, name in ((left, "one"), (right, "two")):
        words = f"{pausing(name, tmp_path)}; {writes(name)}"
        running.append(machine.line.start("run", "-n", "1", "--", "sh", "-c", words))
        until_there(tmp_path / name)
    runs = {run["agent"]: run["task"] for run in left.line.json("status")["runs"]}
    assert len(runs) == 2, runs
    assert "worker-1" in runs
    other = next(name for name in runs if name != "worker-1")
    assert other.startswith("worker-1-"), runs
    for name in ("one", "two"):
        let_go(name, tmp_path)
    assert [one.wait() for one in running] == [0, 0], [one.rest() for one in running]
    assert {"one", "two"} <= set(team.on_main())
    started = left.line.json("log", "--kind", "RunStarted", "--limit", "10")["events"]
    assert {event["actor"] for event in started} == {"worker-1", other}
    # The same machine has the same names again.
    right.line.ok("task", "add", "Three")
    right.line.ok("run", "-n", "1", "--", "sh", "-c", writes("three"))
    last = right.line.json("log", "--kind", "RunStarted", "--limit", "1")["events"]
    assert last[-1]["actor"] == other
    team.is_sound()


# -- finished work --------------------------------------------------------------------------------


def test_finished_work_lands_from_any_machine_that_can_fetch_it_and_else_says_where_it_is(team: Team) -> None:
    left, right = team.left, team.right
    left.line.ok("task", "add", "One")
    left.line.ok("run", "--no-land", "-n", "1", "--", "sh", "-c", writes("one"))
    [need] = right.line.json("status")["needs_you"]
    assert need["next"] == "lineclear land --task T-1"
    error = right.line.refused("land", "--task", "T-1", code=5)
    assert error["code"] == "branch.elsewhere"
    assert error["agent"] == "worker-1"
    assert error["path"].endswith("/left.worktrees/worker-1")
    assert error["next"] == "lineclear land --task T-1"
    left.clone.git("push", "-q", "origin", error["branch"])
    right.line.ok("land", "--task", "T-1")
    assert "one" in team.on_main()
    team.is_sound()
