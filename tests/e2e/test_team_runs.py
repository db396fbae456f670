"""`run` on two machines with one PostgreSQL and one remote: names, fetches, and outages of the store."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.test_team import SETTINGS, Machine, Team, let_go, make_team, pausing
from tests.repository import TemporaryRepo
from tests.waiting import until, until_there

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

AWAY_NEWS, BACK_NEWS = "the shared store is out of reach", "the shared store is back"


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


def test_run_reports_what_another_machine_landed(team: Team, tmp_path: Path) -> None:
    left, right = team.left, team.right
    for number in (1, 2):
        left.line.ok("task", "add", f"Part {number}")
    right.line.start("queue", "run")  # from now on, everything lands there
    until(lambda: "queue:main" in left.line.ok("log", "--kind", "ClaimGranted").out)
    words = f'[ "$LINECLEAR_TASK" = T-1 ] || {{ {pausing("two", tmp_path)}; }}; {writes("$LINECLEAR_TASK")}'
    running = left.line.start("run", "-n", "1", "--json", "--", "sh", "-c", words)
    until_there(tmp_path / "two")
    until(lambda: left.line.json("task", "show", "T-1")["state"] == "merged")
    let_go("two", tmp_path)
    assert running.wait() == 0
    facts = json.loads(running.rest()[0])["data"]
    first, second = facts["runs"]
    assert (first["task"], first["result"]) == ("T-1", "landed")
    assert "T-1" in facts["landed"]
    # One moment for the whole report: what has landed does not wait.
    assert (second["result"] == "landed") == (facts["blocked"] == []), facts
    [landed, *_] = left.line.json("log", "--kind", "CandidateLanded")["events"]
    assert landed["subject"] == "Q-1"
    team.is_sound()


# -- outages --------------------------------------------------------------------------------------


def start_run(machine: Machine, said: Path, *words: str) -> subprocess.Popen[bytes]:
    """A supervisor whose news go to the file."""
    with said.open("wb") as errors:
        return subprocess.Popen(
            machine.line.argv("run", *words), cwd=machine.line.place, env=machine.line.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
        )  # fmt: skip


def test_run_goes_on_after_outages_of_the_store_at_every_stage(team: Team, tmp_path: Path) -> None:
    left, right, said = team.left, team.right, tmp_path / "said"
    for number in (1, 2, 3):
        right.line.ok("task", "add", f"Part {number}")
    # Each agent ends only when it is told to: while the store is away, and after.
    words = 'n=$LINECLEAR_TASK; echo here > "$0/$n"; while [ ! -e "$0/$n.go" ]; do sleep 0.05; done; '
    words += 'echo 1 > "$n.txt"; git add .; git commit -qm "$n"; echo done > "$0/$n.done"'
    running = start_run(left, said, "-n", "2", "--", "sh", "-c", words, str(tmp_path))
    try:
        for task in ("T-1", "T-2"):
            until_there(tmp_path / task)
        left.network.cut()
        until(lambda: AWAY_NEWS in said.read_text())
        # An agent ends while the store is away: its end and its work wait for it.
        let_go("T-1", tmp_path)
        until_there(tmp_path / "T-1.done")
        left.network.repair()
        until(lambda: BACK_NEWS in said.read_text())
        until_there(tmp_path / "T-3")
        left.network.cut()
        until(lambda: said.read_text().count(AWAY_NEWS) == 2)
        left.network.repair()
        let_go("T-2", tmp_path)
        let_go("T-3", tmp_path)
        assert running.wait(120) == 0, said.read_text()
    finally:
        running.kill()
        running.wait()
    assert {"T-1.txt", "T-2.txt", "T-3.txt"} <= set(team.on_main())
    # No outage has cost an attempt, and each task was started once.
    assert right.line.json("log", "--kind", "TaskReturned", "--limit", "10")["events"] == []
    assert len(right.line.json("log", "--kind", "RunStarted", "--limit", "10")["events"]) == 3
    team.is_sound()
