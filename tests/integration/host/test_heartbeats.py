"""Heartbeat files: who was there when, and up to which position it was told."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from lineclear.app.agents.heartbeat import PendingPresence
from lineclear.host.heartbeats import PresenceFiles
from tests.integration.host.programs import running

TOUCH_IN_A_LOOP = """
import sys
from lineclear.host.heartbeats import PresenceFiles
presence, first = PresenceFiles(sys.argv[1]), int(sys.argv[2])
print("ready")
sys.stdin.readline()
low = 0
for position in range(first, 4000, 2):
    presence.touch("agent", position)
    low += presence.seen("agent") < position
print(low)
"""


@pytest.fixture
def presence(tmp_path: Path) -> PresenceFiles:
    return PresenceFiles(str(tmp_path / "presence"))


def test_an_agent_never_seen_has_no_position_and_no_heartbeat(presence: PresenceFiles) -> None:
    assert presence.seen("agent") == 0
    assert presence.idle_ns("agent") is None


def test_the_highest_position_stays(presence: PresenceFiles) -> None:
    presence.touch("agent", 7)
    presence.touch("agent", 3)
    presence.touch("agent", None)
    assert presence.seen("agent") == 7
    presence.touch("agent", 8)
    assert presence.seen("agent") == 8


def test_a_position_is_twenty_digits(presence: PresenceFiles, tmp_path: Path) -> None:
    presence.touch("agent", 42)
    assert (tmp_path / "presence" / "agent").read_bytes() == b"00000000000000000042"


def test_a_sub_agents_slash_is_a_plus_in_the_file_name(presence: PresenceFiles, tmp_path: Path) -> None:
    presence.touch("lead/helper-1", 5)
    assert [path.name for path in (tmp_path / "presence").iterdir()] == ["lead+helper-1"]
    assert presence.seen("lead/helper-1") == 5
    assert presence.seen("lead") == 0


@pytest.mark.parametrize("seen", [None, 1])
def test_every_touch_is_a_heartbeat(presence: PresenceFiles, tmp_path: Path, seen: int | None) -> None:
    presence.touch("agent", 9)
    os.utime(tmp_path / "presence" / "agent", (1, 1))
    idle_ns = presence.idle_ns("agent")
    assert idle_ns is not None
    assert idle_ns > 10**15
    presence.touch("agent", seen)
    idle_ns = presence.idle_ns("agent")
    assert idle_ns is not None
    assert idle_ns < 10**11


def test_a_clock_set_back_gives_no_negative_idleness(presence: PresenceFiles, tmp_path: Path) -> None:
    presence.touch("agent")
    ahead = time.time() + 1000
    os.utime(tmp_path / "presence" / "agent", (ahead, ahead))
    assert presence.idle_ns("agent") == 0


@pytest.mark.parametrize("text", [b"", b"12", b"x" * 20, b"-0000000000000000001", "١".encode() * 10])
def test_garbage_is_position_zero_and_is_written_over(
    presence: PresenceFiles, tmp_path: Path, text: bytes
) -> None:
    (tmp_path / "presence").mkdir()
    (tmp_path / "presence" / "agent").write_bytes(text)
    assert presence.seen("agent") == 0
    presence.touch("agent", 3)
    assert presence.seen("agent") == 3


def test_two_processes_of_one_agent_never_write_a_lower_position(tmp_path: Path) -> None:
    directory = tmp_path / "presence"
    with running(TOUCH_IN_A_LOOP, directory, 1) as one, running(TOUCH_IN_A_LOOP, directory, 2) as other:
        for program in (one, other):
            assert program.line() == "ready"
        for program in (one, other):
            program.say("go")
        assert [one.line(), other.line()] == ["0", "0"]


def test_a_directory_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    presence = PresenceFiles(str(tmp_path / "taken" / "presence"))
    presence.touch("agent", 1)
    assert presence.seen("agent") == 0
    assert presence.idle_ns("agent") is None


def test_what_waits_for_a_commit_is_touched_when_it_is_flushed(presence: PresenceFiles) -> None:
    pending = PendingPresence(presence)
    pending.touch("agent", 7)
    assert presence.idle_ns("agent") is None
    pending.flush()
    assert presence.seen("agent") == 7
