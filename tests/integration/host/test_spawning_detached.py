"""Processes that nobody waits for, started by a process that stays."""

from __future__ import annotations

import os

from lineclear.host.spawning import start_detached
from tests.waiting import until


def state_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


def test_those_that_have_ended_are_gone_when_the_next_one_is_started() -> None:
    first = start_detached(["/bin/true"], os.environ)
    until(lambda: state_of(first) == "Z")
    last = start_detached(["/bin/true"], os.environ)
    assert state_of(first) == ""
    os.waitpid(last, 0)
