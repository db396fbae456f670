"""What a snapshot of a worktree with 5,000 files costs beside `git status --porcelain` in the same place."""

from __future__ import annotations

import resource
import time
from pathlib import Path

from benchmarks.harness import Report, at_most_x, median, scratch
from lineclear.core.worktrees.snapshots import AT_WORK, Snapshot, SnapshotLimits
from lineclear.git.layout import find_layout
from lineclear.git.run import git
from lineclear.git.snapshots.taking import Snapshots
from tests.repository import TemporaryRepo, clean_environment

TITLE = "snapshot: a worktree of 5,000 files, beside git status"
FILES, DIRECTORIES = 5_000, 250
# Longer than a tick of the file system's clock: files younger than that are read again by everybody.
SETTLED_S = 0.06
FLOOR = "git status --porcelain"


class Times:
    def __init__(self) -> None:
        self.wall_ms: list[float] = []
        self.cpu_ms: list[float] = []


class Bench:
    def __init__(self, repo: TemporaryRepo, tree: Path) -> None:
        layout = find_layout(str(tree), {})
        self.tree, self.repo = tree, repo
        self.snapshots = Snapshots(layout, f"{layout.common_dir}/lineclear/snapshots")
        self.limits = SnapshotLimits(largest_file_bytes=10 << 20, secret_names=(".env", "*.pem", "*.key"))

    def status(self, times: Times) -> None:
        began, cpu_began = time.perf_counter(), _cpu_s()
        git(["status", "--porcelain"], str(self.tree))
        _note(times, began, cpu_began)

    def take(self, times: Times, *, is_new: bool) -> None:
        began, cpu_began = time.perf_counter(), _cpu_s()
        taken = self._take()
        _note(times, began, cpu_began)
        if (taken is not None) != is_new:
            raise RuntimeError(f"a snapshot was {'not ' if is_new else ''}taken")

    def settle(self) -> None:
        time.sleep(SETTLED_S)
        self._take()

    def _take(self) -> Snapshot | None:
        return self.snapshots.take(agent="bench", why=AT_WORK, at_s=int(time.time()), limits=self.limits)

    def append(self, number: int, text: str) -> None:
        with open(self.tree / file_name(number), "a", encoding="ascii") as file:
            file.write(text)
        time.sleep(SETTLED_S)


def run(quick: bool) -> Report:
    rounds = 8 if quick else 40
    with scratch() as directory:
        home = Path(directory, "home")
        home.mkdir()
        repo = TemporaryRepo.create(Path(directory, "repo"), clean_environment(home))
        repo.commit("Files", {file_name(number): _text(number) for number in range(FILES)})
        bench = Bench(repo, repo.add_worktree("w"))
        return _measure(bench, rounds)


def _measure(bench: Bench, rounds: int) -> Report:
    clean, unchanged, dirty, changed, elsewhere = Times(), Times(), Times(), Times(), Times()
    repo, tree = bench.repo, bench.tree
    repo.git("status", at=tree)
    for turn in range(rounds):
        bench.settle()
        bench.status(clean)
        bench.take(unchanged, is_new=False)
        bench.append(0, f"{turn}\n")
        bench.status(dirty)
        bench.take(changed, is_new=True)
        bench.append(1 + turn, f"{turn}\n")
        bench.take(elsewhere, is_new=True)
        repo.git("checkout", "--quiet", "--", file_name(1 + turn), at=tree)
    return _report(clean, unchanged, dirty, changed, elsewhere)


def _report(clean: Times, unchanged: Times, dirty: Times, changed: Times, elsewhere: Times) -> Report:
    report = Report()
    rows = (
        ("nothing changed", unchanged, clean, at_most_x(1.2)),
        ("one file changed", changed, dirty, at_most_x(1.5)),
        ("two, one of them where nothing changed before", elsewhere, dirty, None),
    )
    for what, times, floor, target in rows:
        report.add(what, median(times.wall_ms), "ms", beside=(median(floor.wall_ms), FLOOR), target=target)
    for what, times, floor, _ in rows:
        report.add(f"{what}, CPU", median(times.cpu_ms), "ms", beside=(median(floor.cpu_ms), FLOOR))
    report.note(
        f"Median of {len(clean.wall_ms)} rounds; git's processes and our own work are in both columns."
    )
    return report


def file_name(number: int) -> str:
    return f"src/part{number % DIRECTORIES}/file{number}.py"


def _text(number: int) -> str:
    return "".join(f"value_{number}_{line} = {number * line}\n" for line in range(40))


def _cpu_s() -> float:
    used = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _note(times: Times, began: float, cpu_began: float) -> None:
    times.wall_ms.append((time.perf_counter() - began) * 1_000)
    times.cpu_ms.append((_cpu_s() - cpu_began) * 1_000)
