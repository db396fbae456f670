"""Threads that do the quick calls.

A hand-over takes two turns of the event loop. anyio's own takes seven, and for as long as they last the loop
keeps the interpreter from the thread that is to begin.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")


class _Job:
    def __init__(self, work: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> None:
        self.work, self.loop = work, loop
        # Taken by the thread that begins it, or by who gives it up before that.
        self.turn = threading.Lock()
        self.answered = loop.create_future()
        self.is_done, self.found = False, None
        self.error: BaseException | None = None


class CallThreadPool:
    """At most so many jobs at once, begun in the order in which they were asked for. All but `do`'s work
    happens in the thread of one event loop."""

    def __init__(self, most: int) -> None:
        self._most, self._threads, self._wanted = most, 0, 0
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()

    async def do(self, work: Callable[[], T]) -> T:
        """What the work gives or raises. Whoever is cancelled comes back when it has ended, if it has begun:
        a thread cannot be interrupted, and what it holds must not outlive who asked for it."""
        job = _Job(work, asyncio.get_running_loop())
        self._wanted += 1
        if self._wanted > self._threads and self._threads < self._most:
            self._threads += 1
            threading.Thread(target=self._serve, name="call", daemon=True).start()
        self._jobs.put(job)
        try:
            await job.answered
        except asyncio.CancelledError:
            await _outlast(job)
            raise
        if job.error is not None:
            raise job.error
        found: T = job.found  # type: ignore[assignment]  # what the work gave
        return found

    def close(self) -> None:
        """The threads end once all is done that was asked for."""
        for _ in range(self._threads):
            self._jobs.put(None)
        self._threads = 0

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            if job.turn.acquire(blocking=False):
                try:
                    job.found = job.work()
                except BaseException as error:  # noqa: BLE001 - raised where it was asked for
                    job.error = error
            with suppress(RuntimeError):  # the loop is over, and nobody waits any more
                job.loop.call_soon_threadsafe(self._hand_back, job)
            del job  # nothing of it is kept until the next one comes

    def _hand_back(self, job: _Job) -> None:
        self._wanted -= 1
        job.is_done = True
        if not job.answered.done():
            job.answered.set_result(None)


async def _outlast(job: _Job) -> None:
    if job.is_done or job.turn.acquire(blocking=False):
        return
    job.answered = job.loop.create_future()
    with anyio.CancelScope(shield=True):
        await job.answered
