"""Chaos: agents and their supervisor are killed at random; nothing is lost, and nothing is done twice.

Every agent notes each edit outside of its worktree as soon as the edit is on its disk. In the end each of
them must be in main, in a branch or in a snapshot. The seed is told; TEST_SEED repeats a run, as
far as processes can be made to repeat anything.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.core.tasks.lists import TaskDraft
from tests.e2e.crew import Crew, Shift
from tests.repository import TemporaryRepo
from tests.sampling import IS_WHOLE, SEED

PERSON = Caller("anna", is_person=True)
AGENTS = 8
SHARED, LINES_APART = "shared.txt", 8
# Six edits in some three seconds: uncommitted, committed, and committed over.
AGENT = f"""
number=${{LINECLEAR_TASK#T-}}
id="$number-$$-$(date +%N)"
note() {{ echo "$1" >>"$acks/$id"; }}
for step in 1 2 3 4 5 6; do
    mkdir -p "parts/$number"
    echo "$id.$step" >>"parts/$number/$((step % 3)).txt"
    note "$id.$step"
    if [ $step = 4 ]; then
        sed -i "$((number * {LINES_APART}))s/.*/$id.shared/" {SHARED}
        note "$id.shared"
    fi
    if [ $((step % 3)) = 0 ]; then git add -A; git commit --quiet --message="$id.$step"; fi
    sleep 0.$((3 + step))
done
"""


class Chaos:
    """What happens to whom is drawn from one seed."""

    def __init__(self, crew: Crew, seed: int) -> None:
        self.crew, self._dice = crew, random.Random(seed)
        self.acks = crew.marks / "acks"
        self.acks.mkdir()
        script = crew.git.path.parent / "agent-chaos.sh"
        script.write_text(f"cat >/dev/null\nacks='{self.acks}'\n{AGENT}")
        self._command = ["sh", str(script)]
        self.tasks: list[int] = []
        self.done: Counter[str] = Counter()
        self._shift = self._start()

    def _start(self) -> Shift:
        return self.crew.run("-n", str(AGENTS), "--stay", command=self._command)

    def keep_busy(self) -> None:
        """There is always more to do than there are agents."""
        open_tasks = sum(self.crew.row(number).state != "merged" for number in self.tasks)
        for _ in range(open_tasks, AGENTS + 2):
            draft = TaskDraft("", f"Part {len(self.tasks) + 1}")
            added = tasks.add(self.crew.repo.store, PERSON, draft, attempts_max=100)
            self.tasks.append(int(added["task"]["id"][2:]))

    def strike(self) -> None:
        """One blow, to an agent's process, to a whole agent, or to the supervisor."""
        blow = self._dice.choices(["process", "agent", "supervisor", "both"], [4, 3, 2, 1])[0]
        self.done[blow] += 1
        if blow in ("supervisor", "both"):
            self._shift.kill()
        victims = self.crew.processes()
        if victims and blow != "supervisor":
            chosen = self._dice.choice(victims)
            kill([chosen] if blow == "process" else same_run(chosen, victims))
        if blow in ("supervisor", "both"):
            time.sleep(self._dice.random())
            self._shift = self._start()
        assert not self._shift.is_over, self._shift.said

    def rage(self, duration_s: float) -> None:
        self.keep_busy()
        self.crew.until(self.crew.processes, self._shift)
        until = time.monotonic() + duration_s
        while time.monotonic() < until:
            time.sleep(self._dice.uniform(0.05, 1))
            self.strike()
            self.keep_busy()

    def calm(self) -> None:
        """No more blows: whoever is at work is told to stop, and the next supervisor brings all to an end."""
        self.crew.until_heeding(self._shift)
        self._shift.interrupt()
        assert self._shift.code() == 130, self._shift.said
        last = self.crew.run("-n", str(AGENTS), command=self._command)
        assert last.code() in (0, 5), last.said


def kill(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def same_run(pid: int, pids: list[int]) -> list[int]:
    """All processes of one run, by the prompt that they were given."""

    def prompt(of: int) -> bytes:
        try:
            environ = Path(f"/proc/{of}/environ").read_bytes()
        except OSError:
            return b""
        return next((part for part in environ.split(b"\0") if part.startswith(b"LINECLEAR_PROMPT=")), b"")

    return [other for other in pids if prompt(other) == prompt(pid)]


def everything_kept(git: TemporaryRepo) -> set[str]:
    """Every line of every file of every commit that a ref of any kind leads to."""
    rows = git.git("rev-list", "--objects", "--all").splitlines()
    blobs = "\n".join(row.split()[0] for row in rows)
    done = subprocess.run(
        ["git", "cat-file", "--batch=%(objecttype)"], cwd=git.path, input=blobs.encode(), capture_output=True,
        check=True,
    )  # fmt: skip
    return set(done.stdout.decode(errors="replace").split("\n"))


@pytest.fixture
def crew(repo: TemporaryRepo) -> Iterator[Crew]:
    repo.commit("Share", {SHARED: "".join(f"line {number}\n" for number in range(2_000))})
    crew = Crew(repo)
    yield crew
    crew.close()


def assert_all_is_well(chaos: Chaos) -> tuple[int, int]:
    """Gives the number of edits and of runs."""
    crew = chaos.crew
    for task in chaos.tasks:
        assert crew.row(task).state == "merged", (task, crew.row(task).state, crew.row(task).reason)
        assert len(crew.events("TaskMerged", task)) == 1
    ended = Counter(json.loads(entry.body)["id"] for entry in crew.events("RunEnded"))
    started = [entry.position for entry in crew.events("RunStarted")]
    assert ended == Counter(started)
    edits = {line for path in chaos.acks.iterdir() for line in path.read_text().splitlines()}
    lost = sorted(edits - everything_kept(crew.git))
    assert lost == []
    for task in chaos.tasks:
        parts = [crew.on_main(f"parts/{task}/{rest}.txt") for rest in range(3)]
        steps = [part.split()[-1].rpartition(".")[2] if part else "" for part in parts]
        assert steps == ["6", "4", "5"], (task, parts)
    assert crew.processes() == []
    assert crew.findings() == []
    assert crew.git.git("status", "--porcelain") == ""
    crew.git.git("fsck", "--no-progress")
    return len(edits), len(started)


def endure(crew: Crew, duration_s: float, record_property: Callable[[str, object], None]) -> None:
    sys.stderr.write(f"TEST_SEED={SEED}\n")
    chaos = Chaos(crew, SEED)
    chaos.rage(duration_s)
    chaos.calm()
    edits, runs = assert_all_is_well(chaos)
    blows = ", ".join(f"{count} x {what}" for what, count in sorted(chaos.done.items()))
    record_property(
        "told",
        f"chaos, seed {SEED}, {duration_s:.0f} s: {blows} killed; {len(chaos.tasks)} tasks in {runs} runs, "
        f"each ended once; {edits} edits, all kept",
    )


@pytest.mark.slow
@pytest.mark.serial
@pytest.mark.timeout(300)
def test_in_chaos_no_task_is_done_twice_and_no_edit_is_lost(
    crew: Crew, record_property: Callable[[str, object], None]
) -> None:
    endure(crew, 60 if IS_WHOLE else 15, record_property)
