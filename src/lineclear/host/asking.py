"""Asks a program line by line on its stdin and reads its answers as lines. Ends it afterwards."""

from __future__ import annotations

import os
import subprocess
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

from lineclear.host.commands import kill_group, session

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
    """The first line that is an answer; b"" if the program ends, or the time is over, before there is one."""
    pipe = subprocess.PIPE
    with ExitStack() as ending:
        try:
            child = ending.enter_context(
                session(command, cwd=cwd, env=env, stdin=pipe, stdout=pipe, grace_s=0)
            )
        except OSError:
            return b""
        clock = threading.Timer(timeout_s, kill_group, [child])
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
