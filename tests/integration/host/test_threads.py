"""Jobs beside the main thread: answers, errors, signals and children wake whoever waits."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time

import pytest

from lineclear.host.interrupt_shield import unshielded
from lineclear.host.threads import Jobs

LONG_S = 30.0


def test_answers_and_errors_come_to_who_waits() -> None:
    with Jobs(2) as jobs:
        jobs.submit("good", lambda: 42)
        jobs.submit("bad", lambda: 1 // 0)
        found: dict[str, object] = {}
        while len(found) < 2:
            found.update(jobs.wait(LONG_S))
    assert found["good"] == 42
    assert isinstance(found["bad"], ZeroDivisionError)


def test_waiting_ends_when_its_time_is_over() -> None:
    with Jobs(1) as jobs:
        assert jobs.wait(0.01) == []


def test_a_child_that_ends_wakes_the_waiter() -> None:
    with Jobs(1) as jobs:
        child = subprocess.Popen(["true"])
        began = time.monotonic()
        jobs.wait(LONG_S)
        assert time.monotonic() - began < LONG_S / 2
        child.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_to_stop_are_counted_not_obeyed(number: int) -> None:
    before = signal.getsignal(number)
    signal.signal(number, signal.SIG_DFL)
    try:
        with Jobs(1) as jobs:
            for count in (1, 2):
                os.kill(os.getpid(), number)
                while jobs.interrupts < count:
                    jobs.wait(LONG_S)
            assert jobs.interrupts == 2
        assert signal.getsignal(number) == signal.SIG_DFL
    finally:
        signal.signal(number, before)


def test_started_by_nohup_it_does_not_mind_that_the_terminal_goes() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Jobs(1) as jobs:
            os.kill(os.getpid(), signal.SIGHUP)
            jobs.wait(0.05)
            assert jobs.interrupts == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def blocked_in_child() -> set[int]:
    """The signals that a child started here would not hear."""
    child = subprocess.run(["grep", "SigBlk", "/proc/self/status"], capture_output=True, check=True)
    mask = int(child.stdout.split()[1], 16)
    return {number for number in range(1, 65) if mask >> (number - 1) & 1}


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="/proc is Linux's")
def test_what_a_job_starts_does_not_hear_the_terminal_unless_it_is_to() -> None:
    def unshielded_child() -> set[int]:
        with unshielded():
            return blocked_in_child()

    with Jobs(1) as jobs:
        jobs.submit("git", blocked_in_child)
        jobs.submit("client", unshielded_child)
        found: dict[str, set[int]] = {}
        while len(found) < 2:
            found.update(jobs.wait(LONG_S))
    assert {signal.SIGINT, signal.SIGHUP} <= found["git"]
    assert not {signal.SIGINT, signal.SIGHUP, signal.SIGTERM} & found["client"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert threading.active_count() >= 1
