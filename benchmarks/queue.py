"""How many checks the queue needs, how many check times it takes, how near it comes to the ideal schedule.

Checks are counted with the real runner on every way to place what is bad; a check then costs nothing and
takes one round. The throughput is all real: git, the store, check trees, processes; only the check is a
`sleep`.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path

from benchmarks.harness import Report, at_least_x, at_most, median, scratch
from lineclear.app.ports import Caller
from lineclear.app.queue.runner import QueueNews, Runner
from lineclear.core.log.tables import CANDIDATE, Candidate
from lineclear.core.queue.candidates import LANDED
from lineclear.wiring.queue import landings_of
from lineclear.wiring.repo import Repo, open_repo
from lineclear.wiring.starting import init_repo
from lineclear.wiring.trust import trust_of
from tests.queueing import Fails, FakeCheckPool, Scene
from tests.repository import TemporaryRepo, clean_environment

TITLE = "queue: checks needed, and candidates landed per second"
PERSON = Caller("anna", is_person=True)
AGENTS, CANDIDATES, CHECK_S, WORKERS, BATCH, PER_SECOND = 20, 200, 2.0, 2, 16, 10.0


class RoundBench(FakeCheckPool):
    """All checks that run at once end at once: a round is one check time."""

    rounds = 0

    def wait(self, timeout_s: float) -> None:
        self.rounds += bool(self._running)
        while self._running:
            super().wait(timeout_s)


class Count:
    """Of one case: checks and rounds until all that is good has landed, and until every reason is known."""

    def __init__(self, size: int, fails: Fails, good: int, workers: int = 1) -> None:
        scene = Scene(fails, places=workers)
        scene.checks = bench = RoundBench(fails, workers, random.Random(1))
        scene.submit("first")
        scene.run()  # main has passed its checks, as it has after every landing
        for number in range(1, size + 1):
            scene.submit(f"n{number}")
        self.landed_runs = self.landed_rounds = bench.rounds = 0

        def hear(news: QueueNews) -> None:
            if news.kind == "landed":
                self.landed_runs, self.landed_rounds = runner.runs, bench.rounds

        runner = Runner(scene.store, PERSON, scene.git, bench, lambda _: scene.rules, hear)
        while runner.step() or runner.is_busy:
            bench.wait(0)
        self.runs, self.rounds = runner.runs, bench.rounds
        if len(scene.landed()) != good + 1:
            raise RuntimeError(f"{len(scene.landed()) - 1} of {good} have landed")


def one_bad(workers: int) -> list[Count]:
    return [Count(8, _fails([[f"n{bad}"]]), 7, workers) for bad in range(1, 9)]


def bad_pairs(workers: int) -> list[Count]:
    pairs = combinations(range(1, 9), 2)
    return [Count(8, _fails([[f"n{one}", f"n{two}"]]), 7, workers) for one, two in pairs]


def _fails(groups: Iterable[Iterable[str]]) -> Callable[[frozenset[str]], bool]:
    sets = [frozenset(group) for group in groups]
    return lambda tree: any(group <= tree for group in sets)


def run(quick: bool) -> Report:
    report = Report()
    clean = Count(16, _fails([]), 16)
    report.add("16 clean candidates, one worker", clean.runs, "checks", target=at_most(1))
    for words, cases, limit in (
        ("one bad of 8", one_bad, 5),
        ("a bad pair in 8", bad_pairs, 9),
    ):
        found = cases(1)
        report.add(
            f"{words}: until the others landed, worst",
            max(count.landed_runs for count in found),
            "checks",
            target=at_most(limit),
        )
        report.add(
            f"{words}: until the reason is known, worst",
            max(count.runs for count in found),
            "checks",
            target=at_most(limit),
        )
        for workers in (1, 2, 4):
            found = cases(workers)
            report.add(
                f"{words}, {workers} worker{'s' if workers > 1 else ''}: landed / reason known, median",
                median([count.landed_rounds for count in found]),
                "check times",
                beside=(median([count.rounds for count in found]), "until the reason is known"),
            )
    _throughput(report, CANDIDATES // 4 if quick else CANDIDATES)
    return report


# -- throughput -------------------------------------------------------------------------------


def _throughput(report: Report, count: int) -> None:
    """The ideal: nothing but arriving and checking takes time, and no candidate waits for a worker; the
    last one to arrive is on main one check later."""
    with scratch() as directory:
        took_s, checks = _land_all(Path(directory), count)
    ideal_s = count / PER_SECOND + CHECK_S
    report.add(
        f"{count} candidates of {AGENTS} agents on main",
        count / took_s,
        "/s",
        beside=(count / ideal_s, "ideal schedule"),
        target=at_least_x(0.85),
    )
    report.note(
        f"{PER_SECOND:.0f} candidates a second arrive, a check takes {CHECK_S:.0f} s, {WORKERS} workers, at "
        f"most {BATCH} candidates more on each level; ideal are {count}/{PER_SECOND:.0f} + {CHECK_S:.0f} = "
        f"{ideal_s:.0f} s from first arrival to last landing. It took {took_s:.1f} s and {checks} checks."
    )


def _land_all(directory: Path, count: int) -> tuple[float, int]:
    git = TemporaryRepo.create(directory / "repo", clean_environment(directory))
    settings = f'[checks]\ngate = "sleep {CHECK_S}"\n[queue]\nbatch = {BATCH}\nworkers = {WORKERS}\n'
    git.commit("Base", {"lineclear.toml": settings, **{f"src/{n}.txt": "base\n" for n in range(200)}})
    for number in range(count):
        git.git("switch", "-q", "-c", f"work{number}", "main")
        git.commit(f"Work {number}", {f"own/{number}.txt": "work\n", f"src/{number % 200}.txt": "changed\n"})
    git.git("switch", "-q", "main")
    init_repo(str(git.path), git.environment)
    repo = open_repo(str(git.path), git.environment)
    trust_of(repo).record(PERSON, trust_of(repo).judged())
    _warm_up(git, repo)
    began_s = time.monotonic()
    agents = [
        threading.Thread(target=_hand_over, args=(git, agent, count, began_s)) for agent in range(AGENTS)
    ]
    with (
        landings_of(repo).turns.take() as _,
        landings_of(repo).open_runner(PERSON, lambda _: None) as runner,
        repo.store.listen() as ear,
    ):
        for agent in agents:
            agent.start()
        runner.run(lambda: len(_landed(repo)) == count + 1, ear.wait)
        took_s = time.monotonic() - began_s
        checks = runner.runs
    for agent in agents:
        agent.join()
    repo.close()
    return took_s, checks


def _warm_up(git: TemporaryRepo, repo: Repo) -> None:
    """The check trees are made once for a repository; here they are there."""
    git.git("switch", "-q", "-c", "first", "main")
    git.commit("First", {"first.txt": "1\n"})
    git.git("switch", "-q", "main")
    landings_of(repo).submit(PERSON, branch="first")
    with landings_of(repo).turns.take(), landings_of(repo).open_runner(PERSON, lambda _: None) as runner:
        runner.run_once()


def _hand_over(git: TemporaryRepo, agent: int, count: int, began_s: float) -> None:
    """Each agent submits its share, one every AGENTS / PER_SECOND seconds."""
    repo = open_repo(str(git.path), git.environment)
    for number in range(agent, count, AGENTS):
        time.sleep(max(0.0, began_s + number / PER_SECOND - time.monotonic()))
        landings_of(repo).submit(Caller(f"agent-{agent}", tree=f"agent-{agent}"), branch=f"work{number}")
    repo.close()


def _landed(repo: Repo) -> list[Candidate]:
    return repo.store.read(lambda view: view.scan(CANDIDATE, "state", (LANDED,)))
