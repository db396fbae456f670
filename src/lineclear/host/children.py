"""A guarded command: a child that is stopped when its claim is lost.

The guarded child gets a process group of its own, so that the whole tree below it can be stopped and
ours cannot. Such a group is in the background of the terminal and would be stopped at its first read;
so, if we are in the foreground, we lend it the terminal as a shell does, take it back when it stops or
ends, and stop and go on with it (Ctrl-Z, fg). Staying in our own group would keep the terminal too, but
then a lost claim could only stop the direct child and leave what it started writing.
"""

from __future__ import annotations

import errno
import os
import select
import time
from typing import TYPE_CHECKING

from lineclear.host.spawning import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

_KILL_AFTER_S = 5.0
_LINGER_POLL_S = 0.02


def run_guarded(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    keep_fds: Sequence[int] = (),
    poll: Callable[[], bool],
    every_s: float,
) -> int:
    """Run the command with our stdin, stdout and stderr; give its exit code, 128 + N for signal N.

    `poll` is asked every `every_s`: False means that the claim is lost, and the command's group gets
    SIGTERM, then SIGKILL. SIGINT, SIGTERM, SIGHUP and SIGQUIT sent to us go to the group. A command
    that cannot be started raises the OSError. Only from the main thread, where signals arrive.
    """
    with _Mail() as mail:
        for fd in keep_fds:
            os.set_inheritable(fd, True)
        child = _Child(argv, env)
        try:
            _guard(child, mail, poll, every_s)
        finally:
            child.end()
    return child.exit_code


def _guard(child: _Child, mail: _Mail, poll: Callable[[], bool], every_s: float) -> None:
    """Wait for the child; forward signals; ask `poll`; stop the child when it says so."""
    poll_at = time.monotonic() + every_s
    while child.is_running():
        for number in mail.read(poll_at - time.monotonic()):
            child.receive(number)
        if time.monotonic() >= poll_at:
            if not poll():
                return
            poll_at = time.monotonic() + every_s


class _Child:
    """A child in its own process group, with the terminal when it is ours to lend."""

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
        """Look at the child's state; on Ctrl-Z stop together with it."""
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
        import signal

        if number == signal.SIGCONT:
            self._tty.lend(self.pid)
        if number != signal.SIGCHLD:
            self._send(number)

    def end(self) -> None:
        """Whatever still runs after the guard has left is stopped: first asked, then killed."""
        try:
            if self.exit_code < 0:
                self._stop()
        finally:
            self._tty.close()

    def _stop(self) -> None:
        import signal

        kill_at = time.monotonic() + _KILL_AFTER_S
        self._send(signal.SIGTERM)
        self._send(signal.SIGCONT)  # a stopped process takes SIGTERM only once it goes on
        while self._has_group() and time.monotonic() < kill_at:
            time.sleep(_LINGER_POLL_S)
        self._send(signal.SIGKILL)
        if self.exit_code < 0:
            self.exit_code = _shell_code(os.waitpid(self.pid, 0)[1])

    def _has_group(self) -> bool:
        """Is anybody of the group left? The child itself is reaped on the way."""
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
        import signal

        self._is_lent = self._set_foreground(group)
        try:
            os.killpg(group, signal.SIGCONT)  # it may have been stopped for want of the terminal
        except OSError:
            pass

    def stop_with(self, group: int) -> None:
        """The group was stopped: stop too, so that the user's shell comes back; later go on together."""
        if self._fd < 0:
            return
        import signal

        was_lent = self._is_lent
        self._take_back()
        # An `fg` may come at any moment. One after the first line takes the stop back, as SIGCONT does with
        # a stop that is still to come; one before it has made the terminal ours already.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTSTP])
        os.kill(0, signal.SIGTSTP)
        if not was_lent and self._foreground() == os.getpgrp():
            os.kill(0, signal.SIGCONT)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTSTP])
        # Continued, or never stopped (nobody could continue an orphaned group, so the kernel spares it).
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
        import signal

        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # else the background may not do this
        try:
            os.tcsetpgrp(self._fd, group)
        except OSError:
            return False
        finally:
            signal.signal(signal.SIGTTOU, before)
        return True


class _Mail:
    """Signals sent to us, as numbers read from a pipe, so that waiting and receiving are one call."""

    def __enter__(self) -> _Mail:
        import signal

        self._ear, self._mouth = os.pipe()
        os.set_blocking(self._ear, False)
        os.set_blocking(self._mouth, False)
        self._fd_before = signal.set_wakeup_fd(self._mouth, warn_on_full_buffer=False)
        wanted = ("SIGCHLD", "SIGCONT", "SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
        self._before = {
            number: signal.signal(number, _no_action)
            for number in (getattr(signal, name) for name in wanted)
            if signal.getsignal(number) != signal.SIG_IGN or number == signal.SIGCHLD
        }
        return self

    def read(self, timeout_s: float) -> bytes:
        """The numbers that have come, waiting for the first at most so long."""
        waiter = select.poll()
        waiter.register(self._ear, select.POLLIN)
        if not waiter.poll(max(0.0, timeout_s) * 1000):
            return b""
        return os.read(self._ear, 4096)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import signal

        for number, action in self._before.items():
            signal.signal(number, action)
        signal.set_wakeup_fd(self._fd_before)
        os.close(self._ear)
        os.close(self._mouth)


def _no_action(number: int, frame: object) -> None:
    """The number is in the pipe already."""


def find_program(name: str, env: Mapping[str, str], cwd: str = "") -> str:
    """The program as the child's own PATH names it, seen from where the child will stand."""
    if "/" in name and not cwd:
        return name
    for directory in [""] if "/" in name else os.get_exec_path(env):
        path = os.path.join(cwd, directory, name)
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    raise FileNotFoundError(errno.ENOENT, "no such program on PATH", name)


def _shell_code(status: int) -> int:
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
