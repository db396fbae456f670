"""The supervisor while the store goes away and comes back, at each of its writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from lineclear.app.runs.run_news import WAITS
from lineclear.app.runs.workers import HANDED_OVER, LandingResult
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.host import patient_store
from lineclear.host.patient_store import PatientStore
from tests.stage import Stage, team


def out_of_reach() -> Refusal:
    return refuse("store.unreachable", path="url", since_at="", reason="refused")


def busy() -> Refusal:
    return refuse("store.busy", path="url", holder="Another database session", limit_s=30)


def lost() -> Refusal:
    refusal = refuse("store.failed", path="url", reason="the connection was lost")
    refusal.facts["is_lost"] = True
    return refusal


class FlakyStore:
    """A store that loses the connection at one of its writes, before or after it is done."""

    kind = "memory"

    def __init__(self, store: Any) -> None:
        self._store, self.writes = store, 0
        self.loses_at, self.is_written, self.is_away = 0, False, False
        self.away: Callable[[], Refusal] = out_of_reach

    def transact(self, caller: Any, work: Callable[[Any], Any], near: Iterable[Any] = (), /) -> Any:
        self._answer()
        self.writes += 1
        if self.writes == self.loses_at:
            if self.is_written:
                self._store.transact(caller, work, near)
            self.is_away = True
            raise self.away() if self.away is busy else lost()
        return self._store.transact(caller, work, near)

    def read(self, work: Callable[[Any], Any], /) -> Any:
        self._answer()
        return self._store.read(work)

    def _answer(self) -> None:
        if self.is_away:
            raise self.away()


@pytest.fixture
def flaky(monkeypatch: pytest.MonkeyPatch) -> tuple[Stage, FlakyStore]:
    """A stage on which a job that waits for the store gets it back."""
    stage = Stage()
    stage.play = lambda played, _task: played.finish()
    store = FlakyStore(stage.store)

    def come_back(_pause_s: float) -> None:
        store.is_away = False

    monkeypatch.setattr(patient_store, "time", SimpleNamespace(sleep=come_back))
    return stage, store


@pytest.mark.parametrize(("away", "is_written"), [(out_of_reach, False), (out_of_reach, True), (busy, False)])
@pytest.mark.parametrize("write", range(1, 9))
def test_an_outage_at_any_write_costs_no_attempt_and_starts_nothing_twice(
    flaky: tuple[Stage, FlakyStore], write: int, away: Callable[[], Refusal], is_written: bool
) -> None:
    stage, store = flaky
    number = stage.task("One")
    store.loses_at, store.is_written, store.away = write, is_written, away
    stage.store = PatientStore(store, lambda: False)  # type: ignore[arg-type, assignment]
    supervisor = stage.supervise(team(1))
    row = stage.row(number)
    assert (row.state, row.attempt) == ("merged", 1)
    assert stage.ends(number) == ["done"]
    assert len(stage.clients_of[number]) == 1
    assert supervisor.broken == []
    assert stage.world.findings() == []


def test_a_task_that_was_taken_when_the_store_went_away_is_put_back(
    flaky: tuple[Stage, FlakyStore],
) -> None:
    stage, store = flaky
    number, outages = stage.task("One", attempts=1), [True, True]

    def go_away() -> None:
        if outages:
            outages.pop()
            store.is_away = True
            raise out_of_reach()

    stage.refuse_place = go_away
    stage.store = PatientStore(store, lambda: False)  # type: ignore[arg-type, assignment]
    supervisor = stage.supervise(team(1))
    assert (stage.row(number).state, stage.row(number).attempt) == ("merged", 1)
    assert supervisor.refusal is None


def test_the_supervisor_says_that_it_waits_and_goes_on(flaky: tuple[Stage, FlakyStore]) -> None:
    stage, store = flaky
    number = stage.task("One")
    stage.play = lambda _played, _task: None
    supervisor_store, stage.store = stage.store, store  # type: ignore[assignment]
    stage.at(1_000, lambda: setattr(store, "is_away", True))
    stage.at(61_000, lambda: setattr(store, "is_away", False))
    stage.at(62_000, lambda: stage.client(number).finish())
    stage.supervise(team(1))
    stage.store = supervisor_store
    assert stage.row(number).state == "merged"
    assert stage.told(WAITS) == [
        "the shared store is out of reach; agents at work continue, no new one starts",
        "the shared store is back",
    ]
    assert stage.client(number).signals == []


def test_finished_work_is_submitted_when_the_store_is_back(flaky: tuple[Stage, FlakyStore]) -> None:
    stage, _ = flaky
    number = stage.task("One")
    failures = [out_of_reach()]

    def land(_task: int) -> LandingResult:
        if failures:
            raise failures.pop()
        return LandingResult(HANDED_OVER, "it waits as Q-1")

    stage.landed = land
    assert stage.supervise(team(1), lands=True).broken == []
    assert failures == []
    assert stage.row(number).state == "handed over"
