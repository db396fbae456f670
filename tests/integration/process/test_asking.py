"""Programs that are asked line by line: those that answer, those that do not, and what is left of them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lineclear.process.asking import ask
from tests.waiting import until

ECHO = """
import sys
for line in sys.stdin:
    print("noise", flush=True)
    print("said", line, end="", flush=True)
"""


def asked(command: Sequence[str], timeout_s: float = 30.0) -> bytes:
    return ask(
        command,
        [b"one", b"two"],
        is_answer=lambda line: line.endswith(b"two\n"),
        cwd="/",
        env=os.environ,
        timeout_s=timeout_s,
    )


def test_the_answer_is_the_first_line_that_is_one() -> None:
    assert asked([sys.executable, "-c", ECHO]) == b"said two\n"


def test_a_program_that_ends_without_an_answer_gives_none() -> None:
    assert asked(["true"]) == b""
    assert asked(["sh", "-c", "echo noise"]) == b""
    assert asked(["/no/such/program"]) == b""


def test_a_silent_program_is_ended_with_what_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    begun = time.monotonic()
    assert asked(["sh", "-c", f"sleep 600 & echo $! >{pids}; wait"], timeout_s=4.0) == b""
    assert time.monotonic() - begun < 60
    until(lambda: not is_running(int(pids.read_text())))


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
