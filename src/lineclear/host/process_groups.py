"""Starts a client as a process group that outlives us, finds it again, follows its output, and stops all of
it.

The client's parent is a shell that only writes its own pid and the client's exit code into files. The output
goes straight into a file, not through a pipe of ours. So a client works on if we are killed, and our
successor reads on where we stopped. The bond whose descriptor it inherited and the mark in its environment
say whether it is alive, never its pid alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

from lineclear.host import processes
from lineclear.host.guarded_command import find_program
from lineclear.host.interrupt_shield import unshielded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

OUTPUT, EXIT, PID = "output", "exit", "pid"
MARK = "LINECLEAR_RUN"
# A signal for the client also reaches the shell, which must stay to write the client's exit code. Unlike an
# ignored signal, a trap is not inherited.
_SHELL = f"""trap : HUP INT TERM; place=$1; shift; echo $$ >"$place/{PID}"
"$@"; code=$?; echo $code >"$place/{EXIT}"; exit $code"""
_READ_AT_ONCE = 1 << 20
_LONGEST_LINE = 4 << 20
_SWEEP_POLL_S = 0.02


class ClientProcess:
    """One started client. Its output, its pid and finally its exit code are in `directory`."""

    def __init__(
        self, directory: str, mark: str, pid: int, child: subprocess.Popen[bytes] | None = None
    ) -> None:
        self.directory, self.mark, self.pid, self._child = directory, mark, pid, child
        self._offset, self._rest, self.unreadable = 0, b"", 0

    def exit_code(self) -> int | None:
        """The exit code, 128 + N for signal N; None until the client has ended and the code is known."""
        code = self._child.poll() if self._child is not None else None
        if self._child is not None and code is None:
            return None
        noted = _read_number(os.path.join(self.directory, EXIT))
        if code is None:
            return noted
        return noted if noted is not None else (code if code >= 0 else 128 - code)

    def is_child(self) -> bool:
        """Is it our own child, so that the kernel reports its end to us?"""
        return self._child is not None

    def was_started(self) -> bool:
        """Was it really started? The shell first writes its pid; the starter may have died before."""
        return os.path.exists(os.path.join(self.directory, PID))

    def has_ended(self) -> bool:
        """Is the client known to have ended, even if processes that it started still run?

        Told by the exit code or, since a killed shell writes none, by whether the shell still has our mark
        (where marks can be read).
        """
        if self.exit_code() is not None:
            return True
        is_seen = processes.HAS_MARKS and self.pid > 0 and self._child is None
        return is_seen and not processes.is_marked(self.pid, f"{MARK}={self.mark}")

    def new_lines(self) -> list[bytes]:
        """The complete lines since the last call, at most about a megabyte of them."""
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
        """Skip everything written so far."""
        self._offset = self.output_bytes()

    def last_words(self, most_bytes: int = 0) -> Iterator[bytes]:
        """After the client's end: the remaining lines, including one without its newline. With `most_bytes`,
        only the last ones of a longer output."""
        start = self.output_bytes() - most_bytes
        if most_bytes and start > self._offset:
            self._offset, self._rest = start, b""
        before = -1
        while before < self._offset:  # part of a long line gives no line, but is not the end
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
        """All processes that belong to the client: by descent, by session, and by the mark."""
        found = set(processes.marked(f"{MARK}={self.mark}"))
        census = processes.take_census()
        # The pid of a child that we have not waited for cannot be reused.
        is_unreaped = self._child is not None and self._child.returncode is None
        if self.pid in census and (found or not processes.HAS_MARKS or is_unreaped):
            found.add(self.pid)
        for family in processes.families(census, found & census.keys()).values():
            found.update(family.pids)
        return sorted(found - {os.getpid()})

    def send(self, number: int) -> int:
        """Send the signal to all members and return how many got it."""
        count = 0
        for pid in self.members():
            try:
                os.kill(pid, number)
                count += 1
            except (ProcessLookupError, PermissionError):
                pass
        return count

    def sweep(self, grace_s: float) -> int:
        """After the client's end: stop what it left running, by SIGTERM, then SIGKILL. Return how many."""
        left = self.send(signal.SIGTERM)
        if not left:
            return 0
        self.send(signal.SIGCONT)  # a stopped process acts on SIGTERM only when it continues
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
    """Start a client in its own session. Raises OSError if the program cannot be started."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    # `find_program` raises for a missing program; the shell would only write 127 as its exit code.
    words = ["/bin/sh", "-c", _SHELL, "sh", directory, find_program(argv[0], env, cwd), *argv[1:]]
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
    """A client that another process started; its output is read from the beginning."""
    return ClientProcess(directory, mark, _read_number(os.path.join(directory, PID)) or 0)


def cut_output(directory: str, most_bytes: int) -> None:
    """Keep at most the first `most_bytes` of a client's output."""
    path = os.path.join(directory, OUTPUT)
    try:
        if os.stat(path).st_size > most_bytes:
            os.truncate(path, most_bytes)
    except OSError:
        pass  # already gone, or a broken disk


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
