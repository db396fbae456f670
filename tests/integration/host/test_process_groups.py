"""A client with all that it starts: it outlives whoever started it, is found again, and ends as a whole."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineclear.host import process_groups, processes
from lineclear.host.bonds import Bonds
from lineclear.host.interrupt_shield import shield_thread
from lineclear.host.process_groups import ClientProcess
from tests.integration.host.programs import running
from tests.waiting import until

MARK = f"test-{os.getpid()}"
PATIENCE_S = 60.0


class Nursery:
    """Starts clients, and leaves none behind."""

    def __init__(self, path: Path) -> None:
        self.path, self.bonds = path, Bonds(str(path / "bonds"))
        self.groups: list[ClientProcess] = []

    def start(self, script: str, **env: str) -> ClientProcess:
        number = len(self.groups)
        bond = self.bonds.hold(f"agent-{number}")
        group = process_groups.start(
            ["sh", "-c", script],
            cwd=str(self.path),
            env={**os.environ, **env},
            directory=str(self.path / f"run-{number}"),
            mark=f"{MARK}-{number}",
            stdin="",
            bond_fd=bond.inheritable(),
        )
        self.groups.append(group)
        return group


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    nursery = Nursery(tmp_path)
    yield nursery
    for group in nursery.groups:
        group.sweep(0)
        until(lambda group=group: group.exit_code() is not None)  # type: ignore[misc]


def output_of(group: ClientProcess) -> list[bytes]:
    until(lambda: group.exit_code() is not None)
    return list(group.last_words())


def first_lines(group: ClientProcess) -> list[bytes]:
    lines: list[bytes] = []

    def has_come() -> bool:
        lines.extend(group.new_lines())
        return bool(lines)

    until(has_come)
    return lines


# -- its end ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "code"), [("true", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143)]
)
def test_its_exit_code_is_known_and_noted_for_others(nursery: Nursery, script: str, code: int) -> None:
    group = nursery.start(script)
    until(lambda: group.exit_code() is not None)
    assert group.exit_code() == code
    found = process_groups.find_again(group.directory, group.mark)
    assert (found.exit_code(), found.has_ended(), found.was_started()) == (code, True, True)


def test_a_signal_to_all_leaves_the_shell_to_note_it(nursery: Nursery) -> None:
    group = nursery.start("echo ready; exec sleep 600")
    until(group.new_lines)
    group.send(signal.SIGTERM)
    until(lambda: group.exit_code() is not None)
    assert process_groups.find_again(group.directory, group.mark).exit_code() == 143


def test_a_program_that_is_not_there_is_an_error_of_the_start(nursery: Nursery) -> None:
    with pytest.raises(FileNotFoundError) as error:
        process_groups.start(
            ["no-such-program"], cwd=str(nursery.path), env=os.environ, directory=str(nursery.path / "none"),
            mark=MARK, stdin="", bond_fd=nursery.bonds.hold("none").inheritable(),
        )  # fmt: skip
    assert error.value.filename == "no-such-program"
    assert not process_groups.find_again(str(nursery.path / "none"), MARK).was_started()


# -- found again ------------------------------------------------------------------------------


STARTER = """
import os, sys
from lineclear.host import process_groups
from lineclear.host.bonds import Bonds
bond = Bonds(sys.argv[1] + "/bonds").hold("agent")
process_groups.start(["sh", "-c", sys.argv[2]], cwd=sys.argv[1], env=os.environ,
                     directory=sys.argv[1] + "/run", mark=sys.argv[3], stdin="", bond_fd=bond.inheritable())
print("started")
sys.stdin.readline()
"""


def test_it_outlives_whoever_started_it_and_is_found_with_all_its_output(nursery: Nursery) -> None:
    script = "echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 3"
    with running(STARTER, nursery.path, script, MARK) as starter:
        assert starter.line() == "started"
        starter.process.kill()
        starter.process.wait()
    found = process_groups.find_again(str(nursery.path / "run"), MARK)
    assert first_lines(found) == [b"one"]
    assert nursery.bonds.is_held("agent")
    assert (found.has_ended(), found.is_child()) == (False, False)
    (nursery.path / "go").touch()
    until(found.has_ended)
    assert list(found.last_words()) == [b"two"]
    assert found.exit_code() == 3
    until(lambda: not nursery.bonds.is_held("agent"))


@pytest.mark.skipif(not processes.HAS_MARKS, reason="marks can be seen where there is /proc")
def test_one_that_was_killed_has_ended_although_its_daemon_lives(nursery: Nursery) -> None:
    group = nursery.start("setsid sleep 600 & echo ready; wait")
    until(group.new_lines)
    found = process_groups.find_again(group.directory, group.mark)
    assert not found.has_ended()
    for pid in (group.pid, *children_of(group.pid)):
        os.kill(pid, signal.SIGKILL)
    until(found.has_ended)
    assert found.exit_code() is None
    assert found.members() != []
    assert found.sweep(1) >= 1
    assert found.members() == []


def children_of(pid: int) -> list[int]:
    """Direct ones that did not leave for a session of their own."""
    return [p.pid for p in processes.take_census().values() if p.parent == pid and p.session == pid]


def test_a_foreign_process_under_an_old_pid_is_left_alone(nursery: Nursery) -> None:
    group = nursery.start("exec sleep 600")
    impostor = ClientProcess(group.directory, f"{MARK}-other", group.pid)
    if processes.HAS_MARKS:
        assert impostor.members() == []
    assert impostor.send(0) == 0 or not processes.HAS_MARKS
    assert group.exit_code() is None


# -- everybody who belongs to it --------------------------------------------------------------

DAEMONS = {
    "a child": "sleep 600 & echo $!",
    "one in a session of its own": "setsid sleep 600 & echo $!",
    "one that ignores hangups": "nohup sleep 600 >/dev/null 2>&1 & echo $!",
    "one forked twice": "(setsid sh -c 'sleep 600 & echo $!' &)",
}


@pytest.mark.skipif(not processes.HAS_MARKS, reason="marks can be seen where there is /proc")
@pytest.mark.parametrize("kind", DAEMONS)
def test_whoever_it_leaves_behind_is_found_and_stopped(nursery: Nursery, kind: str) -> None:
    group = nursery.start(f"{{ {DAEMONS[kind]}; }} >pid; until [ -s pid ]; do sleep 0.02; done")
    until(lambda: group.exit_code() is not None)
    pid = int((nursery.path / "pid").read_text())
    until(lambda: group.members() == [pid])  # whoever has started it is going, too
    assert group.sweep(5) == 1
    until(lambda: not Path(f"/proc/{pid}").exists() or pid not in processes.take_census())
    assert group.sweep(5) == 0


def test_who_is_deaf_is_killed_after_its_grace(nursery: Nursery) -> None:
    group = nursery.start("trap '' TERM; echo ready; while :; do sleep 0.05; done")
    until(group.new_lines)
    began = time.monotonic()
    assert group.sweep(0.3) >= 2
    assert time.monotonic() - began >= 0.3
    until(lambda: group.exit_code() == 137)


def test_the_stopped_are_ended_too(nursery: Nursery) -> None:
    group = nursery.start("echo ready; exec sleep 600")
    until(group.new_lines)
    group.send(signal.SIGSTOP)
    group.sweep(5)
    until(lambda: group.exit_code() is not None)


def test_it_hears_the_terminals_signals_also_when_its_starter_does_not(nursery: Nursery) -> None:
    shield_thread()
    try:
        group = nursery.start("echo ready; exec sleep 600")
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGHUP))
    until(group.new_lines)
    group.send(signal.SIGHUP)
    until(lambda: group.exit_code() == 129)


# -- its output -------------------------------------------------------------------------------


def test_lines_come_whole_and_once(nursery: Nursery) -> None:
    group = nursery.start("printf 'a\\nb'; until [ -e go ]; do sleep 0.02; done; printf 'c\\n\\nd'")
    assert first_lines(group) == [b"a"]
    (nursery.path / "go").touch()
    assert output_of(group) == [b"bc", b"", b"d"]
    assert list(group.last_words()) == []


def test_errors_are_output_too(nursery: Nursery) -> None:
    assert output_of(nursery.start("echo out; echo err >&2")) == [b"out", b"err"]


def test_a_line_without_end_is_dropped_not_kept_in_memory(nursery: Nursery) -> None:
    group = nursery.start("head -c 9000000 /dev/zero; echo; echo after")
    lines = output_of(group)
    assert lines[-1] == b"after"
    assert group.unreadable == 1
    assert max(map(len, lines)) < 5 << 20


def test_of_a_flood_only_the_end_is_read_and_the_beginning_kept(nursery: Nursery) -> None:
    group = nursery.start("yes | head -n 500000; echo last")
    until(lambda: group.exit_code() is not None)
    lines = list(group.last_words(1_000))
    assert len(lines) <= 500
    assert lines[-1] == b"last"
    process_groups.cut_output(group.directory, 1_000)
    assert group.output_bytes() == 1_000


def test_who_comes_late_reads_only_what_is_new(nursery: Nursery) -> None:
    group = nursery.start("echo old; until [ -e go ]; do sleep 0.02; done; echo new")
    until(lambda: group.output_bytes() > 0)
    late = process_groups.find_again(group.directory, group.mark)
    late.skip_to_now()
    (nursery.path / "go").touch()
    until(lambda: group.exit_code() is not None)
    assert list(late.last_words()) == [b"new"]
