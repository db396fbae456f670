"""The census on this host: who is there, what they use, whose mark they bear."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from lineclear.host.processes import HAS_MARKS, adopted, families, is_marked, marked, parse_ps, take_census
from lineclear.host.spawning import output_of
from tests.integration.host.programs import running
from tests.waiting import until

BUSY = "print('ready')\nwhile True: sum(range(1000))"
# Other runs of these tests on this machine have marks of their own.
MARK = f"{os.getpid()}-ab"
IDLE = "import sys\nkept = b'x' * (60 << 20)\nprint('ready')\nsys.stdin.readline()"


def test_we_are_in_it_ourselves() -> None:
    us = take_census()[os.getpid()]
    assert us.parent == os.getppid()
    assert us.group == os.getpgrp()
    assert us.memory_bytes > 1 << 20


def test_who_works_becomes_busier_and_who_waits_does_not() -> None:
    with running(BUSY) as busy, running(IDLE) as idle:
        assert busy.line() == idle.line() == "ready"
        before = take_census()
        until(lambda: take_census()[busy.pid].busy_ns - before[busy.pid].busy_ns > 200_000_000)
        after = take_census()
        # The kernel counts in steps of 10 ms, and it may have had a little of one left to do.
        assert after[idle.pid].busy_ns - before[idle.pid].busy_ns < 50_000_000
        assert after[idle.pid].memory_bytes > 60 << 20


def test_a_family_has_its_grandchildren() -> None:
    text = (
        "import subprocess\np = subprocess.Popen(['sh', '-c', 'sleep 600 & wait'])\nprint('ready')\np.wait()"
    )
    with running(text) as parent:
        assert parent.line() == "ready"
        until(lambda: len(families(take_census(), [parent.pid])[parent.pid].pids) == 3)
        for pid in families(take_census(), [parent.pid])[parent.pid].pids:
            if pid != parent.pid:
                os.kill(pid, 9)


@pytest.mark.skipif(not HAS_MARKS, reason="marks can be seen where there is /proc")
def test_a_mark_is_found_whole_or_not_at_all() -> None:
    child = subprocess.Popen(["sleep", "600"], env={"OTHER": "x", "SAMPLE_MARK": MARK})
    try:
        until(lambda: marked(f"SAMPLE_MARK={MARK}") == [child.pid])
        assert is_marked(child.pid, f"SAMPLE_MARK={MARK}")
        for other in (
            f"SAMPLE_MARK={MARK[:-1]}",
            f"SAMPLE_MARK={MARK}c",
            f"AMPLE_MARK={MARK}",
            "SAMPLE_MARK=",
        ):
            assert child.pid not in marked(other)
    finally:
        child.kill()
        child.wait()
    assert not is_marked(child.pid, f"SAMPLE_MARK={MARK}")


@pytest.mark.skipif(not HAS_MARKS, reason="marks can be seen where there is /proc")
def test_who_has_left_session_and_descent_is_adopted_by_its_mark() -> None:
    script = "(setsid sh -c 'sleep 600 & sleep 601' &) & exec sleep 602"
    leader = subprocess.Popen(
        ["sh", "-c", script], env={**os.environ, "SAMPLE_MARK": f"{MARK}-cd"}, start_new_session=True
    )
    try:
        until(lambda: len(marked(f"SAMPLE_MARK={MARK}-cd")) == 4)
        until(lambda: len(family_of(leader.pid)) == 4)
        assert len(families(take_census(), [leader.pid])[leader.pid].pids) < 4
    finally:
        for pid in marked(f"SAMPLE_MARK={MARK}-cd"):
            os.kill(pid, 9)
        leader.wait()


def family_of(leader: int) -> list[int]:
    people = take_census()
    return families(people, [leader], adopted(people, "SAMPLE_MARK", [leader]))[leader].pids


@pytest.mark.skipif(not os.path.exists("/bin/ps"), reason="there is no ps here")
def test_ps_tells_the_same_as_the_kernels_own_files() -> None:
    found = parse_ps(os.fsdecode(output_of(("/bin/ps", "-axo", "pid=,ppid=,pgid=,rss=,time="))))
    us = found[os.getpid()]
    assert (us.parent, us.group) == (os.getppid(), os.getpgrp())
    assert us.memory_bytes > 1 << 20
    assert sys.platform == "darwin" or len(found) >= 2
