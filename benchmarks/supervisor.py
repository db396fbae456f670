"""What it costs to watch agents that do nothing: processor time and memory of the supervisor itself.

The agents are `sleep`. Counted is everything that the supervisor uses and starts, the gits of its snapshots
included; of each agent only the shell that notes its exit code, for the client itself is not ours.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.harness import ROOT, Report, at_most, scratch
from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.app.runs import records
from lineclear.core.tasks.lists import TaskDraft
from lineclear.wiring.repo import open_repo
from lineclear.wiring.starting import init_repo
from tests.repository import TemporaryRepo, clean_environment

TITLE = "supervisor: 50 agents that do nothing"
AGENTS = 50
PATIENCE_S = 120.0
FILES = 1_000
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PERSON = Caller("anna", is_person=True)


def run(quick: bool) -> Report:
    watch_s = 10 if quick else 130  # longer than the longest of the supervisor's own rounds
    with scratch() as directory:
        home = Path(directory, "home")
        home.mkdir()
        repo = sample(Path(directory, "repo"), clean_environment(home))
        with _supervisor(repo, 0) as alone:
            time.sleep(3)
            empty_bytes = resident_bytes(alone)
        _add_tasks(repo)
        with _supervisor(repo, AGENTS) as busy:
            time.sleep(10)  # the first snapshots, and all that is done once
            before_s, began = processor_s(busy), time.monotonic()
            time.sleep(watch_s)
            share = (processor_s(busy) - before_s) / (time.monotonic() - began)
            full_bytes = resident_bytes(busy)
            shell_bytes = _shells_bytes(busy)
    return _report(share, empty_bytes, full_bytes, shell_bytes, watch_s)


def sample(path: Path, environment: dict[str, str]) -> TemporaryRepo:
    repo = TemporaryRepo.create(path, environment)
    for number in range(FILES):
        file = path / "src" / f"part{number % 20}" / f"module{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"value = {number}\n" * 20)
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--message=Fill")
    init_repo(str(path), environment)
    return repo


def _add_tasks(repo: TemporaryRepo) -> None:
    ours = open_repo(str(repo.path), repo.environment)
    for number in range(AGENTS):
        tasks.add(ours.store, PERSON, TaskDraft("", f"Wait {number}"), attempts_max=1)
    ours.close()


@contextmanager
def _supervisor(repo: TemporaryRepo, agents: int) -> Iterator[int]:
    """Its pid, once this many agents are at work."""
    argv = [sys.executable, "-m", "lineclear", "run", "-n", str(AGENTS), "--stay", "--", "sleep", "86400"]
    environ = {**repo.environment, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(
        argv, cwd=repo.path, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _until_at_work(repo, agents)
        yield process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_S)


def _until_at_work(repo: TemporaryRepo, agents: int) -> None:
    ours = open_repo(str(repo.path), repo.environment)
    deadline = time.monotonic() + PATIENCE_S
    while len(ours.store.read(records.live_runs)) < agents:
        if time.monotonic() > deadline:
            raise RuntimeError("the agents do not start")
        time.sleep(0.2)
    ours.close()


# -- what the system says -----------------------------------------------------------------------


def processor_s(pid: int) -> float:
    """Of the process and of all its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / TICKS_PER_S


def resident_bytes(pid: int) -> int:
    return _memory_bytes(pid, "Rss:")


def _shells_bytes(supervisor: int) -> int:
    """What the noting shells have for themselves, all together."""
    threads = Path(f"/proc/{supervisor}/task").iterdir()
    found = [pid for thread in threads for pid in (thread / "children").read_text().split()]
    return sum(_memory_bytes(int(pid), "Private_Clean:", "Private_Dirty:") for pid in found if _is_shell(pid))


def _is_shell(pid: str) -> bool:
    return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"/bin/sh\0")


def _memory_bytes(pid: int, *names: str) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(names))


def _report(share: float, empty_bytes: int, full_bytes: int, shell_bytes: int, watch_s: int) -> Report:
    report = Report()
    per_agent_mb = ((full_bytes - empty_bytes) + shell_bytes) / AGENTS / 1e6
    report.add(f"{AGENTS} idle agents: share of one core", share * 100, "%", target=at_most(2))
    report.add("memory for each agent beside its client", per_agent_mb, "MB", target=at_most(4))
    report.add("the supervisor with nobody to watch", empty_bytes / 1e6, "MB")
    report.add(f"the supervisor with {AGENTS} agents", full_bytes / 1e6, "MB")
    report.add("the shell that notes an agent's exit code", shell_bytes / AGENTS / 1e6, "MB")
    report.note(
        f"User and system time over {watch_s} s, ended children (git) included; a repository of "
        f"{FILES:,} files, a worktree for each agent."
    )
    return report
