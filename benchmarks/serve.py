"""What `lineclear serve` saves a short-lived command: asked over its socket, beside done alone.

Measured as benchmarks/start.py does. What the server spends for it is counted, too, and so is the operation
id that every command makes for itself when it asks.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness import ROOT, Report, at_most_x, cpu_us, median, scratch, take_turns
from benchmarks.start import Times, _run, installed
from lineclear.app import claims
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims import EXCLUSIVE, Request
from lineclear.core.resources import parse_resource
from lineclear.process.door import read_door
from lineclear.wiring.moving import new_sqlite
from tests.repository import TemporaryRepo

TITLE = "serve: one-shot commands through a server, and alone"
VERBS = {"claim FILE": ("claim", "src/file{}.py"), "who FILE": ("who", "src/file1.py"), "status": ("status",)}
START_WITHIN_S = 60.0
ALONE = {"LINECLEAR_SERVE": "0"}


def run(quick: bool) -> Report:
    rounds = 10 if quick else 40
    with scratch() as directory:
        repo, python = installed(directory)
        command = [str(python), str(python.parent / "lineclear")]
        _run([*command, "init"], repo, Times())
        server = _start(repo)
        try:
            report = _measure(repo, python, command, server.pid, rounds)
        finally:
            server.terminate()
            server.wait()
        _measure_ids(report, Path(directory, "ids"), 5 * rounds)
        return report


def _start(repo: TemporaryRepo) -> subprocess.Popen[bytes]:
    env = {**repo.environment, "PYTHONPATH": str(ROOT / "src")}
    null = subprocess.DEVNULL
    server = subprocess.Popen(
        [sys.executable, "-m", "lineclear", "serve"], cwd=repo.path, env=env, stdout=null, stderr=null
    )
    end = time.monotonic() + START_WITHIN_S
    while read_door(str(repo.path / ".git" / "lineclear")) is None:
        if server.poll() is not None or time.monotonic() > end:
            raise RuntimeError("the server does not start")
        time.sleep(0.02)
    return server


def _measure(repo: TemporaryRepo, python: Path, command: list[str], server: int, rounds: int) -> Report:
    alone = TemporaryRepo(repo.path, {**repo.environment, **ALONE})
    bare = Times()
    asked, direct = {name: Times() for name in VERBS}, {name: Times() for name in VERBS}
    spent: dict[str, list[float]] = {name: [] for name in VERBS}

    def ask(name: str, words: tuple[str, ...]) -> Callable[[int], None]:
        def act(turn: int) -> None:
            before = _cpu_ms(server)
            _run([*command, *(word.format(2 * turn) for word in words)], repo, asked[name])
            spent[name].append(_cpu_ms(server) - before)

        return act

    def do(name: str, words: tuple[str, ...]) -> Callable[[int], None]:
        return lambda turn: _run(
            [*command, *(word.format(2 * turn + 1) for word in words)], alone, direct[name]
        )

    turns: list[Callable[[int], None]] = [
        lambda _turn: _run([str(python), "-I", "-S", "-c", "pass"], repo, bare)
    ]
    for name, words in VERBS.items():
        turns += [ask(name, words), do(name, words)]
    take_turns(rounds + 2, *turns)
    report, floor = Report(), "python -I -S -c pass"
    for name in VERBS:
        cpu, wall = median(asked[name].cpu_ms[2:]), median(asked[name].wall_ms[2:])
        target = at_most_x(3) if name == "claim FILE" else None
        report.add(
            f"{name} through serve, CPU", cpu, "ms", beside=(median(bare.cpu_ms[2:]), floor), target=target
        )
        report.add(
            f"{name} through serve, CPU", cpu, "ms", beside=(median(direct[name].cpu_ms[2:]), "alone"),
            target=at_most_x(0.7),
        )  # fmt: skip
        report.add(
            f"{name} through serve, wall clock",
            wall,
            "ms",
            beside=(median(direct[name].wall_ms[2:]), "alone"),
        )
    each = ", ".join(f"{name} {sum(times[2:]) / len(times[2:]):.1f} ms" for name, times in spent.items())
    report.note(
        f"Median of {rounds}. CPU of the server for each, as a mean: {each}; its own works are in it."
    )
    return report


def _cpu_ms(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1_000 / os.sysconf("SC_CLK_TCK")


def _measure_ids(report: Report, place: Path, rounds: int) -> None:
    """A claim in one process, with an operation id and without."""
    place.mkdir()
    store = new_sqlite(str(place))
    times: dict[bool, list[float]] = {True: [], False: []}

    def claim(turn: int, *, is_keyed: bool) -> None:
        resource = parse_resource(f"file:src/{is_keyed}{turn}.py")
        request = Request("bench", "main", EXCLUSIVE, [resource], ttl_ms=3_600_000)
        caller = Caller("bench", op=f"own:{turn:024x}" if is_keyed else "")
        times[is_keyed].append(cpu_us(lambda: claims.ask(store, NobodyDies(), caller, request)))

    try:
        take_turns(rounds, lambda turn: claim(turn, is_keyed=True), lambda turn: claim(turn, is_keyed=False))
    finally:
        store.close()
    report.add(
        "a claim with an operation id, CPU in one process", median(times[True]), "us",
        beside=(median(times[False]), "without one"), target=at_most_x(1.5),
    )  # fmt: skip
