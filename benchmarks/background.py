"""What it costs to have somebody in the background: 50 agents' worktrees in which nothing happens, and how
late a change is seen in one of them. Worktrees of agents that were heard of lately are looked at all the
time, those of silent ones much less.

Counted is all that the process uses and starts, its gits included. Beside it stands what looking costs: one
`git status` for each worktree every four seconds, which is what a snapshot of every worktree begins with.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.harness import ROOT, Report, at_most, median, quantile, scratch
from benchmarks.supervisor import processor_s, resident_bytes, sample
from lineclear.app import claims, tasks
from lineclear.app.ports import Caller
from lineclear.core.claims.granting import INTENT, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.tasks.lists import TaskDraft
from lineclear.git.snapshots.refs import list_snapshots
from lineclear.settings.local_file import write_local_section
from lineclear.wiring.repo import Repo, open_repo
from tests.repository import TemporaryRepo, clean_environment

TITLE = "background: 50 worktrees in which nothing happens"
AGENTS = 50
PATIENCE_S = 120.0
EVERY_S = 4.0
PERSON = Caller("anna", is_person=True)


def run(quick: bool) -> Report:
    watch_s, changes = (10, 3) if quick else (130, 15)  # longer than the longest of its own rounds
    with scratch() as directory:
        home = Path(directory, "home")
        home.mkdir()
        git = sample(Path(directory, "repo"), clean_environment(home))
        repo = open_repo(str(git.path), git.environment)
        write_local_section(repo.state_directory, "[mirror]", ["tasks = true"])
        places = [_agent(git, repo, f"agent-{number}") for number in range(AGENTS)]
        with _background(git, LINECLEAR_AGENTS_SILENCE="10s") as pid:
            _until(lambda: len(list_snapshots(repo.layout.common_dir)) >= AGENTS)
            time.sleep(15)  # until all count as silent
            silent_share = _share(pid, watch_s)
        with _background(git) as pid:
            time.sleep(10)
            share = _share(pid, watch_s)
            full_bytes = resident_bytes(pid)
            # Once after a long rest, and at once again: the second has to wait for its turn.
            saved_s = [
                (_until_saved(repo, places[number], number), _until_saved(repo, places[number], number))
                for number in range(changes)
            ]
            shown_s = [_until_shown(repo, git.path, number) for number in range(changes)]
        looking_s = _looking_s(git, places[:10]) / 10
        repo.close()
    report = Report()
    report.add(
        f"{AGENTS} silent agents: share of one core", silent_share * 100, "%",
        beside=(looking_s * AGENTS / EVERY_S * 100, "for `git status` of each"), target=at_most(2),
    )  # fmt: skip
    report.add(
        f"{AGENTS} agents heard of lately, no change: share of one core", share * 100, "%",
        beside=(looking_s * AGENTS / EVERY_S * 100, "for `git status` of each"), target=at_most(10),
    )  # fmt: skip
    report.add("memory with all of them", full_bytes / 1e6, "MB")
    report.add("a changed file is in a snapshot after (median)", median([first for first, _ in saved_s]), "s")
    slowest_s = quantile([second for _, second in saved_s], 1.0)
    report.add("... one that changes right after a snapshot (slowest)", slowest_s, "s", target=at_most(5))
    report.add("a new task is in TASKS.md after (median)", median(shown_s), "s", target=at_most(1))
    report.note(f"User and system time over {watch_s} s, ended children (git) included; 1,000 files each.")
    return report


def _agent(git: TemporaryRepo, repo: Repo, name: str) -> Path:
    place = git.add_worktree(name)
    request = Request(name, name, INTENT, [parse_resource(f"value:{name}")], ttl_ms=86_400_000)
    claims.ask(repo.store, repo.liveness, Caller(name, tree=name), request)
    return place


@contextmanager
def _background(git: TemporaryRepo, **more: str) -> Iterator[int]:
    environ = {**git.environment, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", **more}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.backgrounds", str(git.path)],
        env=environ, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process.pid
    finally:
        process.communicate(timeout=PATIENCE_S)


def _share(pid: int, watch_s: float) -> float:
    before_s, began = processor_s(pid), time.monotonic()
    time.sleep(watch_s)
    return (processor_s(pid) - before_s) / (time.monotonic() - began)


def _until_saved(repo: Repo, place: Path, number: int) -> float:
    agent = f"agent-{number}"
    before = len(list_snapshots(repo.layout.common_dir, agent))
    (place / "src" / "part1" / "module1.py").write_text(f"changed = {number}, {before}\n")
    return _until(lambda: len(list_snapshots(repo.layout.common_dir, agent)) > before)


def _until_shown(repo: Repo, path: Path, number: int) -> float:
    tasks.add(repo.store, PERSON, TaskDraft("", f"Subject {number} of {path.name}"))
    return _until(lambda: f"Subject {number} of" in (path / "TASKS.md").read_text())


def _looking_s(git: TemporaryRepo, places: list[Path]) -> float:
    import resource

    def used_s() -> float:
        found = resource.getrusage(resource.RUSAGE_CHILDREN)
        return found.ru_utime + found.ru_stime

    before_s = used_s()
    for place in places:
        git.git("--no-optional-locks", "status", "--porcelain", at=place)
    return used_s() - before_s


def _until(is_so: object) -> float:
    assert callable(is_so)
    began = time.monotonic()
    while not is_so():
        if time.monotonic() - began > PATIENCE_S:
            raise RuntimeError("it did not come to pass")
        time.sleep(0.02)
    return time.monotonic() - began
