"""Whatever six processes are answered at once could have been answered one after the other.

And the other way round: planted bugs are convicted by the same check.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineclear.app.log import audit
from tests.engines import Place, new_sqlite
from tests.histories import LOCK, QUEUE, RACERS, REGISTER, Plan, read_histories, recorder
from tests.linearizability import (
    ABSENT,
    EMPTY,
    FREE,
    NEVER,
    Operation,
    by_target,
    fenced_lock,
    is_linearizable,
    leased_queue,
    versioned_register,
)
from tests.mutants import MUTANTS
from tests.racing import race

STEPS, SEEDS, SEEDS_WITH_DEATHS = 24, 30, 12
MODELS: dict[str, Any] = {
    LOCK: (FREE, fenced_lock), REGISTER: (ABSENT, versioned_register), QUEUE: (EMPTY, leased_queue),
}  # fmt: skip
Tell = Callable[[str, object], None]
pytestmark = pytest.mark.slow


def record(place: Place, directory: Path, seeds: int, **how: Any) -> dict[int, list[Operation]]:
    directory.mkdir()
    race(place, recorder, racers=RACERS, rounds=seeds, extra=Plan(place, str(directory), STEPS, **how))
    return read_histories(directory)


def wrong_targets(history: list[Operation]) -> list[str]:
    return [
        target
        for target, part in by_target(history).items()
        if not is_linearizable(part, *MODELS[target.partition(" ")[0]])
    ]


def expect_clean_audit(place: Place) -> None:
    store = place.open()
    assert audit(store)["findings"] == []
    store.close()


@pytest.mark.serial
def test_six_processes_are_answered_as_if_one_after_the_other(
    place: Place, tmp_path: Path, record_property: Tell
) -> None:
    histories = record(place, tmp_path / "history", SEEDS)
    assert len(histories) == SEEDS
    assert [wrong_targets(history) for history in histories.values()] == [[]] * SEEDS
    expect_clean_audit(place)
    count = sum(map(len, histories.values()))
    record_property("told", f"{place.engine}: {count} operations in {SEEDS} histories are linearizable")


@pytest.mark.serial
def test_also_when_one_of_them_dies_and_nobody_knows_what_it_did(
    place: Place, tmp_path: Path, record_property: Tell
) -> None:
    histories = record(place, tmp_path / "history", SEEDS_WITH_DEATHS, has_deaths=True)
    assert [wrong_targets(history) for history in histories.values()] == [[]] * SEEDS_WITH_DEATHS
    unknown = [sum(operation.is_unknown for operation in history) for history in histories.values()]
    assert unknown == [1] * SEEDS_WITH_DEATHS
    expect_clean_audit(place)
    record_property("told", f"{place.engine}: {SEEDS_WITH_DEATHS} histories with a death are linearizable")


@pytest.mark.serial
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_bug_is_convicted(tmp_path: Path, mutant: str, record_property: Tell) -> None:
    """The proof that the checker and these histories can fail."""
    histories = record(new_sqlite(tmp_path), tmp_path / "history", SEEDS, mutant=mutant)
    # A task that breaks while it is added has no number that a model could know: the others are enough.
    parts = [[each for each in history if each.target != QUEUE] for history in histories.values()]
    convicted = [wrong_targets(part) for part in parts]
    kinds = sorted({target.partition(" ")[0] for targets in convicted for target in targets})
    guilty = sum(map(bool, convicted))
    assert guilty, f"no planted bug was found in {SEEDS} histories"
    record_property("told", f"{mutant}: convicted in {guilty} of {SEEDS} histories ({', '.join(kinds)})")


def put(agent: str, expected: int, answer: int | None, called: int, returned: int) -> Operation:
    return Operation("x", "put", agent, (expected, 7), answer, called, returned)


def get(answer: tuple[int, int | None], called: int, returned: int) -> Operation:
    return Operation("x", "get", "c", None, answer, called, returned)


@pytest.mark.parametrize(
    ("history", "is_right"),
    [
        ([put("a", 0, 1, 0, 5), put("b", 0, None, 1, 6)], True),
        ([put("a", 0, 1, 0, 5), put("b", 0, 1, 1, 6)], False),  # both wrote version 1
        ([put("a", 0, 1, 0, 5), get((0, None), 6, 7)], False),  # read after the write, and did not see it
        ([put("a", 0, 1, 0, 5), get((0, None), 4, 7)], True),
        ([put("a", 0, 1, 0, NEVER), get((0, None), 6, 7)], True),  # unknown: not yet, or never
        ([put("a", 0, 1, 0, NEVER), get((1, 7), 6, 7)], True),
        ([get((1, 7), 0, 1), put("a", 0, 1, 2, NEVER)], False),  # seen before it was asked for
    ],
)
def test_the_checker_knows_right_from_wrong(history: list[Operation], is_right: bool) -> None:
    assert is_linearizable(history, ABSENT, versioned_register) is is_right
