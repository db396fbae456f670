"""When passes run, and how the process beside a hook waits for the last edit of a burst."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lineclear.app.radar.passing import PassReport
from lineclear.app.radar.saving_beside import BesidePorts, save_beside
from lineclear.app.radar.watching import LOOK_EVERY_S, PASS_EVERY_S, RadarWatch

REPORT = PassReport(findings=[], sides=[])


class Clock:
    def __init__(self) -> None:
        self.now_s, self.stamp, self.passes = 0.0, "a", 0

    def run_pass(self) -> PassReport:
        self.passes += 1
        self.now_s += 2.0
        return REPORT


def test_a_pass_runs_when_there_is_something_new_and_rests_as_long_as_it_took() -> None:
    clock = Clock()
    watch = RadarWatch(lambda: clock.stamp, clock.run_pass, lambda: clock.now_s)
    assert watch.step() == (REPORT, 2.0)
    assert watch.step() == (None, LOOK_EVERY_S)
    clock.stamp = "b"
    assert watch.step() == (REPORT, 2.0)
    clock.now_s += PASS_EVERY_S
    assert watch.step() == (REPORT, 2.0)
    assert clock.passes == 3


def steps_of(saves: list[bool], *, is_ours: bool = True) -> list[str]:
    done: list[str] = []

    def save(is_first: bool) -> bool:
        done.append("save" if is_first else "again")
        return saves.pop(0)

    @contextmanager
    def stay() -> Iterator[bool]:
        yield is_ours

    ports = BesidePorts(
        save=save, scan=lambda: done.append("scan"), rest=lambda: done.append("rest"), stay=stay
    )
    save_beside(ports)
    return done


def test_the_process_beside_a_hook_stays_until_nothing_changes() -> None:
    assert steps_of([True, True, False]) == ["save", "scan", "rest", "again", "scan", "rest", "again"]
    assert steps_of([False, False]) == ["save", "rest", "again"]


def test_only_one_process_stays_for_a_worktree() -> None:
    assert steps_of([True], is_ours=False) == ["save", "scan"]
