"""A stack of 16 small candidates, built and not moved, beside the bare `git merge-tree` calls of the same
16 merges.

Twice: candidates that touch files of their own, and candidates that also add a line to one changelog and
one dependency to one package.json, which git leaves open and our rules settle.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.harness import Report, at_most_x, median, quantile, scratch_alone, take_turns, timed_us
from lineclear.app.queue.stacking import Submission, put_on
from lineclear.core.queue.landing_results import LINEAR, MERGE
from lineclear.git.landing import CloneGit
from lineclear.git.layout import find_layout
from lineclear.host.merge_processes import MERGE_PROCESSES
from tests.repository import TemporaryRepo

if TYPE_CHECKING:
    from lineclear.merge.rule_jobs import Job

TITLE = "stack: 16 candidates merged level upon level, beside git merge-tree"
FILES, FILES_PER_DIRECTORY, LEVELS = 2_000, 40, 16
FLOOR = f"{LEVELS} x git merge-tree --write-tree"


class Times:
    """Of whole stacks, of their levels, of our rules for texts in each stack, and of git's calls for the
    same merges."""

    def __init__(self) -> None:
        self.stack_ms: list[float] = []
        self.level_ms: list[float] = []
        self.bare_ms: list[float] = []
        self.rules_ms: list[float] = []


class Bench:
    def __init__(self, repo: TemporaryRepo, submissions: list[Submission], style: str) -> None:
        self._repo, self._submissions, self._style = repo, submissions, style
        self._layout = find_layout(str(repo.path), {})
        self._main = repo.git("rev-parse", "main")
        self.times, self._rules_ms = Times(), 0.0
        self._merges = self._pairs()

    def _pairs(self) -> list[tuple[str, str]]:
        """What is merged on each level."""
        below = [self._main, *self._build([])]
        return [
            (commit, submission.tip) for commit, submission in zip(below, self._submissions, strict=False)
        ]

    def stack(self, _turn: int) -> None:
        levels_ms: list[float] = []
        os.sync()
        self._rules_ms = 0.0
        self.times.stack_ms.append(timed_us(lambda: self._build(levels_ms)) / 1_000)
        self.times.level_ms += levels_ms
        self.times.rules_ms.append(self._rules_ms)

    def run(self, jobs: Sequence[Job]) -> list[Any]:
        """The merge rules, timed."""
        began_ns = time.perf_counter_ns()
        results = MERGE_PROCESSES.run(jobs)
        self._rules_ms += (time.perf_counter_ns() - began_ns) / 1_000_000
        return results

    def _build(self, levels_ms: list[float]) -> list[str]:
        """All that a new stack needs is started, and ended, in here."""
        ground, commits = CloneGit(self._layout, "main"), [self._main]

        def one_more(submission: Submission) -> None:
            level = put_on(ground, self, commits[-1], submission, style=self._style)
            if not level.fits:
                raise RuntimeError(f"{submission.branch} does not fit: {level.conflicts}")
            commits.append(level.commit)

        for submission in self._submissions:
            levels_ms.append(timed_us(lambda submission=submission: one_more(submission)) / 1_000)  # type: ignore[misc]
        ground.close()
        return commits[1:]

    def bare(self, _turn: int) -> None:
        os.sync()
        self.times.bare_ms.append(timed_us(self._merge_all) / 1_000)

    def _merge_all(self) -> None:
        for below, tip in self._merges:
            words = ["git", "merge-tree", "--write-tree", below, tip]
            subprocess.run(words, cwd=self._repo.path, stdout=subprocess.DEVNULL, check=False)


def run(quick: bool) -> Report:
    rounds = 5 if quick else 25
    with scratch_alone() as (directory, environment):
        return _measure(_repo(directory / "repo", environment), rounds)


def _measure(repo: TemporaryRepo, rounds: int) -> Report:
    own = [_candidate(repo, number, shared=False) for number in range(LEVELS)]
    shared = [_candidate(repo, number, shared=True) for number in range(LEVELS)]
    repo.commit("Main goes on", {"src/part0/later.py": "later = 1\n"})
    benches = {
        "files of their own": Bench(repo, own, MERGE),
        "files of their own, a linear history": Bench(repo, own, LINEAR),
        "also one changelog and one package.json": Bench(repo, shared, MERGE),
    }
    gc.disable()
    try:
        blocks = [block for bench in benches.values() for block in (bench.stack, bench.bare)]
        take_turns(rounds, *blocks)
    finally:
        gc.enable()
    return _report({what: bench.times for what, bench in benches.items()})


def _repo(path: Path, environment: dict[str, str]) -> TemporaryRepo:
    repo = TemporaryRepo.create(path, environment)
    files = {_name(number): _text(number) for number in range(FILES)}
    package = {"name": "shop", "dependencies": {f"middle-{number}": "^1.0.0" for number in range(8)}}
    files |= {"CHANGELOG.md": _changelog([]), "package.json": json.dumps(package, indent=2) + "\n"}
    repo.commit("Fill", files)
    repo.git("gc", "--quiet")
    return repo


def _candidate(repo: TemporaryRepo, number: int, *, shared: bool) -> Submission:
    """A branch off main that changes one file and adds one."""
    branch = f"{'shared' if shared else 'own'}-{number}"
    place = repo.add_worktree(branch)
    name = _name(number * FILES_PER_DIRECTORY)
    files = {name: _text(number) + f"more = {number}\n", f"src/new/module{number}.py": _text(number)}
    if shared:
        package = json.loads((place / "package.json").read_text())
        package["dependencies"] |= {f"new-{number:02}": "^2.0.0"}
        files["package.json"] = json.dumps(package, indent=2) + "\n"
        files["CHANGELOG.md"] = _changelog([f"Part {number} is there."])
    tip = repo.commit(f"Part {number}", files, at=place)
    return Submission(branch, tip, id=number + 1, task=f"T-{number + 1}", title=f"Part {number}", agent="ada")


def _changelog(entries: list[str]) -> str:
    rows = ["It begins.", "It goes on.", *entries]
    return "# Changelog\n\n## Unreleased\n\n" + "".join(f"- {row}\n" for row in rows)


def _name(number: int) -> str:
    return f"src/part{number // FILES_PER_DIRECTORY}/module{number}.py"


def _text(number: int) -> str:
    return "".join(f"value_{line} = {number + line}\n" for line in range(40))


def _report(found: dict[str, Times]) -> Report:
    report = Report()
    for what, times in found.items():
        bare_ms = median(times.bare_ms)
        report.add(what, median(times.stack_ms), "ms", beside=(bare_ms, FLOOR), target=at_most_x(1.3))
        report.add("  a level, p50", median(times.level_ms), "ms", beside=(bare_ms / LEVELS, "one call"))
        report.add("  a level, p95", quantile(times.level_ms, 0.95), "ms")
        if median(times.rules_ms) > 1:
            report.add("  of the stack: our rules, on texts that git left open", median(times.rules_ms), "ms")
    rounds = len(next(iter(found.values())).stack_ms)
    report.note(f"Median of {rounds} stacks, taking turns, every process counted.")
    report.note(f"{FILES:,} files, packed; what the candidates bring is not.")
    return report
