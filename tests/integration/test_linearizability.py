"""Whatever six processes are answered at once could have been answered one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineclear.app import tasks
from lineclear.app.log import audit
from lineclear.app.ports import Caller
from lineclear.core.task_import import TaskDraft
from tests.engines import Place, new_sqlite
from tests.histories import FILES, KEYS, QUEUE, recorder
from tests.linearizability import (
    ABSENT,
    FREE,
    NEVER,
    Operation,
    by_target,
    fenced_lock,
    is_linearizable,
    versioned_register,
    work_queue,
)
from tests.racing import race

RACERS, STEPS, TASKS = 6, 60, 60
SEEDS_TO_CONVICT = 30


def record(place: Place, seed: int, *, is_careless: bool = False) -> list[Operation]:
    """A history on a store with tasks enough for some and not for all."""
    store = place.open()
    drafts = [TaskDraft(str(n), f"task {n}") for n in range(1, TASKS + 1)]
    tasks.import_all(store, Caller("starter"), drafts)
    store.close()
    told: list[Any] = race(place, recorder, racers=RACERS, rounds=STEPS, extra=(seed, is_careless))
    return [operation for history in told for operation in history]


def wrong_targets(history: list[Operation]) -> list[str]:
    parts = by_target(history)
    numbers = frozenset(f"T-{n}" for n in range(1, TASKS + 1))
    wrong = [key for key in KEYS if not is_linearizable(parts.get(key, []), ABSENT, versioned_register)]
    wrong += [text for text in FILES if not is_linearizable(parts.get(text, []), FREE, fenced_lock)]
    wrong += [] if is_linearizable(parts.get(QUEUE, []), numbers, work_queue) else [QUEUE]
    return wrong


@pytest.mark.parametrize("seed", range(3))
def test_six_processes_are_answered_as_if_one_after_the_other(place: Place, seed: int) -> None:
    history = record(place, seed)
    assert len(history) == RACERS * STEPS
    assert wrong_targets(history) == []
    store = place.open()
    assert audit(store)["findings"] == []
    store.close()


def test_a_worker_that_checks_and_then_acts_is_convicted(tmp_path: Path) -> None:
    """The proof that the checker and these histories can fail."""
    for seed in range(SEEDS_TO_CONVICT):
        (tmp_path / str(seed)).mkdir()
        if wrong_targets(record(new_sqlite(tmp_path / str(seed)), seed, is_careless=True)):
            return
    pytest.fail(f"no planted bug was found in {SEEDS_TO_CONVICT} histories")


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
