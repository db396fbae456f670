"""Jobs beside the main thread, and one place to wait for whatever happens first: a job, a child, a signal."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from lineclear.host.shielding import shield_thread

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import Any

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def start_thread(work: Callable[[], None], name: str) -> None:
    """Beside us, deaf to the terminal's signals; it does not keep the process alive."""

    def run() -> None:
        shield_thread()
        work()

    threading.Thread(target=run, name=name, daemon=True).start()


class Jobs:
    """Use it as a context, in the main thread: within it the stop signals are counted, not obeyed."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, "lineclear", initializer=shield_thread)
        self._done: deque[tuple[str, Any]] = deque()
        self._ear, self._mouth = os.pipe()
        for fd in (self._ear, self._mouth):
            os.set_blocking(fd, False)
        self.interrupts = 0

    def __enter__(self) -> Jobs:
        self._wakeup_before = signal.set_wakeup_fd(self._mouth, warn_on_full_buffer=False)
        # Started by nohup, we are to outlive the terminal.
        heeded = [n for n in STOP_SIGNALS if n != signal.SIGHUP or signal.getsignal(n) != signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._count) for number in heeded}
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, _no_action)
        return self

    def __exit__(self, *exc: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        for number, action in self._before.items():
            signal.signal(number, action)
        signal.set_wakeup_fd(self._wakeup_before)
        os.close(self._ear)
        os.close(self._mouth)

    def submit(self, key: str, job: Callable[[], Any]) -> None:
        self._pool.submit(job).add_done_callback(lambda future: self._finish(key, future))

    def wait(self, timeout_s: float) -> list[tuple[str, Any]]:
        """(key, answer or exception) of the jobs that are done. Comes back early when anything happens."""
        if not self._done:
            waiter = select.poll()
            waiter.register(self._ear, select.POLLIN)
            if waiter.poll(max(0.0, timeout_s) * 1000):
                self._drain()
        found = []
        while self._done:
            found.append(self._done.popleft())
        return found

    def _finish(self, key: str, future: Future[Any]) -> None:
        error = None if future.cancelled() else future.exception()
        if not future.cancelled():
            self._done.append((key, error if error is not None else future.result()))
        self._ring()

    def _ring(self) -> None:
        try:
            os.write(self._mouth, b"\0")
        except OSError:
            pass  # full: it is awake anyway; closed: nobody waits any more

    def _drain(self) -> None:
        try:
            while os.read(self._ear, 4096):
                pass
        except BlockingIOError:
            pass

    def _count(self, _number: int, _frame: object) -> None:
        self.interrupts += 1


def _no_action(_number: int, _frame: object) -> None:
    """The wake-up pipe has it already."""
