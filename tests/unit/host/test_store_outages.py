"""A store that was out of reach a moment ago: remembered for a few seconds, by all, then tried by one."""

from __future__ import annotations

import os
from pathlib import Path

from lineclear.host.store_outages import FILE, REMEMBERED_NS, Outage


def test_it_is_remembered_until_it_is_cleared(tmp_path: Path) -> None:
    outage = Outage(str(tmp_path))
    assert not outage.is_fresh()
    outage.note()
    assert outage.is_fresh()
    outage.clear()
    assert not outage.is_fresh()
    outage.clear()


def test_after_a_while_one_tries_and_the_others_are_still_told_so(tmp_path: Path) -> None:
    outage = Outage(str(tmp_path))
    outage.note()
    old = os.stat(tmp_path / FILE).st_mtime_ns - REMEMBERED_NS - 1
    os.utime(tmp_path / FILE, ns=(old, old))
    assert not outage.is_fresh()
    assert outage.is_fresh()


def test_a_time_that_has_not_come_yet_counts_for_nothing(tmp_path: Path) -> None:
    outage = Outage(str(tmp_path))
    outage.note()
    late = os.stat(tmp_path / FILE).st_mtime_ns + 3600 * 1_000_000_000
    os.utime(tmp_path / FILE, ns=(late, late))
    assert not outage.is_fresh()


def test_where_nothing_can_be_written_nothing_is_remembered(tmp_path: Path) -> None:
    outage = Outage(str(tmp_path / "nowhere"))
    outage.note()
    assert not outage.is_fresh()
