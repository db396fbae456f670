"""Runs other people's programs, each in its own session without a terminal, and leaves no process behind.

`run_to_end` follows the output as it comes, `capture` returns all of it, asking.py talks to the program.
Clients that outlive us are started by groups.py, git by git/run.py.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.queue.checks import CANCELLED, OUT_OF_TIME
from lineclear.core.words.refusals import refuse
from lineclear.host.interrupt_shield import starting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from threading import Event
    from typing import IO, NoReturn

    from lineclear.host.logs import BoundedLog

_TAIL_BYTES = 16 * 1024
_GRACE_S = 3.0
_POLL_S = 0.05
_GONE_WITHIN_S, _GONE_POLL_S = 0.5, 0.002


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended: its exit code (128 + N for signal N, -1 out of time, -2 cancelled) and the end of
    its output."""

    code: int
    tail: str


@contextmanager
def session(
    words: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: int = subprocess.DEVNULL,
    stdout: int | IO[bytes] | None = subprocess.DEVNULL,
    stderr: int | IO[bytes] | None = subprocess.DEVNULL,
    grace_s: float = _GRACE_S,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program in its own session. At the end of the block its whole group gets SIGTERM, and SIGKILL
    after `grace_s`; the same on Ctrl-C while it starts. Raises OSError if it cannot be started."""
    with ExitStack() as ending:
        with starting():
            child = subprocess.Popen(
                list(words), cwd=cwd, env=dict(env), stdin=stdin, stdout=stdout, stderr=stderr,
                start_new_session=True,
            )  # fmt: skip
            ending.enter_context(child)
            ending.callback(_end_group, child, grace_s)
        yield child


def capture(
    words: Sequence[str], *, cwd: str, env: Mapping[str, str], timeout_s: float
) -> tuple[int, bytes, bytes]:
    """Return exit code, output and error output; 127 and the reason if it cannot start or takes too long."""
    pipe = subprocess.PIPE
    try:
        with session(words, cwd=cwd, env=env, stdout=pipe, stderr=pipe) as child:
            output, errors = child.communicate(timeout=timeout_s)
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, b"", str(error).encode("utf-8", "replace")
    return child.returncode, output, errors


def run_to_end(
    command: str | Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    timeout_s: float,
    log: BoundedLog | None = None,
    cancel: Event | None = None,
) -> Finished:
    """Run a text with the shell, or words as they are. `log` gets all output; `cancel` ends the command."""
    words = shell_words(command) if isinstance(command, str) else list(command)
    is_off = cancel.is_set if cancel is not None else _never
    with ExitStack() as ending:
        reader, writer = os.pipe()
        ending.callback(os.close, reader)
        try:
            with open(writer, "wb") as end:
                child = ending.enter_context(session(words, cwd=cwd, env=env, stdout=end, stderr=end))
        except OSError as error:
            return Finished(127, str(error))
        deadline = time.monotonic() + timeout_s
        tail = _follow(reader, child, lambda: deadline - time.monotonic(), is_off, log)
        code = child.poll()
    text = tail.decode("utf-8", "replace")
    if code is None:
        return Finished(CANCELLED if is_off() else OUT_OF_TIME, text)
    return Finished(code if code >= 0 else 128 - code, text)


def become(argv: Sequence[str], path: str, env: Mapping[str, str]) -> NoReturn:
    """Replace this process by another program, in that directory."""
    os.chdir(path)
    try:
        os.execvpe(argv[0], list(argv), dict(env))
    except OSError as error:
        raise refuse("look.cannot_start", program=argv[0], why=error.strerror or str(error)) from error


def run_in_turn(
    commands: Sequence[str], within_s: float, run: Callable[[str, float], Finished]
) -> tuple[str, Finished] | None:
    """Run commands one after the other, all within `within_s`: `run` gets each with the seconds that are
    left. Stop at the first that fails and return it, with how it ended."""
    deadline = time.monotonic() + within_s
    for command in commands:
        done = run(command, max(0.0, deadline - time.monotonic()))
        if done.code != 0:
            return command, done
    return None


def shell_words(command: str) -> list[str]:
    """The words that run a text with the shell."""
    return ["/bin/sh", "-c", command]


def _never() -> bool:
    return False


def _follow(
    reader: int,
    child: subprocess.Popen[bytes],
    left_s: Callable[[], float],
    is_off: Callable[[], bool],
    log: BoundedLog | None,
) -> bytes:
    """Read until the command has ended, its time is up or it is cancelled, and return the end of its output.

    The end of the pipe does not count: a process that it left in the background may keep it open.
    """
    tail = b""
    with selectors.DefaultSelector() as selector:
        selector.register(reader, selectors.EVENT_READ)
        is_open = True
        while left_s() > 0 and not is_off():
            has_ended = child.poll() is not None
            wait_s = 0.0 if has_ended else min(_POLL_S, max(0.0, left_s()))
            if is_open and selector.select(wait_s):
                data = os.read(reader, 65_536)
                tail = (tail + data)[-_TAIL_BYTES:]
                if log is not None:
                    log.write(data)
                is_open = bool(data)
                continue
            if has_ended:
                break
            if not is_open:
                _wait(child, min(_POLL_S, max(0.0, left_s())))
    return tail


def _end_group(child: subprocess.Popen[bytes], grace_s: float) -> None:
    """End the child's process group, which is its own, since it began a session."""
    if grace_s > 0 and kill_group(child, signal.SIGTERM):
        _wait(child, grace_s if child.poll() is None else 0.0)
    # A killed process takes a moment to end. Give up after a while: without a reaper, orphans stay in the
    # group.
    until = time.monotonic() + _GONE_WITHIN_S
    while kill_group(child, signal.SIGKILL):
        _wait(child, _GONE_POLL_S)
        if time.monotonic() >= until:
            break
        time.sleep(_GONE_POLL_S)


def kill_group(child: subprocess.Popen[bytes], number: int = signal.SIGKILL) -> bool:
    """True if any process got the signal. (macOS does not permit it for processes that wait to be reaped.)"""
    try:
        os.killpg(child.pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _wait(child: subprocess.Popen[bytes], timeout_s: float) -> None:
    try:
        child.wait(timeout_s)
    except subprocess.TimeoutExpired:
        pass
