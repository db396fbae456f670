"""A worktree that is ready for an agent, beside a bare `git worktree add` of the same commit.

Ready means: reserved in the store, made by git, its ports tried, room on the disk checked, an ignored file
copied. Both take turns, each in a new place; what they made is removed outside of the measured time, and
the disk is quiet before each turn: else our commit would wait for the files of the turn before.
"""

from __future__ import annotations

import gc
import os
import subprocess
from pathlib import Path

from benchmarks.harness import Report, at_most_x, median, scratch_alone, take_turns, timed_us
from lineclear.wiring.repo import open_repo
from lineclear.wiring.starting import init_repo
from lineclear.wiring.worktrees import worktrees_in
from tests.repository import TemporaryRepo

TITLE = "worktree: ready to work in, beside `git worktree add`"
FILES = 5_000
FILES_PER_DIRECTORY = 50


def run(quick: bool) -> Report:
    rounds = 4 if quick else 12
    with scratch_alone() as (directory, environment):
        return _measure(_big_repo(directory / "repo", environment), rounds)


def _big_repo(path: Path, environment: dict[str, str]) -> TemporaryRepo:
    repo = TemporaryRepo.create(path, environment)
    for number in range(FILES):
        file = path / "src" / f"part{number // FILES_PER_DIRECTORY}" / f"module{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"value_{line} = {number + line}\n" for line in range(60)))
    (path / ".gitignore").write_text(".env\n")
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--message=Fill")
    (path / ".env").write_text("TOKEN=for-tests\n")
    return repo


def _measure(repo: TemporaryRepo, rounds: int) -> Report:
    init_repo(str(repo.path), repo.environment)
    ours = open_repo(str(repo.path), repo.environment)
    bare_ms: list[float] = []
    ready_ms: list[float] = []
    places = repo.path.parent / "bare"

    def bare(turn: int) -> None:
        path = str(places / f"tree{turn}")
        words = ["git", "worktree", "add", "--quiet", "-b", f"bare-{turn}", path, "main"]
        os.sync()
        bare_ms.append(timed_us(lambda: subprocess.run(words, cwd=repo.path, check=True)) / 1_000)
        repo.git("worktree", "remove", "--force", path)

    worktrees = worktrees_in(ours)

    def ready(turn: int) -> None:
        caller = ours.caller()
        os.sync()
        ready_ms.append(
            timed_us(lambda: worktrees.make(caller, name=f"tree{turn}", agent=f"agent-{turn}")) / 1_000
        )
        worktrees.discard(caller, f"tree{turn}", why="measured")

    gc.disable()
    try:
        take_turns(rounds // 2 + 1, bare, ready)
        take_turns(rounds - rounds // 2, lambda turn: ready(turn + rounds), lambda turn: bare(turn + rounds))
    finally:
        gc.enable()
        ours.close()
    return _report(bare_ms[1:], ready_ms[1:])


def _report(bare_ms: list[float], ready_ms: list[float]) -> Report:
    report = Report()
    report.add(
        f"a worktree of {FILES:,} files, ready",
        median(ready_ms),
        "ms",
        beside=(median(bare_ms), "git worktree add"),
        target=at_most_x(1.15),
    )
    report.add(
        "the same, fastest of all", min(ready_ms), "ms", beside=(min(bare_ms), "git worktree add"),
    )  # fmt: skip
    report.note(
        f"Median of {len(ready_ms)}, taking turns. Without set-up commands; one ignored file is copied."
    )
    return report
