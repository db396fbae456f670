"""Wake-ups between processes by named pipes."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from lineclear.host.bell import PipeBell
from tests.integration.host.programs import running

RINGS = 2000

# Listens, looks, waits, looks again: the only right order. A wait that times out is a lost wake-up.
FOLLOW_A_COUNTER = """
import os, sys
from lineclear.host.bell import PipeBell
state = os.open(sys.argv[2], os.O_RDONLY)
shown, lost, last = 0, 0, int(sys.argv[3])
with PipeBell(sys.argv[1]).listen() as listener:
    print("ready")
    while shown < last:
        value = int(os.pread(state, 20, 0))
        if value == shown:
            lost += not listener.wait(5)
        else:
            shown = value
            print(shown)
print("lost", lost)
"""

LISTEN = """
import sys
from lineclear.host.bell import PipeBell
listener = PipeBell(sys.argv[1]).listen()
print("ready")
sys.stdin.readline()
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "bell"


@pytest.fixture
def bell(directory: Path) -> PipeBell:
    return PipeBell(str(directory))


def test_no_ring_is_lost_on_a_waiter_that_looks_again(
    bell: PipeBell, directory: Path, tmp_path: Path
) -> None:
    state = os.open(tmp_path / "state", os.O_RDWR | os.O_CREAT)
    os.pwrite(state, b"%020d" % 0, 0)
    with running(FOLLOW_A_COUNTER, directory, tmp_path / "state", RINGS) as waiter:
        assert waiter.line() == "ready"
        for number in range(1, RINGS + 1):
            os.pwrite(state, b"%020d" % number, 0)
            bell.ring()
            assert waiter.line() == str(number)
        assert waiter.line() == "lost 0"
    os.close(state)
    assert list(directory.iterdir()) == []


def test_a_ring_before_the_wait_is_kept(bell: PipeBell) -> None:
    with bell.listen() as listener:
        bell.ring()
        bell.ring()
        assert listener.wait(5)
        assert not listener.wait(0)


def test_everybody_who_listens_is_woken(bell: PipeBell) -> None:
    with bell.listen() as one, bell.listen() as other:
        bell.ring()
        assert one.wait(5)
        assert other.wait(5)


def test_no_ring_no_waking(bell: PipeBell) -> None:
    with bell.listen() as listener:
        assert not listener.wait(0.01)
        assert not listener.wait(-1)


def test_a_ringer_that_left_does_not_make_the_waiter_spin(bell: PipeBell) -> None:
    with bell.listen() as listener:
        bell.ring()
        assert listener.wait(5)
        began_at = time.monotonic()
        assert not listener.wait(0.05)
        assert time.monotonic() - began_at >= 0.05


def test_a_waiter_that_does_not_read_never_blocks_the_ringer(bell: PipeBell) -> None:
    with bell.listen() as listener:
        for _ in range(70_000):  # a pipe holds at most 64 KiB
            bell.ring()
        assert listener.wait(0)


def test_the_pipe_is_private_and_gone_with_its_listener(bell: PipeBell, directory: Path) -> None:
    with bell.listen():
        (pipe,) = directory.iterdir()
        assert pipe.is_fifo()
        assert pipe.stat().st_mode & 0o777 == 0o600
    assert list(directory.iterdir()) == []


def test_a_dead_waiters_pipe_is_removed_once_it_cannot_be_a_newborn(bell: PipeBell, directory: Path) -> None:
    with running(LISTEN, directory) as waiter:
        assert waiter.line() == "ready"
    (pipe,) = directory.iterdir()
    now = time.time()
    os.utime(pipe, (now + 60, now + 60))  # its end may have taken long
    bell.ring()
    assert pipe.exists(), "a pipe made a moment ago may be about to be opened"
    long_ago = now - 2
    os.utime(pipe, (long_ago, long_ago))
    bell.ring()
    assert not pipe.exists()


def test_a_living_waiters_old_pipe_stays(bell: PipeBell, directory: Path) -> None:
    with bell.listen() as listener:
        (pipe,) = directory.iterdir()
        os.utime(pipe, (1, 1))
        bell.ring()
        assert listener.wait(5)


def test_what_is_no_pipe_is_left_alone(bell: PipeBell, directory: Path, tmp_path: Path) -> None:
    directory.mkdir()
    (tmp_path / "outside").write_text("outside")
    (directory / "link").symlink_to(tmp_path / "outside")
    (directory / "file").write_text("file")
    (directory / "folder").mkdir()
    bell.ring()
    assert (directory / "file").read_text() == "file"
    assert (tmp_path / "outside").read_text() == "outside"


def test_where_no_pipe_can_be_made_waiting_is_a_short_sleep(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    bell = PipeBell(str(tmp_path / "taken" / "bell"))
    bell.ring()
    with bell.listen() as listener:
        began_at = time.monotonic()
        assert not listener.wait(0.01)
        assert not listener.wait(60)
        assert 0.25 <= time.monotonic() - began_at < 30


def test_ringing_where_nobody_ever_listened_is_quiet(tmp_path: Path) -> None:
    PipeBell(str(tmp_path / "nowhere")).ring()
    assert not (tmp_path / "nowhere").exists()
