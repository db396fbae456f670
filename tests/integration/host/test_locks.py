"""Lock files between processes and threads: waiting, giving up, inherited by children, freed by death."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lineclear.host.locks import LockFile, is_locked

HOLD = """
import sys
from lineclear.host.locks import LockFile
with LockFile(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "lock")


def test_a_held_lock_is_not_given_twice_and_a_freed_one_is(path: str) -> None:
    first, second = LockFile(path), LockFile(path)
    assert first.take(0)
    assert not second.take(0)
    first.free()
    assert second.take(0)
    second.free()


def test_freeing_again_or_without_the_lock_has_no_effect(path: str) -> None:
    lock = LockFile(path)
    lock.free()
    assert lock.take(0)
    lock.free()
    lock.free()
    assert not is_locked(path)


def test_giving_up_takes_the_time_that_was_given_and_leaves_no_descriptor_open(path: str) -> None:
    with LockFile(path):
        before, began = os.listdir("/dev/fd"), time.monotonic()
        assert not LockFile(path).take(0.1)
        assert time.monotonic() - began >= 0.1
        assert os.listdir("/dev/fd") == before


@pytest.mark.parametrize("wait_s", [None, 30.0])
def test_a_waiting_thread_gets_the_lock_when_it_is_freed(path: str, wait_s: float | None) -> None:
    held, waiting, order = LockFile(path), LockFile(path), []
    assert held.take(0)

    def wait() -> None:
        assert waiting.take(wait_s)
        order.append("taken")

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.05)
    order.append("freed")
    held.free()
    thread.join(30)
    assert order == ["freed", "taken"]
    waiting.free()


def test_a_lock_that_was_taken_before_is_freed_at_the_end_of_the_block(path: str) -> None:
    lock = LockFile(path)
    assert lock.take(0)
    with lock:
        assert is_locked(path)
    assert not is_locked(path)


def test_the_lock_of_a_killed_process_is_free(path: str) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        assert is_locked(path)
        assert not LockFile(path).take(0)
        child.kill()
    assert not is_locked(path)
    assert LockFile(path).take(0)


def test_a_child_that_inherits_the_descriptor_keeps_the_lock(path: str) -> None:
    lock = LockFile(path)
    assert lock.take(0)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[lock.fd]):
        lock.free()
        assert is_locked(path)
    assert not is_locked(path)


def test_asking_creates_no_file_and_is_no_holding(path: str) -> None:
    assert not is_locked(path)
    assert not os.path.exists(path)
    with LockFile(path):
        assert is_locked(path)
        assert is_locked(path)


def test_a_link_in_the_place_of_a_lock_file_is_not_followed(path: str, tmp_path: Path) -> None:
    os.symlink(tmp_path / "elsewhere", path)
    with pytest.raises(OSError):  # noqa: PT011, the kernel chooses the words
        LockFile(path).take(0)
    assert not (tmp_path / "elsewhere").exists()
