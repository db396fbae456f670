"""Real processes that start together: each prepares, waits for all the others, works, and reports."""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.synchronize import Barrier

J = TypeVar("J")
T = TypeVar("T")

READY_WITHIN_S = 120.0


class Start:
    """Handed to each process: `wait` returns in all of them at the same moment, and says when it was."""

    def __init__(self, barrier: Barrier) -> None:
        self._barrier = barrier

    def wait(self) -> float:
        self._barrier.wait(READY_WITHIN_S)
        return time.monotonic()

    def abort(self) -> None:
        """Nobody waits for a process that failed before it was ready."""
        self._barrier.abort()


def run_together(work: Callable[[Start, J], T], jobs: Sequence[J], limit_s: float) -> list[T]:
    """One new interpreter for each job; what `work` returned, in the order of the jobs."""
    context = multiprocessing.get_context("spawn")
    start = Start(context.Barrier(len(jobs)))
    pipes = [context.Pipe(duplex=False) for _ in jobs]
    members = [
        context.Process(target=_member, args=(sender, work, start, job), daemon=True)
        for (_, sender), job in zip(pipes, jobs, strict=True)
    ]
    try:
        for member in members:
            member.start()
        deadline = time.monotonic() + READY_WITHIN_S + limit_s
        answers = [_answer(receiver, deadline) for receiver, _ in pipes]
    finally:
        for member in members:
            if member.pid is not None:
                member.kill()
                member.join()
    _raise_first([failure for _, failure in answers if failure])
    return [answer for answer, _ in answers]


def _member(sender: Connection, work: Callable[[Start, J], T], start: Start, job: J) -> None:
    try:
        sender.send((work(start, job), ""))
    except Exception:  # noqa: BLE001 - it is raised again, in the process that has the terminal
        sender.send((None, traceback.format_exc()))
        start.abort()


def _answer(receiver: Connection, deadline: float) -> tuple[Any, str]:
    if not receiver.poll(max(0.0, deadline - time.monotonic())):
        raise RuntimeError("a process of the benchmark did not finish in time")
    answer: tuple[Any, str] = receiver.recv()
    return answer


def _raise_first(failures: list[str]) -> None:
    """The cause, not the others that it kept from starting."""
    causes = [failure for failure in failures if "BrokenBarrierError" not in failure] or failures
    if causes:
        raise RuntimeError(f"a process of the benchmark failed\n{causes[0]}")
