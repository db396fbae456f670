"""Ctrl-C is noticed and not obeyed, by us and by what we start."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time

import pytest

from lineclear.host.interrupt_shield import unshielded
from lineclear.host.stop_signals import Stopping


def tell(number: signal.Signals) -> None:
    """To this thread: one that another takes comes a moment later (see the last test)."""
    signal.pthread_kill(threading.get_ident(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_noticed_once_and_stays_said(number: signal.Signals) -> None:
    with Stopping() as stopping:
        assert not stopping.is_asked()
        tell(number)
        assert stopping.is_asked()
        assert stopping.is_asked()


def test_what_was_said_inside_does_not_hit_whoever_comes_after() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Stopping():
        tell(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.sigpending() == set()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_a_child_does_not_hear_the_terminal_and_can_still_be_ended() -> None:
    with Stopping():
        child = subprocess.Popen(["sh", "-c", "echo ready; read line; echo $line"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        child.send_signal(signal.SIGINT)
        assert child.communicate(b"alive\n", timeout=60)[0] == b"alive\n"
        other = subprocess.Popen(["sleep", "60"])
        other.terminate()
        assert other.wait(60) == -signal.SIGTERM


def test_programs_of_others_hear_it() -> None:
    with Stopping() as stopping:
        with unshielded():
            child = subprocess.Popen(["sleep", "60"], start_new_session=True)
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == -signal.SIGINT
        assert not stopping.is_asked()


def test_one_that_comes_while_others_are_started_is_noticed_too() -> None:
    with Stopping() as stopping:
        tell(signal.SIGINT)
        with unshielded():
            pass
        assert stopping.is_asked()


@pytest.mark.timeout(60)
def test_one_that_another_thread_takes_is_noticed_too() -> None:
    """A thread that blocks nothing is as good as ours to the kernel."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        for _ in range(200):
            with Stopping() as stopping:
                os.kill(os.getpid(), signal.SIGINT)
                while not stopping.is_asked():
                    time.sleep(0.001)
    finally:
        done.set()
        thread.join()
