"""Runs jobs in threads, and waits in one place for a finished job, an ended child or a signal."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from lineclear.host.interrupt_shield import shield_thread
from lineclear.host.stop_signals import STOP_SIGNALS

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import Any


def start_thread(work: Callable[[], None], name: str) -> None:
    """Start a daemon thread whose child processes do not get the terminal's signals."""

    def run() -> None:
        shield_thread()
        work()

    threading.Thread(target=run, name=name, daemon=True).start()


class Jobs:
    """A context for the main thread: inside it, stop signals are counted instead of ending the process."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, "lineclear", initializer=shield_thread)
        self._done: deque[tuple[str, Any]] = deque()
        self._wake_end, self._signal_end = os.pipe()
        for fd in (self._wake_end, self._signal_end):
            os.set_blocking(fd, False)
        self.interrupts = 0

    def __enter__(self) -> Jobs:
        self._wakeup_before = signal.set_wakeup_fd(self._signal_end, warn_on_full_buffer=False)
        # An ignored SIGHUP stays ignored: started by nohup, we must outlive the terminal.
        counted = [n for n in STOP_SIGNALS if n != signal.SIGHUP or signal.getsignal(n) != signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._count) for number in counted}
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, _no_action)
        return self

    def __exit__(self, *exc: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        for number, action in self._before.items():
            signal.signal(number, action)
        signal.set_wakeup_fd(self._wakeup_before)
        os.close(self._wake_end)
        os.close(self._signal_end)

    def submit(self, key: str, job: Callable[[], Any]) -> None:
        self._pool.submit(job).add_done_callback(lambda future: self._finish(key, future))

    def wait(self, timeout_s: float) -> list[tuple[str, Any]]:
        """(key, answer or exception) of each finished job. Returns early if anything happens."""
        if not self._done:
            waiter = select.poll()
            waiter.register(self._wake_end, select.POLLIN)
            if waiter.poll(max(0.0, timeout_s) * 1000):
                try:
                    while os.read(self._wake_end, 4096):
                        pass
                except BlockingIOError:
                    pass
        found = []
        while self._done:
            found.append(self._done.popleft())
        return found

    def _finish(self, key: str, future: Future[Any]) -> None:
        error = None if future.cancelled() else future.exception()
        if not future.cancelled():
            self._done.append((key, error if error is not None else future.result()))
        try:
            os.write(self._signal_end, b"\0")
        except OSError:
            pass  # full: the waiter wakes anyway; closed: nobody waits any more

    def _count(self, _number: int, _frame: object) -> None:
        self.interrupts += 1


def _no_action(_number: int, _frame: object) -> None:
    """The wake-up pipe already has the signal."""
