"""`lineclear run` answers the hooks of its agents itself, and makes way for a server that comes and goes."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from lineclear.host.server_address import is_held, read_address
from lineclear.wiring.setup import stub_text
from tests.e2e.crew import Crew, Shift
from tests.e2e.serving import ServeProcess, state_of
from tests.e2e.test_hooks_served import patient

SETTINGS = '[[strategy]]\nmatch = "logo.svg"\nstrategy = "locked"\n'
# Asks what a client's hook asks before an edit; the answer is in the file that is named.
ASK = """
ask() {
    printf '{"session_id":"s1","cwd":"%s","hook_event_name":"PreToolUse",' "$PWD" >said
    printf '"tool_name":"Edit","tool_use_id":"%s",' "$1" >>said
    printf '"tool_input":{"file_path":"%s/logo.svg","old_string":"x"}}' "$PWD" >>said
    CLAUDECODE=1 STUB claude PreToolUse <said >"$marks/answer-$1.new"
    rm said
    mv "$marks/answer-$1.new" "$marks/answer-$1"
}
"""


class HookedRun:
    """A run whose one agent calls its hook each time that a test says so."""

    def __init__(self, crew: Crew, asks: int) -> None:
        self.crew, self.state = crew, state_of(crew.git.path)
        self._alone = crew.git.path.parent / "alone"
        between = crew.git.path.parent / "between"
        between.write_text(f'#!/bin/sh\necho "$6" >>{self._alone}\nexec {sys.executable} "$@"\n')
        between.chmod(0o755)
        stub = Path(self.state, "hook")
        stub.write_text(patient(stub_text(str(between))))
        stub.chmod(0o755)
        crew.git.commit("Settings", {"lineclear.toml": SETTINGS})
        crew.task("Part 1")
        steps = "".join(f"await go-{number}; ask {number}; " for number in range(asks))
        script = ASK.replace("STUB", shlex.quote(str(stub))) + f"mark begun; {steps}await end; commit done 1"
        self.shift: Shift = crew.run("-n", "1", command=crew.script(T1=script))
        self._asked = 0
        crew.until_marked("begun", self.shift)

    @property
    def pid(self) -> int:
        return self.shift.process.pid

    def until_at_the_door(self, pid: int) -> None:
        self.crew.until(
            lambda: (door := read_address(self.state)) is not None and door.pid == pid, self.shift
        )

    def ask(self) -> str:
        answer = self.crew.marks / f"answer-{self._asked}"
        self.crew.mark(f"go-{self._asked}")
        self._asked += 1
        self.crew.until(answer.exists, self.shift)
        return answer.read_text()

    @property
    def alone(self) -> list[str]:
        """The hooks for which an interpreter was started."""
        return self._alone.read_text().split() if self._alone.exists() else []

    def end(self) -> None:
        self.crew.mark("end")
        assert self.shift.code() == 0, self.shift.said


def test_the_hook_of_a_worker_is_answered_by_its_supervisor(crew: Crew) -> None:
    run = HookedRun(crew, asks=1)
    run.until_at_the_door(run.pid)
    assert "is locked" in run.ask()
    assert run.alone == []
    assert not is_held(run.state), "it is no server, and does not save what a server saves"
    assert crew.line.refused("serve", "--status", code=5)["code"] == "serve.absent"
    assert crew.line.refused("serve", "--stop", code=5)["code"] == "serve.absent"
    assert f"`lineclear run` answers hooks (process {run.pid})" in crew.line.run("doctor").out
    run.end()
    assert read_address(run.state) is None
    assert not list(Path(run.state, "serve").glob("*.sock"))
    assert crew.findings() == []


@pytest.mark.parametrize("how", ["ended", "killed"])
def test_a_server_that_comes_meanwhile_takes_over_and_gives_back(crew: Crew, how: str) -> None:
    run = HookedRun(crew, asks=3)
    run.until_at_the_door(run.pid)
    assert "is locked" in run.ask()
    served = ServeProcess(crew.line)
    assert served.door.pid == served.running.process.pid
    assert "is locked" in run.ask()
    assert read_address(run.state).pid == served.door.pid  # type: ignore[union-attr]
    if how == "killed":
        served.kill()
    else:
        assert served.end() == 0
    run.until_at_the_door(run.pid)
    assert "is locked" in run.ask()
    assert run.alone == []
    run.end()
    assert crew.findings() == []


def test_beside_a_server_a_run_leaves_the_door_to_it(crew: Crew) -> None:
    served = ServeProcess(crew.line)
    run = HookedRun(crew, asks=1)
    assert "is locked" in run.ask()
    assert run.alone == []
    run.end()
    found = read_address(run.state)
    assert found is not None
    assert found.pid == served.door.pid
    served.end()


def test_after_the_supervisor_was_killed_hooks_work_alone(crew: Crew) -> None:
    run = HookedRun(crew, asks=1)
    run.until_at_the_door(run.pid)
    run.shift.kill()
    crew.mark("go-0")
    crew.until((crew.marks / "answer-0").exists)
    assert "is locked" in (crew.marks / "answer-0").read_text()
    assert run.alone == ["PreToolUse"]
    crew.mark("end")
