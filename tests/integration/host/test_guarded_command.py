"""A guarded command: its exit code, its signals, its end when the claim is lost, its terminal."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineclear.host.bonds import Bonds
from lineclear.host.spawning import output_of
from tests.integration.host.programs import SOURCE, running
from tests.waiting import until

# Arguments: how often to ask, after how many answers the claim is lost (0: never) or which file says that it
# is, the command.
GUARD = """
import os, sys
from lineclear.host import guarded_command
guarded_command._KILL_AFTER_S = 2.0
every_s, lost_after, *command = sys.argv[1:]
asked = 0
def poll():
    global asked
    asked += 1
    return asked != int(lost_after) if lost_after.isdecimal() else not os.path.exists(lost_after)
try:
    print("code", guarded_command.run_guarded(command, os.environ, poll=poll, every_s=float(every_s)))
except FileNotFoundError as error:
    print("missing", error.filename)
"""

GUARD_WITH_A_BROKEN_QUESTION = """
import os, sys
from lineclear.host.guarded_command import run_guarded
def poll():
    raise RuntimeError("broken")
try:
    run_guarded(["sleep", "1000"], os.environ, poll=poll, every_s=0.01)
except RuntimeError as error:
    print(error)
"""

GUARD_WITH_A_BOND = """
import os, sys
from lineclear.host.bonds import Bonds
from lineclear.host.guarded_command import run_guarded
bond = Bonds(sys.argv[1]).hold("agent")
command = ["sh", "-c", "echo $$; exec sleep 1000"]
run_guarded(command, os.environ, keep_fds=[bond.inheritable()], poll=lambda: True, every_s=60)
"""


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)]
)
def test_the_exit_code_is_the_shells(script: str, code: int) -> None:
    with running(GUARD, 60, 0, "sh", "-c", script) as guard:
        assert guard.line() == f"code {code}"


def test_the_command_has_our_standard_streams_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIVEN", "fence-7")
    with running(GUARD, 60, 0, "sh", "-c", 'read line; echo "$line $GIVEN"') as guard:
        guard.say("hello")
        assert guard.line() == "hello fence-7"


def test_the_command_does_not_inherit_pythons_ignored_signals() -> None:
    with running(GUARD, 60, 0, "sh", "-c", "kill -PIPE $$; exit 0") as guard:
        assert guard.line() == f"code {128 + signal.SIGPIPE}"


def test_a_command_that_is_not_on_the_path_is_not_looked_for_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no-such-program").write_text("#!/bin/sh\necho wrong\n")
    (tmp_path / "no-such-program").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with running(GUARD, 60, 0, "no-such-program") as guard:
        assert guard.line() == "missing no-such-program"
    with running(GUARD, 60, 0, "./no-such-program") as guard:
        assert guard.line() == "wrong"


def test_a_lost_claim_ends_the_command_and_all_that_it_started() -> None:
    with running(GUARD, 0.02, 3, "sh", "-c", "sleep 1000 & sleep 1000 & wait") as guard:
        assert guard.rest() == "code 143\n", "standard output ends only when nobody has it any more"


def test_what_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    lost = tmp_path / "lost"
    script = f"trap '' TERM; : >{lost}; while :; do sleep 0.05; done"
    with running(GUARD, 0.02, lost, "sh", "-c", script) as guard:
        assert guard.line() == "code 137"


def test_what_a_command_left_behind_is_killed_too_when_the_claim_is_lost(tmp_path: Path) -> None:
    lost, begun = tmp_path / "lost", tmp_path / "begun"
    behind = f"(trap '' TERM; echo started; : >{begun}; while :; do sleep 0.05; done) &"
    script = f"{behind} trap 'exit 9' TERM; until [ -e {begun} ]; do sleep 0.02; done; : >{lost}; wait"
    with running(GUARD, 0.02, lost, "sh", "-c", script) as guard:
        assert guard.rest() == "started\ncode 9\n"


def test_a_stopped_command_ends_too_when_the_claim_is_lost() -> None:
    with running(GUARD, 0.1, 1, "sh", "-c", "kill -STOP $$; echo woke; exit 0") as guard:
        assert guard.rest() == "code 143\n"


def test_a_claim_that_is_kept_does_not_end_the_command() -> None:
    with running(GUARD, 0.001, 0, "sh", "-c", "sleep 0.1; exit 3") as guard:
        assert guard.line() == "code 3"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_goes_to_the_command_and_its_answer_counts(number: signal.Signals) -> None:
    script = f"trap 'echo got; exit 5' {number.name[3:]}; echo ready; while :; do sleep 0.02; done"
    with running(GUARD, 60, 0, "sh", "-c", script) as guard:
        assert guard.line() == "ready"
        guard.send(number)
        assert guard.line() == "got"
        assert guard.line() == "code 5"


def test_a_question_that_fails_leaves_no_command_behind() -> None:
    with running(GUARD_WITH_A_BROKEN_QUESTION) as guard:
        assert guard.rest() == "broken\n"


def test_the_command_keeps_the_bond_when_its_guard_is_killed(tmp_path: Path) -> None:
    bonds = Bonds(str(tmp_path))
    with running(GUARD_WITH_A_BOND, tmp_path) as guard:
        command = int(guard.line())
        guard.kill()
        assert bonds.is_held("agent")
        os.kill(command, signal.SIGKILL)
        guard.rest()
        assert not bonds.is_held("agent")


def test_the_output_of_a_small_command_is_read_whole() -> None:
    assert output_of(("/bin/sh", "-c", "echo one; echo two; exit 1")) == b"one\ntwo\n"
    with pytest.raises(FileNotFoundError):
        output_of(("/nowhere/program",))


# -- on a terminal ----------------------------------------------------------------------------


PROMPT = "now type> "

TAKE_THE_TERMINAL = """
import fcntl, os, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv("/bin/sh", ["sh", "-i"])
"""


# The moment between the decision to stop and the stop, as long as the test wants it.
LATE = """
import os, pathlib, signal, time
kill = os.kill
def late(pid, number):
    if number == signal.SIGTSTP and not os.path.exists("stop"):
        pathlib.Path("stopping").touch()
        while not os.path.exists("stop"):
            time.sleep(0.01)
    kill(pid, number)
os.kill = late
"""


class Shell:
    """An interactive shell on a terminal of its own, typed into as a person would."""

    def __init__(self, directory: Path) -> None:
        (directory / "guard.py").write_text(GUARD)
        self._fd, terminal = os.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-c", TAKE_THE_TERMINAL],
            cwd=directory,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), "PS1": PROMPT},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
        os.close(terminal)
        self._seen = ""

    def guard(self, script: str, ending: str = "") -> None:
        self.type(f"{sys.executable} guard.py 60 0 sh -c '{script}'{ending}\n")

    def foreground(self) -> int:
        return os.tcgetpgrp(self._fd)

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def expect(self, text: str) -> None:
        """Read until the text has come; what was typed is echoed, so it must not be in there."""
        until = time.monotonic() + 60
        while text not in self._seen:
            assert select.select([self._fd], [], [], max(0, until - time.monotonic()))[0], self._seen
            self._seen += os.read(self._fd, 4096).decode(errors="replace")
        self._seen = self._seen.partition(text)[2]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._fd)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path)
    yield shell
    shell.close()


def test_on_a_terminal_the_command_can_read_it(shell: Shell) -> None:
    shell.guard('echo rea""dy; read line </dev/tty; echo "[$line]"; exit 4')
    shell.expect("ready")
    shell.type("hello\n")
    shell.expect("[hello]")
    shell.expect("code 4")
    shell.type('echo "shell ""again"\n')
    shell.expect("shell again")


def test_ctrl_c_ends_the_command_and_its_guard_tells(shell: Shell) -> None:
    shell.guard('echo rea""dy; exec sleep 1000')
    shell.expect("ready")
    shell.type("\x03")
    shell.expect("code 130")


def test_ctrl_z_gives_the_shell_back_and_fg_the_command(shell: Shell) -> None:
    shell.guard('echo rea""dy; read line; echo "[$line]"; exit 6')
    shell.expect("ready")
    shell.type("\x1a")
    shell.expect(PROMPT)
    shell.type('echo "shell ""again"\n')
    shell.expect("shell again")
    shell.type("fg\n")
    shell.expect("guard.py")  # the shell says what it puts into the foreground
    shell.type("hello\n")
    shell.expect("[hello]")
    shell.expect("code 6")


def test_a_command_in_the_background_leaves_the_terminal_alone(shell: Shell) -> None:
    shell.guard('echo rea""dy; read line </dev/tty; echo "[$line]"; exit 8', ending=" &")
    shell.expect("ready")
    shell.type('echo "still ""mine"\n')
    shell.expect("still mine")
    shell.type("fg\n")
    shell.expect("guard.py")  # the shell says what it puts into the foreground
    shell.type("hello\n")
    shell.expect("[hello]")
    shell.expect("code 8")


def test_a_command_asked_to_the_foreground_while_it_stops_goes_on(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "guard.py").write_text(LATE + GUARD)
    shell.guard('echo rea""dy; read line </dev/tty; echo "[$line]"; exit 9', ending=" &")
    shell.expect("ready")
    until((tmp_path / "stopping").exists)
    own = shell.foreground()
    shell.type("fg\n")
    until(lambda: shell.foreground() != own)
    (tmp_path / "stop").touch()
    shell.type("hello\n")
    shell.expect("[hello]")
    shell.expect("code 9")
