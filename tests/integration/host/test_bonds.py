"""Liveness by lock: killed is dead, stopped is not, and those who ask disturb nobody."""

from __future__ import annotations

import fcntl
import os
import signal
from pathlib import Path

import pytest

from lineclear.core.instants import Instant
from lineclear.core.words.refusals import Refusal
from lineclear.host import bonds as bonds_module
from lineclear.host import locks
from lineclear.host.bonds import LONG_DEAD_NS, Bonds
from tests.integration.host.programs import running

NOW = Instant(1_000_000, "boot-a", 0)
LATER = Instant(5_000_000, "boot-a", 0)
NEXT_BOOT = Instant(7, "boot-b", 0)

HOLD = """
import sys
from lineclear.host.bonds import Bonds
bond = Bonds(sys.argv[1]).hold(sys.argv[2])
print("held")
sys.stdin.readline()
bond.release()
print("released")
sys.stdin.readline()
"""

HOLD_AND_LEAVE_TO_A_CHILD = """
import os, subprocess, sys
from lineclear.host.bonds import Bonds
bond = Bonds(sys.argv[1]).hold("agent")
child = subprocess.Popen(["sleep", "1000"], pass_fds=[bond.inheritable()], stdin=subprocess.DEVNULL)
print(child.pid)
sys.stdin.readline()
"""

HOLD_AND_START_A_CHILD = """
import subprocess, sys
from lineclear.host.bonds import Bonds
bond = Bonds(sys.argv[1]).hold("agent")
child = subprocess.Popen(["sleep", "1000"], close_fds=False, stdin=subprocess.DEVNULL)
print(child.pid)
sys.stdin.readline()
"""

PROBE_IN_A_LOOP = """
import sys
from lineclear.core.instants import Instant
from lineclear.host.bonds import Bonds
bonds, seen = Bonds(sys.argv[1]), set()
print("ready")
sys.stdin.readline()
for tick in range(3000):
    for answer in (bonds.is_held("agent"), bonds.dead_for_ns("agent", Instant(10_000, "boot-a", 0))):
        seen.add(str(answer))
print(*sorted(seen))
"""

HOLD_AND_RELEASE_IN_A_LOOP = """
import fcntl, os, sys
from lineclear.core.words.refusals import Refusal
from lineclear.host.bonds import Bonds
bonds, won, double, tries = Bonds(sys.argv[1]), 0, 0, 0
print("ready")
sys.stdin.readline()
while tries < 600 or won == 0:  # on a busy machine the other holder can be stopped for all the 600 tries
    tries += 1
    try:
        bond = bonds.hold("agent")
    except Refusal:
        continue
    try:
        os.close(os.open(sys.argv[2], os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        double += 1
    else:
        os.unlink(sys.argv[2])
    won += 1
    bond.release()
print(won, double)
"""


@pytest.fixture
def bonds(tmp_path: Path) -> Bonds:
    return Bonds(str(tmp_path / "bonds"))


def test_a_bond_lives_from_hold_to_release(bonds: Bonds) -> None:
    assert not bonds.is_held("agent")
    bond = bonds.hold("agent")
    assert bonds.is_held("agent")
    assert bonds.dead_for_ns("agent", NOW) is None
    bond.release()
    bond.release()
    assert not bonds.is_held("agent")


def test_a_released_bond_leaves_no_file_and_is_dead_for_good(bonds: Bonds, tmp_path: Path) -> None:
    bonds.hold("agent").release()
    assert list((tmp_path / "bonds").iterdir()) == []
    assert bonds.dead_for_ns("agent", NOW) == LONG_DEAD_NS


def test_the_file_is_private(bonds: Bonds, tmp_path: Path) -> None:
    bonds.hold("agent")
    assert (tmp_path / "bonds" / "agent").stat().st_mode & 0o777 == 0o600


def test_a_second_holder_is_refused(bonds: Bonds, tmp_path: Path) -> None:
    with running(HOLD, tmp_path / "bonds", "agent") as holder:
        assert holder.line() == "held"
        with pytest.raises(Refusal) as caught:
            bonds.hold("agent")
    assert caught.value.code == "bond.held"


def test_a_killed_holder_is_dead_since_it_was_first_seen_so(bonds: Bonds, tmp_path: Path) -> None:
    with running(HOLD, tmp_path / "bonds", "agent") as holder:
        assert holder.line() == "held"
        assert bonds.is_held("agent")
        holder.kill()
        assert not bonds.is_held("agent")
        assert bonds.dead_for_ns("agent", NOW) == 0
        assert bonds.dead_for_ns("agent", LATER) == LATER.tick_ns - NOW.tick_ns
        assert bonds.dead_for_ns("agent", NOW) == 0


def test_a_death_before_the_last_restart_is_long_ago(bonds: Bonds, tmp_path: Path) -> None:
    with running(HOLD, tmp_path / "bonds", "agent") as holder:
        assert holder.line() == "held"
    bonds.dead_for_ns("agent", NOW)
    assert bonds.dead_for_ns("agent", NEXT_BOOT) == LONG_DEAD_NS


def test_a_stopped_holder_is_not_dead(bonds: Bonds, tmp_path: Path) -> None:
    with running(HOLD, tmp_path / "bonds", "agent") as holder:
        assert holder.line() == "held"
        holder.send(signal.SIGSTOP)
        os.waitid(os.P_PID, holder.pid, os.WSTOPPED | os.WNOWAIT)
        assert bonds.is_held("agent")
        assert bonds.dead_for_ns("agent", NOW) is None


def test_a_child_that_inherited_the_bond_keeps_it(bonds: Bonds, tmp_path: Path) -> None:
    with running(HOLD_AND_LEAVE_TO_A_CHILD, tmp_path / "bonds") as holder:
        child = int(holder.line())
        holder.kill()
        assert bonds.is_held("agent")
        os.kill(child, signal.SIGKILL)
        holder.rest()  # ends when the child, which has the same standard output, is gone
        assert not bonds.is_held("agent")


def test_a_child_that_was_not_meant_to_inherit_it_does_not(bonds: Bonds, tmp_path: Path) -> None:
    with running(HOLD_AND_START_A_CHILD, tmp_path / "bonds") as holder:
        child = int(holder.line())
        holder.kill()
        assert not bonds.is_held("agent")
        os.kill(child, signal.SIGKILL)


def test_a_new_holder_wipes_out_the_death_of_the_last(bonds: Bonds, tmp_path: Path) -> None:
    with running(HOLD, tmp_path / "bonds", "agent") as holder:
        assert holder.line() == "held"
    assert bonds.dead_for_ns("agent", NOW) == 0
    with running(HOLD, tmp_path / "bonds", "agent") as holder:
        assert holder.line() == "held"
        assert bonds.dead_for_ns("agent", LATER) is None
    assert bonds.dead_for_ns("agent", LATER) == 0


def test_two_who_ask_do_not_take_each_other_for_the_holder(bonds: Bonds, tmp_path: Path) -> None:
    with running(HOLD, tmp_path / "bonds", "agent") as holder:
        assert holder.line() == "held"
    directory = tmp_path / "bonds"
    with running(PROBE_IN_A_LOOP, directory) as one, running(PROBE_IN_A_LOOP, directory) as other:
        for program in (one, other):
            assert program.line() == "ready"
        for program in (one, other):
            program.say("go")
        assert [one.line(), other.line()] == ["0 False"] * 2


def test_asking_does_not_keep_anybody_from_holding(bonds: Bonds, tmp_path: Path) -> None:
    bonds.hold("agent").release()
    with running(PROBE_IN_A_LOOP, tmp_path / "bonds") as prober:
        assert prober.line() == "ready"
        prober.say("go")
        for _ in range(500):
            bonds.hold("agent").release()


def test_a_bond_never_has_two_holders(tmp_path: Path) -> None:
    arguments = (tmp_path / "bonds", tmp_path / "only-one")
    with (
        running(HOLD_AND_RELEASE_IN_A_LOOP, *arguments) as one,
        running(HOLD_AND_RELEASE_IN_A_LOOP, *arguments) as other,
    ):
        for program in (one, other):
            assert program.line() == "ready"
        for program in (one, other):
            program.say("go")
        counts = [tuple(map(int, program.line().split())) for program in (one, other)]
    assert all(won > 0 and double == 0 for won, double in counts)


def test_release_spares_a_file_that_somebody_else_made_anew(bonds: Bonds, tmp_path: Path) -> None:
    first = bonds.hold("agent")
    (tmp_path / "bonds" / "agent").unlink()
    second = bonds.hold("agent")
    first.release()
    assert bonds.is_held("agent")
    second.release()


def test_a_lock_seen_on_a_file_that_was_just_released_is_nobodys(
    bonds: Bonds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    releasing = bonds.hold("agent")
    share = locks.share

    def unlinked_before_we_look(fd: int) -> bool:
        (tmp_path / "bonds" / "agent").unlink(missing_ok=True)
        return share(fd)

    monkeypatch.setattr(bonds_module, "share", unlinked_before_we_look)
    bonds.hold("agent").release()
    releasing.release()


def test_a_mark_torn_by_a_full_disk_is_not_believed(bonds: Bonds, tmp_path: Path) -> None:
    (tmp_path / "bonds").mkdir()
    (tmp_path / "bonds" / "agent").write_bytes(b"boot-a 1")
    assert bonds.dead_for_ns("agent", NOW) == 0
    assert bonds.dead_for_ns("agent", LATER) in (0, LATER.tick_ns - NOW.tick_ns)
    assert bonds.dead_for_ns("agent", LATER) == 0


def test_a_dead_bond_in_a_read_only_directory_is_still_seen(tmp_path: Path) -> None:
    directory = tmp_path / "bonds"
    directory.mkdir()
    (directory / "agent").touch(mode=0o400)
    fd = os.open(directory / "agent", os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        assert Bonds(str(directory)).is_held("agent")
    finally:
        os.close(fd)
    assert not Bonds(str(directory)).is_held("agent")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", "a b", "ü", "x" * 129, "a\n"])
def test_a_name_that_is_no_plain_file_name_is_refused(bonds: Bonds, name: str) -> None:
    for ask in (bonds.hold, bonds.is_held):
        with pytest.raises(Refusal) as caught:
            ask(name)
        assert caught.value.code == "input.bad"
