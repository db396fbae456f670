"""Runs a guarded command: a child that is stopped if its claim is lost.

The child gets its own process group, so that we can stop everything that it started, but not ourselves. The
terminal treats this group as a background job and would stop it at its first read. So, if we are in the
foreground, we lend it the terminal as a shell does, take it back when the child stops or ends, and stop and
continue together with it (Ctrl-Z, fg). Without its own group the child would have the terminal anyway, but on
a lost claim we could stop only the child itself, and what it started would go on writing.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import time
from typing import TYPE_CHECKING

from lineclear.host.spawning import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

_KILL_AFTER_S = 5.0
_LINGER_POLL_S = 0.02
_RECEIVED = (
    signal.SIGCHLD, signal.SIGCONT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT,
)  # fmt: skip


def run_guarded(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    keep_fds: Sequence[int] = (),
    poll: Callable[[], bool],
    every_s: float,
) -> int:
    """Run the command with our stdin, stdout and stderr. Return its exit code, 128 + N for signal N.

    We call `poll` every `every_s`: if it returns False, the claim is lost, and the command's group gets
    SIGTERM, then SIGKILL. We forward SIGINT, SIGTERM, SIGHUP and SIGQUIT to the group. Raises OSError if the
    command cannot be started. Call it only in the main thread, where signals arrive.
    """
    with _SignalPipe() as signals:
        for fd in keep_fds:
            os.set_inheritable(fd, True)
        child = _Child(argv, env)
        try:
            _guard(child, signals, poll, every_s)
        finally:
            child.end()
    return child.exit_code


def _guard(child: _Child, signals: _SignalPipe, poll: Callable[[], bool], every_s: float) -> None:
    """Forward signals until the child has ended or `poll` returns False."""
    poll_at = time.monotonic() + every_s
    while child.is_running():
        for number in signals.read(poll_at - time.monotonic()):
            child.receive(number)
        if time.monotonic() >= poll_at:
            if not poll():
                return
            poll_at = time.monotonic() + every_s


class _Child:
    """A child in its own process group, with the terminal if we can lend it."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        self.exit_code = -1
        self._tty = _Terminal()
        try:
            self.pid = spawn(find_program(argv[0], env), argv, env, own_group=True)
        except BaseException:
            self._tty.close()
            raise
        self._tty.lend(self.pid)

    def is_running(self) -> bool:
        """Check the child's state; if Ctrl-Z stopped it, stop together with it."""
        pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
        if pid == 0:
            return True
        if os.WIFSTOPPED(status):
            self._tty.stop_with(self.pid)
            return True
        self.exit_code = _shell_code(status)
        return False

    def receive(self, number: int) -> None:
        """Act on a signal that was sent to us."""
        if number == signal.SIGCONT:
            self._tty.lend(self.pid)
        if number != signal.SIGCHLD:
            self._send(number)

    def end(self) -> None:
        """Stop the group if the child still runs: SIGTERM first, then SIGKILL."""
        try:
            if self.exit_code < 0:
                self._stop()
        finally:
            self._tty.close()

    def _stop(self) -> None:
        kill_at = time.monotonic() + _KILL_AFTER_S
        self._send(signal.SIGTERM)
        self._send(signal.SIGCONT)  # a stopped process acts on SIGTERM only when it continues
        while self._has_group() and time.monotonic() < kill_at:
            time.sleep(_LINGER_POLL_S)
        self._send(signal.SIGKILL)
        if self.exit_code < 0:
            self.exit_code = _shell_code(os.waitpid(self.pid, 0)[1])

    def _has_group(self) -> bool:
        """Does any process of the group still run? Also reaps the child."""
        if self.exit_code < 0:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.exit_code = _shell_code(status)
        return self._send(0)

    def _send(self, number: int) -> bool:
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


class _Terminal:
    """Our controlling terminal, if there is one."""

    def __init__(self) -> None:
        self._is_lent = False
        try:
            self._fd = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            self._fd = -1

    def lend(self, group: int) -> None:
        """Put the group in the foreground, if we are there ourselves."""
        if self._fd < 0 or self._foreground() != os.getpgrp():
            return
        self._is_lent = self._set_foreground(group)
        try:
            os.killpg(group, signal.SIGCONT)  # reading the terminal from the background may have stopped it
        except OSError:
            pass

    def stop_with(self, group: int) -> None:
        """The group was stopped: stop too, so that the user's shell returns; later continue together."""
        if self._fd < 0:
            return
        was_lent = self._is_lent
        self._take_back()
        # The user may type `fg` at any moment. Once SIGTSTP is blocked, its SIGCONT cancels the pending stop;
        # before that, it has already given us the terminal, which we check below.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTSTP])
        os.kill(0, signal.SIGTSTP)
        if not was_lent and self._foreground() == os.getpgrp():
            os.kill(0, signal.SIGCONT)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTSTP])
        # Continued, or never stopped: the kernel does not stop an orphaned group, which nobody could
        # continue.
        self.lend(group)

    def close(self) -> None:
        self._take_back()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _take_back(self) -> None:
        if self._is_lent:
            self._set_foreground(os.getpgrp())
            self._is_lent = False

    def _foreground(self) -> int:
        try:
            return os.tcgetpgrp(self._fd)
        except OSError:
            return -1

    def _set_foreground(self, group: int) -> bool:
        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # else it would stop us in the background
        try:
            os.tcsetpgrp(self._fd, group)
        except OSError:
            return False
        finally:
            signal.signal(signal.SIGTTOU, before)
        return True


class _SignalPipe:
    """Signals sent to us, as numbers read from a pipe, so that one call waits and receives."""

    def __enter__(self) -> _SignalPipe:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        self._fd_before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._before = {
            number: signal.signal(number, _no_action)
            for number in _RECEIVED
            if signal.getsignal(number) != signal.SIG_IGN or number == signal.SIGCHLD
        }
        return self

    def read(self, timeout_s: float) -> bytes:
        """The numbers of the signals that have come; waits at most `timeout_s` for the first."""
        waiter = select.poll()
        waiter.register(self._reader, select.POLLIN)
        if not waiter.poll(max(0.0, timeout_s) * 1000):
            return b""
        return os.read(self._reader, 4096)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, action in self._before.items():
            signal.signal(number, action)
        signal.set_wakeup_fd(self._fd_before)
        os.close(self._reader)
        os.close(self._writer)


def _no_action(number: int, frame: object) -> None:
    """The pipe already has the number."""


def find_program(name: str, env: Mapping[str, str], cwd: str = "") -> str:
    """The program's path: looked up on `env`'s PATH, and relative to the child's directory `cwd`."""
    if "/" in name and not cwd:
        return name
    for directory in [""] if "/" in name else os.get_exec_path(env):
        path = os.path.join(cwd, directory, name)
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    raise FileNotFoundError(errno.ENOENT, "no such program on PATH", name)


def _shell_code(status: int) -> int:
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
