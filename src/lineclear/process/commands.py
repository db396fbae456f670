"""A shell command that has to end in time, with the end of what it printed. Its whole group is ended."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time

from lineclear.process.shielding import unshielded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_TAIL_BYTES = 16 * 1024
_GRACE_S = 3.0


class Finished:
    """How a command ended: its exit code (128 + N for signal N, -1 out of time) and its last words."""

    __slots__ = ("code", "tail")

    def __init__(self, code: int, tail: str) -> None:
        self.code, self.tail = code, tail


def run_to_end(command: str, *, cwd: str, env: Mapping[str, str], timeout_s: float) -> Finished:
    """Run it by the shell, in a session of its own: no terminal to ask, nothing of it left behind."""
    ear, mouth = os.pipe()
    try:
        with unshielded():
            child = subprocess.Popen(
                ["/bin/sh", "-c", command],
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=mouth,
                stderr=mouth,
                start_new_session=True,
            )
    except OSError as error:
        os.close(ear)
        return Finished(127, str(error))
    finally:
        os.close(mouth)
    with open(ear, "rb", buffering=0) as pipe:
        try:
            tail = _listen(pipe.fileno(), child, time.monotonic() + timeout_s)
            code = child.poll()
        finally:
            _end_group(child)
    text = tail.decode("utf-8", "replace")
    if code is None:
        return Finished(-1, text)
    return Finished(code if code >= 0 else 128 - code, text)


def _listen(ear: int, child: subprocess.Popen[bytes], deadline: float) -> bytes:
    """The last words until the command has ended or its time is over.

    Until the command itself has ended, not the pipe: something it left in the background may keep that open.
    """
    tail = b""
    with selectors.DefaultSelector() as selector:
        selector.register(ear, selectors.EVENT_READ)
        is_open = True
        while time.monotonic() < deadline:
            has_ended = child.poll() is not None
            wait_s = 0.0 if has_ended else min(0.05, max(0.0, deadline - time.monotonic()))
            if is_open and selector.select(wait_s):
                data = os.read(ear, 65_536)
                tail = (tail + data)[-_TAIL_BYTES:]
                is_open = bool(data)
                continue
            if has_ended:
                break
            if not is_open:
                _wait(child, min(0.05, max(0.0, deadline - time.monotonic())))
    return tail


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """First asked, then killed; the group is the child's own since it began a session."""
    if not _send(child.pid, signal.SIGTERM):
        child.poll()
        return
    _wait(child, _GRACE_S if child.poll() is None else 0.0)
    _send(child.pid, signal.SIGKILL)
    child.wait()


def _send(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _wait(child: subprocess.Popen[bytes], timeout_s: float) -> None:
    try:
        child.wait(timeout_s)
    except subprocess.TimeoutExpired:
        pass
