"""Eight processes, one thing to win: exactly one wins, every time, and the log says so."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from lineclear.app.log import audit
from lineclear.core.log.tables import LOG
from tests import racers
from tests.engines import Place
from tests.racing import Racer, race
from tests.sampling import some
from tests.verbs import Desk

RACERS = 8
pytestmark = [pytest.mark.slow, pytest.mark.serial]


def run(place: Place, racer: Racer, rounds: int) -> tuple[list[int], Counter[str]]:
    """What was won in each round, after checking that each round had one winner; and all refusals."""
    results = race(place, racer, racers=RACERS, rounds=rounds)
    winners = Counter(round_ for won, _ in results for round_ in won)
    assert winners == dict.fromkeys(range(rounds), 1), "a round without winner, or with two"
    prizes = {round_: prize for won, _ in results for round_, prize in won.items()}
    return [prizes[round_] for round_ in range(rounds)], sum((lost for _, lost in results), Counter())


def count_events(place: Place, kind: str) -> int:
    """How many of this kind the log holds, after an audit of all of it."""
    store = place.open()
    try:
        found = audit(store)
        assert (found["findings"], found["missed"], store.check()) == ([], 0, [])
        return store.read(lambda view: sum(entry.kind == kind for entry in view.scan(LOG, "key")))
    finally:
        store.close()


def test_one_of_eight_gets_the_resource_in_each_round_and_fences_only_grow(place: Place) -> None:
    rounds = some(2_000)
    fences, refusals = run(place, racers.for_one_resource, rounds)
    assert all(earlier < later for earlier, later in pairwise(fences))
    assert refusals == {"claim.held": 7 * rounds}
    assert count_events(place, "ClaimGranted") == rounds


def test_one_of_eight_gets_the_task_in_each_of_300_rounds(place: Place) -> None:
    first = place.open()
    Desk(first, place.liveness()).add_task("boss", "task for round 0")
    first.close()
    taken, refusals = run(place, racers.for_one_task, 300)
    assert taken == list(range(1, 301))
    assert refusals == {"task.taken": 7 * 150, "task.none": 7 * 150}
    assert count_events(place, "TaskTaken") == 300


def test_one_of_eight_writes_on_a_version_in_each_of_300_rounds_and_the_others_are_stale(
    place: Place,
) -> None:
    versions, refusals = run(place, racers.for_one_version, 300)
    assert versions == list(range(1, 301))
    # "Only if it does not exist" is refused in its own words; both say: read again.
    assert refusals == {"value.exists 7": 7, "value.stale 7": 7 * 299}
    assert count_events(place, "ValuePut") == 300
