"""A program that is asked line by line on its stdin, and whose answers are lines. It is ended afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import ExitStack

from lineclear.process.shielding import starting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_MOST_BYTES = 4 << 20


def ask(
    command: Sequence[str],
    lines: Sequence[bytes],
    *,
    is_answer: Callable[[bytes], bool],
    cwd: str,
    env: Mapping[str, str],
    timeout_s: float,
) -> bytes:
    """The first line that is the answer; b"" when it ends, or the time is over, before it gives one."""
    with ExitStack() as ending:
        try:
            with starting():
                child = subprocess.Popen(
                    list(command), cwd=cwd, env=dict(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL, start_new_session=True,
                )  # fmt: skip
                ending.enter_context(child)
                ending.callback(_end, child)
        except OSError:
            return b""
        clock = threading.Timer(timeout_s, _end, [child])
        ending.callback(clock.cancel)
        clock.start()
        return _talk(child, lines, is_answer)


def _talk(
    child: subprocess.Popen[bytes], lines: Sequence[bytes], is_answer: Callable[[bytes], bool]
) -> bytes:
    if child.stdin is None or child.stdout is None:
        return b""
    said = b"".join(line + b"\n" for line in lines)
    try:
        # Past the buffer, which would try again when it is closed.
        while said:
            said = said[os.write(child.stdin.fileno(), said) :]
    except BrokenPipeError:
        return b""
    while line := child.stdout.readline(_MOST_BYTES):
        if is_answer(line):
            return line
    return b""


def _end(child: subprocess.Popen[bytes]) -> None:
    """With its whole group: what is asked may be a shell that has started the program."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
