"""What a hook costs an agent: CPU of the whole one-shot process, beside the cheapest process there is.

The first touch of a file in a worktree, the same file again, an edit in a shared tree, the two hooks around
a shell command beside one `git status`, and the first touch in a store that holds many claims.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

from benchmarks.harness import ROOT, Report, at_most_x, median, scratch, take_turns
from benchmarks.start import _as_installed
from lineclear.app import claims
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims import INTENT, Request
from lineclear.core.resources import parse_resource
from lineclear.wiring.repo import open_repo
from tests.repository import TemporaryRepo, clean_environment

TITLE = "hook: `lineclear hook claude EVENT`, one-shot process, SQLite, CPU"
FILES, MANY, FEW = 3_000, 10_000, 10
STUB = """
import sys
sys.path[:0] = {paths!r}
import os
from lineclear.hook.entry import run
run(sys.argv[1:], os.environ)
"""


class Bench:
    def __init__(self, directory: Path) -> None:
        home = directory / "home"
        home.mkdir()
        self.environment = clean_environment(home) | {"PYTHONDONTWRITEBYTECODE": ""}
        self.python = str(_as_installed(directory / "venv"))
        self.stub = directory / "stub.py"
        packages = next((directory / "venv").glob("lib/python*/site-packages"))
        self.stub.write_text(STUB.format(paths=[str(ROOT / "src"), str(packages)]))
        self.directory = directory

    def repo(self, name: str, files: int) -> tuple[TemporaryRepo, Path]:
        repo = TemporaryRepo.create(self.directory / name, self.environment)
        repo.commit("Files", {f"src/d{n % 50}/f{n}.py": f"x = {n}\n" for n in range(files)} or {"a": "a"})
        subprocess.run(
            [self.python, str(Path(self.python).parent / "lineclear"), "init"], cwd=repo.path, check=True,
            env=self.environment, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        return repo, repo.add_worktree("desk")

    def cpu_ms(self, command: list[str], cwd: Path, data: bytes = b"") -> float:
        source = self.directory / "input.json"
        source.write_bytes(data)
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, str(source), os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        ]
        here = os.getcwd()
        os.chdir(cwd)
        try:
            child = os.posix_spawn(command[0], command, self.environment, file_actions=actions)
        finally:
            os.chdir(here)
        _, status, usage = os.wait4(child, 0)
        if status:
            raise RuntimeError(f"{command} ended with status {status}")
        return (usage.ru_utime + usage.ru_stime) * 1_000

    def hook(self, event: str, cwd: Path, tool: str, **given: str) -> float:
        data = {
            "session_id": "bench",
            "cwd": str(cwd),
            "tool_name": tool,
            "tool_input": given,
            "tool_use_id": "t",
        }
        command = [self.python, "-I", "-S", str(self.stub), "claude", event]
        return self.cpu_ms(command, cwd, json.dumps(data).encode())

    def bare(self, cwd: Path) -> float:
        return self.cpu_ms([self.python, "-I", "-S", "-c", "pass"], cwd)


def run(quick: bool) -> Report:
    rounds = 10 if quick else 40
    report = Report()
    with scratch() as directory:
        bench = Bench(Path(directory))
        _edits(bench, rounds, report)
        _shell(bench, rounds, report)
        _growth(bench, rounds, report)
        log = list(Path(directory).glob("*/.git/lineclear/hook-errors.log"))
        if log:
            raise RuntimeError(log[0].read_text())
    report.note("A hook's process: interpreter, imports, store, one transaction. Medians, turns taken.")
    return report


def _edits(bench: Bench, rounds: int, report: Report) -> None:
    repo, tree = bench.repo("edits", 10)
    bare: list[float] = []
    first: list[float] = []
    again: list[float] = []
    shared: list[float] = []
    for turn in range(rounds + 2):
        file = f"new{turn}.py"
        bare.append(bench.bare(tree))
        first.append(bench.hook("PreToolUse", tree, "Edit", file_path=str(tree / file), old_string="x"))
        again.append(bench.hook("PreToolUse", tree, "Edit", file_path=str(tree / file), old_string="x"))
        shared.append(bench.hook("PreToolUse", repo.path, "Edit", file_path=str(repo.path / file)))
    floor, name = median(bare[2:]), "python -I -S -c pass"
    report.add("first touch of a file", median(first[2:]), "ms", beside=(floor, name), target=at_most_x(4))
    report.add("the same file again", median(again[2:]), "ms", beside=(floor, name))
    report.add("an edit in a shared tree, before", median(shared[2:]), "ms", beside=(floor, name))


def _shell(bench: Bench, rounds: int, report: Report) -> None:
    _, tree = bench.repo("shell", FILES)
    status: list[float] = []
    pair: list[float] = []
    bare: list[float] = []
    for turn in range(rounds + 2):
        git = ["/usr/bin/env", "git", "status", "--porcelain", "--untracked-files=all"]
        status.append(bench.cpu_ms(git, tree))
        bare.append(bench.bare(tree))
        before = bench.hook("PreToolUse", tree, "Bash", command="x")
        (tree / f"made{turn % 5}.py").write_text(f"{time.monotonic_ns()}\n")
        pair.append(before + bench.hook("PostToolUse", tree, "Bash", command="x"))
    beside = (median(status[2:]), f"git status, {FILES:,} files")
    report.add(
        "both hooks around a shell command", median(pair[2:]), "ms", beside=beside, target=at_most_x(1.2)
    )
    without = median(pair[2:]) - 2 * median(bare[2:])
    report.add("the same without two interpreter starts", without, "ms", beside=beside)


def _growth(bench: Bench, rounds: int, report: Report) -> None:
    few, many = bench.repo("few", 10), bench.repo("many", 10)
    for (repo, _), count in ((few, FEW), (many, MANY)):
        _fill(repo, bench, count)
    times: dict[str, list[float]] = {"few": [], "many": []}

    def touch(name: str, tree: Path, turn: int) -> None:
        path = str(tree / f"src/n{turn}.py")
        times[name].append(bench.hook("PreToolUse", tree, "Edit", file_path=path, old_string="x"))

    take_turns(rounds + 2, lambda turn: touch("few", few[1], turn), lambda turn: touch("many", many[1], turn))
    beside = (median(times["few"][2:]), f"with {FEW} claims")
    report.add(
        f"first touch with {MANY:,} claims",
        median(times["many"][2:]),
        "ms",
        beside=beside,
        target=at_most_x(1.2),
    )


def _fill(repo: TemporaryRepo, bench: Bench, count: int) -> None:
    opened = open_repo(str(repo.path), bench.environment)
    try:
        for start in range(0, count, 100):
            texts = [f"file:lib{n % 97}/a{n}.py" for n in range(start, min(count, start + 100))]
            request = Request(
                "filler", "main", INTENT, [parse_resource(text) for text in texts], ttl_ms=86_000_000
            )
            claims.ask(opened.store, NobodyDies(), Caller("filler"), request)
    finally:
        opened.close()
