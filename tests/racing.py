"""Processes that all start each round at one instant: a barrier, a try, a barrier, and again.

A racer is a function of a module (so that a fresh interpreter finds it by name), called in a process of
its own with its desk, its number and a `Rounds`. What it returns comes back to the test.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Barrier
from threading import BrokenBarrierError
from typing import Any

from tests.engines import Place
from tests.verbs import Desk

# More than a whole race takes: only a racer that hangs breaks the barrier.
PATIENCE_S = 110.0
_fresh = multiprocessing.get_context("spawn")


class Rounds:
    """The rounds of one race as a racer sees them."""

    def __init__(self, count: int, barrier: Barrier) -> None:
        self.count, self._barrier = count, barrier

    def __iter__(self) -> Iterator[int]:
        for number in range(self.count):
            self.meet()
            yield number

    def meet(self) -> None:
        """Go on when all racers are here."""
        self._barrier.wait(PATIENCE_S)


Racer = Callable[[Desk, int, Rounds, Any], Any]


def race(place: Place, racer: Racer, *, racers: int, rounds: int, extra: Any = None) -> list[Any]:
    """What each racer returns, in the order of their numbers; the first exception of any is raised."""
    barrier = _fresh.Barrier(racers)
    runs = [_start(place, racer, number, Rounds(rounds, barrier), extra) for number in range(racers)]
    try:
        return _results(dict(runs))
    finally:
        for _, process in runs:
            process.kill()
            process.join()


def _start(
    place: Place, racer: Racer, number: int, rounds: Rounds, extra: Any
) -> tuple[Connection, BaseProcess]:
    ear, mouth = _fresh.Pipe(duplex=False)
    process = _fresh.Process(target=_run, args=(place, racer, number, rounds, extra, mouth))
    process.start()
    mouth.close()
    return ear, process


def _results(runs: dict[Connection, BaseProcess]) -> list[Any]:
    results: dict[Connection, Any] = {}
    broken: Exception | None = None
    while len(results) < len(runs):
        for ear in wait([ear for ear in runs if ear not in results]):
            assert isinstance(ear, Connection)
            try:
                results[ear] = ear.recv()
            except EOFError:
                raise RuntimeError(f"a racer died: {runs[ear]}") from None
            if isinstance(results[ear], BrokenBarrierError):
                broken = results[ear]
            elif isinstance(results[ear], Exception):
                raise results[ear]
    if broken is not None:
        raise broken
    return [results[ear] for ear in runs]


def _run(place: Place, racer: Racer, number: int, rounds: Rounds, extra: Any, mouth: Connection) -> None:
    try:
        result = racer(Desk(place.open(), place.liveness()), number, rounds, extra)
    except Exception as error:  # noqa: BLE001  # the boundary of this process: whatever it is, the test hears of it
        rounds._barrier.abort()
        result = (
            RuntimeError(f"racer {number}: {error!r}") if not isinstance(error, BrokenBarrierError) else error
        )
    mouth.send(result)
