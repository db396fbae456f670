"""A supervisor killed at any moment: its agents work on, its successor goes on, each task ends once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.crash.foreman import WINDOWS
from tests.e2e.crew import Crew, Shift
from tests.repository import TemporaryRepo
from tests.sampling import some_of

FOREMAN = str(Path(__file__).with_name("foreman.py"))
KILLED = -signal.SIGKILL
# After these the client has been started: it must not be started a second time.
STARTED = list(WINDOWS)[list(WINDOWS).index("the client was started") :]
# A step that must not be taken twice, and one that finds the work of an earlier start.
WORK = "echo x >>$marks/starts; commit one.txt 1"


@pytest.fixture
def crew(repo: TemporaryRepo) -> Iterator[Crew]:
    crew = Crew(repo)
    yield crew
    crew.close()


def doomed(crew: Crew, point: str, *words: str, command: list[str]) -> Shift:
    """A supervisor that dies at this point."""
    argv = [sys.executable, FOREMAN, point, *words, "run", "-n", "1", "--", *command]
    root = Path(__file__).parents[2]
    environ = {**crew.line.environment, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    return Shift(argv, crew.git.path, environ, crew.git.path.parent / "doomed")


def assert_ended_once(crew: Crew, task: int = 1, name: str = "one.txt", text: str = "1") -> None:
    assert crew.row(task).state == "merged", crew.row(task).reason
    assert len(crew.events("TaskMerged", task)) == 1
    assert crew.on_main(name) == text
    assert crew.git.git("status", "--porcelain") == ""
    assert crew.processes() == []
    assert crew.findings() == []
    assert all(run.state == "ended" for run in crew.runs(task))
    crew.git.git("fsck", "--no-progress")


@pytest.mark.parametrize("window", WINDOWS)
def test_killed_right_after(crew: Crew, window: str) -> None:
    crew.task("One")
    command = crew.script(T1=WORK)
    first = doomed(crew, window, command=command)
    assert first.code() == KILLED, first.said
    second = crew.run("-n", "1", command=command)
    assert second.code() in (0, 5), second.said
    assert_ended_once(crew)
    starts = (crew.marks / "starts").read_text().count("x")
    assert starts == 1, (window, crew.ends(1))
    assert crew.ends(1)[-1] == "done"
    assert crew.row(1).attempt <= 1 if window in STARTED else True


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_before_every_step(crew: Crew, record_property: Callable[[str, object], None]) -> None:
    command = crew.script(**{f"T{n}": f"commit {n}.txt {n}" for n in range(1, 500)})
    crew.task("Part 1")
    told = crew.marks / "steps"
    assert doomed(crew, "0", str(told), command=command).code() == 0
    steps = int(told.read_text())
    chosen = some_of(range(1, steps + 1), share=8)
    words = f"{steps} steps of a supervisor with one task, {len(chosen)} of them its last one once"
    record_property("told", words)
    for step in chosen:
        number = crew.task(f"Part {step + 1}")
        first = doomed(crew, str(step), command=command)
        code = first.code()
        assert code in (KILLED, 0), first.said
        second = crew.run("-n", "1", command=command)
        assert second.code() in (0, 5), (step, second.said)
        assert_ended_once(crew, number, f"{number}.txt", str(number))


def test_agents_work_on_when_their_supervisor_is_killed_and_are_found_again(crew: Crew) -> None:
    crew.task("One")
    crew.task("Two")
    work = """
    echo '{"type":"session","id":"s"}'; mark b$LINECLEAR_TASK; await go
    echo '{"type":"usage","tokens_in":5,"tokens_out":2}'; echo x >>$marks/starts"""
    command = crew.script(T1=f"{work}; commit one.txt 1", T2=f"{work}; commit two.txt 2")
    first = crew.run("-n", "2", "--stream", "lineclear", command=command)
    crew.until(lambda: crew.is_marked("bT-1") and crew.is_marked("bT-2"), first)
    first.kill()
    assert len(crew.processes()) >= 4  # for each agent its shell, and the one that notes how it ends
    second = crew.run("-n", "2", "--stream", "lineclear", command=command)
    crew.until(lambda: second.said.count("still running") == 2, second)
    crew.mark("go")
    assert second.code() == 0, second.said
    assert_ended_once(crew)
    assert_ended_once(crew, 2, "two.txt", "2")
    assert crew.ends(1) == crew.ends(2) == ["done"]
    assert (crew.marks / "starts").read_text() == "x\nx\n"
    assert [(run.session, run.tokens_in, run.tokens_out) for run in crew.runs(1)] == [("s", 5, 2)]


def test_agents_that_ended_while_nobody_looked_are_landed(crew: Crew) -> None:
    crew.task("One")
    command = crew.script(T1="mark begun; await go; commit one.txt 1")
    first = crew.run("-n", "1", command=command)
    crew.until_marked("begun", first)
    first.kill()
    crew.mark("go")
    crew.until(lambda: crew.processes() == [])
    second = crew.run("-n", "1", command=command)
    assert second.code() == 0, second.said
    assert_ended_once(crew)
    assert crew.ends(1) == ["done"]


def test_one_that_failed_while_nobody_looked_failed(crew: Crew) -> None:
    crew.task("One", "--attempts", "1")
    command = crew.script(T1="mark begun; await go; exit 7")
    first = crew.run("-n", "1", command=command)
    crew.until_marked("begun", first)
    first.kill()
    crew.mark("go")
    crew.until(lambda: crew.processes() == [])
    crew.run("-n", "1", command=command).code()
    assert crew.ends(1) == ["failed"]
    assert "exit code 7" in crew.row(1).reason


@pytest.mark.parametrize("daemon", ["", "setsid sleep 9700 &"], ids=["alone", "with a daemon"])
def test_killed_together_with_its_agents_the_tasks_are_tried_again(crew: Crew, daemon: str) -> None:
    crew.task("One", "--attempts", "3")
    again = "if [ -e $marks/begun ]; then commit one.txt 1; exit 0; fi"
    command = crew.script(T1=f"{again}\necho half >half.txt; {daemon}\nmark begun; await never")
    first = crew.run("-n", "1", command=command)
    crew.until_marked("begun", first)
    first.kill()
    kill_all_but_daemons(crew)
    second = crew.run("-n", "1", command=command)
    assert second.code() == 0, second.said
    assert_ended_once(crew)
    assert crew.ends(1) == ["crashed", "done"]
    assert crew.rescued(crew.runs(1)[0].snapshot, "half.txt") == "half"


def kill_all_but_daemons(crew: Crew) -> None:
    for pid in crew.processes():
        try:
            if b"9700" not in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
        except OSError:
            continue  # it has ended by itself


def test_a_daemon_does_not_keep_a_finished_agent_alive_for_the_successor(crew: Crew) -> None:
    crew.task("One")
    command = crew.script(T1="setsid sleep 9700 >/dev/null 2>&1 &\nmark begun; await go; commit one.txt 1")
    first = crew.run("-n", "1", command=command)
    crew.until_marked("begun", first)
    first.kill()
    crew.mark("go")
    crew.until(lambda: len(crew.processes()) == 1)
    second = crew.run("-n", "1", command=command)
    assert second.code() == 0, second.said
    assert_ended_once(crew)


def test_stop_and_pause_work_without_a_supervisor(crew: Crew) -> None:
    crew.task("One", "--attempts", "2")
    again = "if [ -e $marks/begun ]; then commit one.txt 1; exit 0; fi"
    command = crew.script(T1=f"{again}\nmark begun; await never")
    first = crew.run("-n", "1", command=command)
    crew.until_marked("begun", first)
    first.kill()
    crew.line.ok("pause", "worker-1")
    crew.line.ok("resume", "worker-1")
    assert crew.processes()
    crew.line.ok("stop", "worker-1")
    assert crew.processes() == []
    second = crew.run("-n", "1", command=command)
    assert second.code() == 0, second.said
    assert crew.ends(1) == ["stopped", "done"]
    assert crew.row(1).attempt == 1
