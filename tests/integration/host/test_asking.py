"""Programs that are asked line by line: those that answer, those that do not, and what is left of them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from lineclear.host.line_dialogue import ask
from tests.integration.host.programs import interrupted_at_start
from tests.waiting import is_alive, until, until_there

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
    until(lambda: not is_alive(int(pids.read_text())))


def test_ctrl_c_while_it_starts_leaves_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pids = tmp_path / "pids"
    interrupted_at_start(monkeypatch, lambda: until_there(pids))
    with pytest.raises(KeyboardInterrupt):
        asked(["sh", "-c", f"echo $$ >{pids}; exec sleep 600"])
    until(lambda: not is_alive(int(pids.read_text())))
