"""The demonstration as a whole: what the two runs come to, and that nothing is left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lineclear.cli.demo.shop import agent
from lineclear.cli.demo.shop.judge import Diary, is_told, lost_edits, numbers_twice
from lineclear.cli.demo.shop.scripts import read_program, read_scripts
from lineclear.wiring.scratch import ScratchRepo
from tests.e2e.commandline import CommandLine
from tests.repository import clean_environment

pytestmark = pytest.mark.slow


class Unhurried(CommandLine):
    """The naive agents have longer than in life: on a busy machine work that goes well would be cut off."""

    def argv(self, *words: str) -> list[str]:
        program = "from lineclear.cli.demo.shop import naive; naive.LIMIT_S = 20; "
        program += "import sys; from lineclear.__main__ import main; sys.exit(main())"
        return [sys.executable, "-c", program, *words]


class Stage:
    """An empty place, the command line in it, and a seed by which to find the demonstration's processes."""

    def __init__(self, place: Path, seed: int) -> None:
        self.seed, self.scratch = str(seed), place / "scratch"
        self.scratch.mkdir()
        self.line = CommandLine(place, {**clean_environment(place), "TMPDIR": str(self.scratch)})

    def processes(self) -> list[str]:
        """Command lines of what is still alive: agents, and the supervisor that has one in its own."""
        shown = subprocess.run(["ps", "-eww", "-o", "args="], capture_output=True, text=True, check=True)
        mark = f"lineclear.cli.demo.shop.agent {self.seed} "
        return [args for args in shown.stdout.splitlines() if mark in args]

    def assert_nothing_is_left(self) -> None:
        assert list(self.scratch.iterdir()) == []
        assert self.processes() == []

    def wait_for(self, pattern: str) -> None:
        """Until such a file is there; the supervisor's come only after the whole naive run."""
        deadline = time.monotonic() + 60
        while not any(self.scratch.glob(f"lineclear-demo-*/{pattern}")):
            assert time.monotonic() < deadline, f"{pattern} did not come"
            time.sleep(0.02)


@pytest.fixture
def stage(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Stage]:
    made = Stage(tmp_path, abs(hash(request.node.nodeid)) % 900_000 + 100_000)
    yield made
    made.line.end_all()


def assert_all_is_well(run: dict[str, Any]) -> None:
    assert (run["tasks_done"], run["tasks_wanted"]) == (9, 9)
    assert run["branches_left"] == []
    assert (run["done_twice"], run["numbers_twice"], run["edits_lost"]) == (0, 0, 0)
    assert (run["calls_broken"], run["calls_told"]) == (0, 1)
    assert (run["agents_recovered"], run["agents_broken"]) == (2, 2)
    assert run["tests_pass"]


def test_what_git_alone_leaves_undone_gets_done(stage: Stage) -> None:
    unhurried = Unhurried(stage.line.place, stage.line.environment)
    answer = unhurried.run("demo", "--json", "--seed", stage.seed)
    assert answer.code == 0, answer
    assert answer.err == ""
    naive, good = answer.data["naive"], answer.data["lineclear"]
    assert_all_is_well(good)
    assert good["conflicts"] == 0
    assert good["log"]["runs"] == {"done": 9, "crashed": 1, "looped": 1}
    assert good["log"]["audit_findings"] == 0
    # Not how bad it is, which may change with the timing: that it is not well, and for which reasons.
    assert naive["tasks_done"] < good["tasks_done"]
    assert naive["conflicts"] == len(naive["branches_left"]) > 0
    assert (naive["done_twice"], naive["numbers_twice"]) == (1, 1)
    assert (naive["calls"], naive["calls_broken"], naive["calls_told"]) == (1, 1, 0)
    assert (naive["agents_recovered"], naive["agents_broken"]) == (0, 2)
    assert naive["edits_lost"] > 0
    assert not naive["tests_pass"]
    stage.assert_nothing_is_left()


def test_both_repositories_can_be_kept(stage: Stage) -> None:
    kept = stage.line.place / "kept"
    answer = stage.line.run("demo", "--keep", "kept", "--seed", stage.seed)
    assert answer.code == 0, answer
    assert "GIT MERGE  LINECLEAR" in answer.out
    assert f"Both repositories are in {kept}" in answer.out
    stage.assert_nothing_is_left()
    there = stage.line.at(kept / "lineclear")
    assert len(there.json("task", "list", "--state", "merged")["tasks"]) == 9
    assert (kept / "naive.worktrees" / "task-9" / "shop" / "stock.py").exists()
    assert stage.line.refused("demo", "--keep", "kept", code=2)["code"] == "input.bad"


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "marker", ["naive.worktrees/task-3.log", "lineclear/.git/lineclear/runs/*/output"], ids=["naive", "run"]
)
def test_stopped_half_way_it_leaves_nothing_behind(stage: Stage, marker: str, stop: signal.Signals) -> None:
    running = stage.line.start("demo", "--seed", stage.seed)
    stage.wait_for(marker)
    running.process.send_signal(stop)
    assert running.wait() == 130
    stage.assert_nothing_is_left()


# -- what it is made of -----------------------------------------------------------------------


def test_every_task_of_the_list_has_a_script_in_its_place() -> None:
    titles = [
        line.removeprefix("- [ ] ") for line in read_program()["TASKS.md"].splitlines() if "[ ]" in line
    ]
    assert [script.title for script in read_scripts()] == titles


def test_every_task_has_a_check_that_fails_before_it_is_done(tmp_path: Path) -> None:
    for path, text in read_program().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    for script in read_scripts():
        if not script.same_as:
            done = subprocess.run(
                [sys.executable, "-c", script.check], cwd=tmp_path, capture_output=True, check=False
            )
            assert done.returncode != 0, script.name


@pytest.mark.parametrize("is_reversed", [False, True])
def test_an_agent_copes_with_what_others_have_landed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_reversed: bool
) -> None:
    """On a slow machine an agent may start only after others have landed beside its place."""
    ScratchRepo.make(str(tmp_path), read_program())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(agent, "THINKING_S", (0, 0))
    for script in sorted(read_scripts(), key=lambda script: script.name, reverse=is_reversed):
        assert agent.ScriptedAgent(script, attempt=2, seed="1").work() == 0, script.name
    for script in read_scripts():
        assert subprocess.run([sys.executable, "-c", script.check], check=False).returncode == 0, script.name


def test_an_edit_is_lost_when_no_commit_holds_its_text() -> None:
    call = '{"type": "call", "id": "1", "tool": "edit", "input": {"path": "a", "text": "one"}}'
    dead = Diary(['{"type": "session", "id": "09-stock/1"}', call, '{"type": "call", "id'])
    assert (dead.script, dead.is_done) == ("09-stock", False)
    assert lost_edits([dead], ["zero\none\n"]) == {"edits_made": 1, "edits_lost": 0}
    assert lost_edits([dead], ["zero\n"]) == {"edits_made": 1, "edits_lost": 1}


def test_an_agent_is_told_when_a_message_names_what_it_calls() -> None:
    gifts = next(script for script in read_scripts() if script.calls)
    asked = '{"type": "call", "id": "1", "tool": "bash", "input": {"command": "lineclear inbox"}}'
    lines = [f'{{"type": "session", "id": "{gifts.name}/1"}}', asked]
    told = Diary([*lines, '{"type": "done", "id": "1", "ok": true, "output": "price_of has changed"}'])
    untold = Diary([*lines, '{"type": "done", "id": "1", "ok": true, "output": "nothing new"}'])
    assert (is_told(told, gifts), is_told(untold, gifts)) == (True, False)


def test_a_number_counts_once_for_each_migration_too_many() -> None:
    assert numbers_twice(["migrations/0001_a.sql", "migrations/0002_b.sql"]) == 0
    assert numbers_twice(["migrations/0002_a.sql", "migrations/0002_b.sql", "migrations/0002_c.sql"]) == 2
