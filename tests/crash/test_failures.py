"""A disk that fails or is full, a connection that is lost: the caller is told, nothing is half done, and the
next call works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.crash import proxy
from tests.crash.commands import Command, commands
from tests.crash.faults import FAILED, FULL
from tests.crash.grounds import Ground, Inspector, kinds
from tests.crash.jobs import Workshop
from tests.engines import Place

pytestmark = pytest.mark.slow
Tell = Callable[[str, object], None]
AUDIT: Command = ("audit", (), {})
CLEAR: Command = ("clear_disk", (), {})
# What changes several rows, the index of words, several tables; and a command without an id.
NAMES = ("claim several", "task add", "proposal accept", "inbox")
# One of them moves the WAL into the database as well.
SETTINGS: dict[str, dict[str, object]] = {
    "claim several": {"lineclear.store.sqlite.engine.CHECKPOINT_PAGES": 1}
}


class Trial:
    """One command, once in peace and then with one failure after the other."""

    def __init__(self, ground: Ground, workshop: Workshop, name: str) -> None:
        self._ground, self._workshop = ground, workshop
        self._command, self._settings = commands(ground.proposal)[name], SETTINGS.get(name, {})
        self.told: Counter[str] = Counter()
        clean = ground.copy()
        self.points = workshop.run(clean, self._command, settings=self._settings).points
        with Inspector(clean) as inspector:
            self._expected = self._new(inspector)

    def fail(self, at: int, how: str) -> None:
        """Try, audit, and try again in the same process, with this failure in the first try."""
        place = self._ground.copy()
        # A connection that is lost while nobody waits for an answer is noticed by the call after it.
        between = (CLEAR, AUDIT) if how == FULL else (AUDIT, AUDIT)
        steps = (self._command, *between, self._command)
        outcome = self._workshop.run(place, *steps, at=at, how=how, settings=self._settings)
        assert outcome.exit_code == 0
        first, audit, second = outcome.answers[0], outcome.answers[-2], outcome.answers[-1]
        where = f"{how} {at} {self.points[at - 1]}: {outcome.answers}"
        assert (audit["answer"]["findings"], audit["answer"]["damage"]) == ([], []), where
        self._check_words(first, audit["answer"]["events"] > len(self._ground.log), second, where)
        self._check_result(place, where)

    def _check_words(
        self, first: dict[str, object], is_done: bool, second: dict[str, object], where: str
    ) -> None:
        told = str(first.get("refusal", "done"))
        self.told[told] += 1
        assert is_done or told != "done", where
        assert not (is_done and told in ("store.full", "store.unreadable", "store.unreachable")), where
        answer = second["answer"]
        assert isinstance(answer, dict), where
        if "op" in self._command[2]:
            assert answer.get("replayed", False) == is_done, where

    def _check_result(self, place: Place, where: str) -> None:
        with Inspector(place) as inspector:
            assert self._new(inspector) == self._expected, where

    def _new(self, inspector: Inspector) -> list[str]:
        return kinds(inspector.log()[len(self._ground.log) :])

    def report(self, name: str) -> str:
        told = ", ".join(f"{count} {words}" for words, count in sorted(self.told.items()))
        return f"{self._ground.place.engine} {name}: {self.told.total()} failures: {told}"


@pytest.mark.parametrize("name", NAMES)
def test_a_disk_that_fails_once_leaves_nothing_half_done(
    sqlite_ground: Ground, sqlite_workshop: Workshop, name: str, record_property: Tell
) -> None:
    trial = Trial(sqlite_ground, sqlite_workshop, name)
    assert {"write db-wal", "sync db-wal"} <= set(trial.points)
    if name in SETTINGS:
        assert {"write db", "sync db", "truncate db-wal"} <= set(trial.points)
    for at, point in enumerate(trial.points, start=1):
        if not point.startswith("unlock"):  # no disk refuses that
            trial.fail(at, FAILED)
    assert trial.told["store.failed"]
    assert trial.told["done"], "a checkpoint or a bell that fails is nobody's failure"
    assert trial.told.keys() <= {"store.failed", "store.unreadable", "done"}
    record_property("told", trial.report(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_is_called_full_and_works_when_there_is_room_again(
    sqlite_ground: Ground, sqlite_workshop: Workshop, name: str, record_property: Tell
) -> None:
    trial = Trial(sqlite_ground, sqlite_workshop, name)
    for at, point in enumerate(trial.points, start=1):
        if point.startswith("write"):
            trial.fail(at, FULL)
    assert trial.told["store.full"]
    assert trial.told.keys() == {"store.full", "done"}
    record_property("told", trial.report(name))


@pytest.mark.postgres
@pytest.mark.parametrize("name", NAMES)
def test_a_connection_that_is_lost_leaves_nothing_half_done(
    postgres_ground: Ground, postgres_workshop: Workshop, name: str, record_property: Tell
) -> None:
    trial = Trial(postgres_ground, postgres_workshop, name)
    # The first trip is the greeting of libpq itself, the last one the goodbye.
    for at in range(1, len(trial.points)):
        for how in (proxy.REFUSED, proxy.CUT):
            trial.fail(at, how)
    assert trial.told["store.failed"], "lost while writing: unknown"
    record_property("told", trial.report(name))
