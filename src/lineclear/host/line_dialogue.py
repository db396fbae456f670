"""Writes lines to a program's stdin, reads its answers as lines, and ends it afterwards."""

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
    """The first line for which `is_answer` is true; b"" if the program ends or the time is up before that."""
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
    question = b"".join(line + b"\n" for line in lines)
    try:
        # Unbuffered: a buffer would try to write again when it is closed.
        while question:
            question = question[os.write(child.stdin.fileno(), question) :]
    except BrokenPipeError:
        return b""
    while line := child.stdout.readline(_MOST_BYTES):
        if is_answer(line):
            return line
    return b""
