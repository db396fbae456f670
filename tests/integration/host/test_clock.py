"""The host's clock: one boot, ticks that only grow."""

from __future__ import annotations

import pytest

from lineclear.core.words.refusals import Refusal
from lineclear.host import clock
from tests.integration.host.programs import running

PRINT_NOW = """
from lineclear.host.clock import HostClock
now = HostClock().now()
print(now.boot, now.tick_ns, now.wall_ns)
"""


def test_two_processes_of_one_boot_can_compare_their_ticks() -> None:
    before = clock.HostClock().now()
    with running(PRINT_NOW) as program:
        boot, tick_ns, wall_ns = program.line().split()
    after = clock.HostClock().now()
    assert boot == before.boot == after.boot == clock.boot_id()
    assert before.tick_ns < int(tick_ns) < after.tick_ns
    assert before.wall_ns <= int(wall_ns) <= after.wall_ns


def test_where_there_is_no_proc_a_command_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "_known_boot", [])
    monkeypatch.setattr(clock, "_BOOT_ID_FILE", "/nowhere/boot_id")
    monkeypatch.setattr(clock, "_MACOS_COMMAND", ("/bin/echo", "C0FFEE"))
    assert clock.boot_id() == "c0ffee"


def test_a_host_without_boot_id_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "_known_boot", [])
    monkeypatch.setattr(clock, "_BOOT_ID_FILE", "/nowhere/boot_id")
    monkeypatch.setattr(clock, "_MACOS_COMMAND", ("/nowhere/sysctl",))
    with pytest.raises(Refusal) as caught:
        clock.boot_id()
    assert caught.value.code == "host.no_boot_id"
