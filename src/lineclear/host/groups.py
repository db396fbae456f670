"""A client as a process group that outlives us: started, found again, followed, and stopped as a whole.

The client's parent is a shell that only notes its own pid and the client's exit code in files. The output
goes straight into a file, not through a pipe of ours. So a client works on when we are killed, and our
successor reads on where we stopped. Whether it lives is told by the bond whose descriptor it inherited and
by the mark in its environment; never by its pid alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

from lineclear.host import processes
from lineclear.host.children import find_program
from lineclear.host.shielding import unshielded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

OUTPUT, EXIT, PID = "output", "exit", "pid"
MARK = "LINECLEAR_RUN"
# A signal meant for the client also reaches the shell, which must stay to note how the client ended;
# a trap, unlike an ignored signal, is not inherited.
_SHELL = f"""trap : HUP INT TERM; place=$1; shift; echo $$ >"$place/{PID}"
"$@"; code=$?; echo $code >"$place/{EXIT}"; exit $code"""
_READ_AT_ONCE = 1 << 20
_LONGEST_LINE = 4 << 20
_SWEEP_POLL_S = 0.02


class ClientProcess:
    """One started client. `directory` holds its output, its pid and, in the end, its exit code."""

    def __init__(
        self, directory: str, mark: str, pid: int, child: subprocess.Popen[bytes] | None = None
    ) -> None:
        self.directory, self.mark, self.pid, self._child = directory, mark, pid, child
        self._offset, self._rest, self.unreadable = 0, b"", 0

    def exit_code(self) -> int | None:
        """Once the client has ended: its code, 128 + N for signal N. None as long as that is not known."""
        code = self._child.poll() if self._child is not None else None
        if self._child is not None and code is None:
            return None
        noted = _read_number(os.path.join(self.directory, EXIT))
        if code is None:
            return noted
        return noted if noted is not None else (code if code >= 0 else 128 - code)

    def is_child(self) -> bool:
        """Is it our own child, whose end the kernel will tell us?"""
        return self._child is not None

    def was_started(self) -> bool:
        """Did whoever was about to start it live long enough to do so? The shell's first act is a note."""
        return os.path.exists(os.path.join(self.directory, PID))

    def has_ended(self) -> bool:
        """Is the client known to be gone, whoever it has left behind? By the noted code; by the mark of the
        noting shell, where marks can be seen: a killed one notes nothing."""
        if self.exit_code() is not None:
            return True
        is_seen = processes.HAS_MARKS and self.pid > 0 and self._child is None
        return is_seen and not processes.is_marked(self.pid, f"{MARK}={self.mark}")

    def new_lines(self) -> list[bytes]:
        """Whole lines that were written since the last call, at most about a megabyte of them."""
        if self.output_bytes() <= self._offset:
            return []
        data = _read_from(os.path.join(self.directory, OUTPUT), self._offset)
        self._offset += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            self.unreadable += 1
            self._rest = b""
        return lines

    def skip_to_now(self) -> None:
        """Read only what is written from now on."""
        self._offset = self.output_bytes()

    def last_words(self, most_bytes: int = 0) -> Iterator[bytes]:
        """After the end: what is left, also a line without its newline; of a flood only its end."""
        start = self.output_bytes() - most_bytes
        if most_bytes and start > self._offset:
            self._offset, self._rest = start, b""
        before = -1
        while before < self._offset:  # a part of a long line is no line, and yet not the end
            before = self._offset
            yield from self.new_lines()
        rest, self._rest = self._rest, b""
        if rest:
            yield rest

    def output_bytes(self) -> int:
        try:
            return os.stat(os.path.join(self.directory, OUTPUT)).st_size
        except OSError:
            return 0

    def members(self) -> list[int]:
        """Everybody who belongs to it: by descent, by session, and by the mark in their environment."""
        found = set(processes.marked(f"{MARK}={self.mark}"))
        people = processes.take_census()
        if self.pid in people and (found or not processes.HAS_MARKS or self._is_our_own()):
            found.add(self.pid)
        for family in processes.families(people, found & people.keys()).values():
            found.update(family.pids)
        return sorted(found - {os.getpid()})

    def _is_our_own(self) -> bool:
        """Not yet waited for, so that its pid cannot have become somebody else's."""
        return self._child is not None and self._child.returncode is None

    def send(self, number: int) -> int:
        """To everybody; gives how many there were."""
        count = 0
        for pid in self.members():
            try:
                os.kill(pid, number)
                count += 1
            except (ProcessLookupError, PermissionError):
                pass
        return count

    def sweep(self, grace_s: float) -> int:
        """After the end: stop whoever was left behind, asked first; gives how many there were."""
        left = self.send(signal.SIGTERM)
        if not left:
            return 0
        self.send(signal.SIGCONT)  # a stopped process takes SIGTERM only once it goes on
        until = time.monotonic() + grace_s
        while time.monotonic() < until and self.members():
            time.sleep(_SWEEP_POLL_S)
        while self.send(signal.SIGKILL):
            time.sleep(_SWEEP_POLL_S)
        return left


def start(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    directory: str,
    mark: str,
    stdin: str,
    bond_fd: int,
) -> ClientProcess:
    """Start a client in a session of its own. Raises OSError when the program cannot be started.

    The shell would note 127 for a program that is not there; that is found out before.
    """
    os.makedirs(directory, mode=0o700, exist_ok=True)
    words = [
        "/bin/sh",
        "-c",
        _SHELL,
        "sh",
        directory,
        find_program(argv[0], env, cwd),
        *argv[1:],
    ]
    with (
        open(os.path.join(directory, OUTPUT), "ab", buffering=0) as output,
        open(stdin or os.devnull, "rb") as source,
        unshielded(),
    ):
        child = subprocess.Popen(
            words,
            cwd=cwd,
            env={**env, MARK: mark},
            stdin=source,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(bond_fd,),
        )
    return ClientProcess(directory, mark, child.pid, child)


def find_again(directory: str, mark: str) -> ClientProcess:
    """A client that another process had started; its output is read from the beginning."""
    return ClientProcess(directory, mark, _read_number(os.path.join(directory, PID)) or 0)


def cut_output(directory: str, most_bytes: int) -> None:
    """Keep no more than the beginning of what a client has written."""
    path = os.path.join(directory, OUTPUT)
    try:
        if os.stat(path).st_size > most_bytes:
            os.truncate(path, most_bytes)
    except OSError:
        pass  # gone already, or a disk that can do no more


def _read_number(path: str) -> int | None:
    try:
        with open(path, encoding="ascii") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return None
    return int(text) if text.endswith("\n") and text[:-1].isdigit() else None


def _read_from(path: str, offset: int) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.pread(fd, _READ_AT_ONCE, offset)
    finally:
        os.close(fd)
