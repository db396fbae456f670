"""Threads for quick calls.

Handing work to a thread takes two turns of the event loop here. anyio takes seven, and meanwhile the loop
keeps the interpreter lock from the thread.
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
        # Taken by the thread that begins the job, or by the caller that cancels it before.
        self.turn = threading.Lock()
        self.answered = loop.create_future()
        self.is_done, self.found = False, None
        self.error: BaseException | None = None


class CallThreadPool:
    """Runs at most `most` jobs at once, in the order of the calls. Use it from one event loop only."""

    def __init__(self, most: int) -> None:
        self._most, self._threads, self._wanted = most, 0, 0
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()

    async def do(self, work: Callable[[], T]) -> T:
        """Return or raise what `work` does. A cancelled caller waits for work that has begun: a thread
        cannot be interrupted, and what it holds must not outlive the call."""
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
        found: T = job.found  # type: ignore[assignment]  # what the work returned
        return found

    def close(self) -> None:
        """End the threads after the jobs that are already queued."""
        for _ in range(self._threads):
            self._jobs.put(None)
        self._threads = 0

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            if job.turn.acquire(blocking=False):
                try:
                    job.found = job.work()
                except BaseException as error:  # noqa: BLE001 - raised in the caller
                    job.error = error
            with suppress(RuntimeError):  # the loop has ended, and nobody waits
                job.loop.call_soon_threadsafe(self._hand_back, job)
            del job  # do not keep it alive until the next one comes

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
