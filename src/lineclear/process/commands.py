"""A command that has to end in time, with the end of what it printed. Its whole group is ended."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from contextlib import ExitStack

from lineclear.core.checks import CANCELLED, OUT_OF_TIME
from lineclear.process.shielding import starting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from threading import Event

    from lineclear.process.logs import BoundedLog

_TAIL_BYTES = 16 * 1024
_GRACE_S = 3.0
_POLL_S = 0.05


class Finished:
    """How a command ended: its exit code (128 + N for signal N, -1 out of time, -2 called off) and its last
    words."""

    __slots__ = ("code", "tail")

    def __init__(self, code: int, tail: str) -> None:
        self.code, self.tail = code, tail


def run_to_end(
    command: str | Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    timeout_s: float,
    log: BoundedLog | None = None,
    cancel: Event | None = None,
) -> Finished:
    """Run a text by the shell, or words as they are, in a session of its own: no terminal to ask, nothing
    of it left behind. `log` gets all that it prints; when `cancel` is set it is ended."""
    words = shell_words(command) if isinstance(command, str) else list(command)
    is_off = cancel.is_set if cancel is not None else _never
    with ExitStack() as ending:
        ear, mouth = os.pipe()
        ending.callback(os.close, ear)
        try:
            with open(mouth, "wb") as end, starting():
                child = subprocess.Popen(
                    words, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=end, stderr=end,
                    start_new_session=True,
                )  # fmt: skip
                ending.callback(_end_group, child)
        except OSError as error:
            return Finished(127, str(error))
        deadline = time.monotonic() + timeout_s
        tail = _listen(ear, child, lambda: deadline - time.monotonic(), is_off, log)
        code = child.poll()
    text = tail.decode("utf-8", "replace")
    if code is None:
        return Finished(CANCELLED if is_off() else OUT_OF_TIME, text)
    return Finished(code if code >= 0 else 128 - code, text)


def shell_words(command: str) -> list[str]:
    """The words that run a text by the shell."""
    return ["/bin/sh", "-c", command]


def _never() -> bool:
    return False


def _listen(
    ear: int,
    child: subprocess.Popen[bytes],
    left_s: Callable[[], float],
    is_off: Callable[[], bool],
    log: BoundedLog | None,
) -> bytes:
    """The last words until the command has ended, its time is over or it is called off.

    Until the command itself has ended, not the pipe: something it left in the background may keep that open.
    """
    tail = b""
    with selectors.DefaultSelector() as selector:
        selector.register(ear, selectors.EVENT_READ)
        is_open = True
        while left_s() > 0 and not is_off():
            has_ended = child.poll() is not None
            wait_s = 0.0 if has_ended else min(_POLL_S, max(0.0, left_s()))
            if is_open and selector.select(wait_s):
                data = os.read(ear, 65_536)
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
