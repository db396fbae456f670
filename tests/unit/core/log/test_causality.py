"""Happened-before: what its actor had been told of, and nothing else, decides."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.log.causality import AFTER, BEFORE, CONCURRENT, SAME, happened_before, relation
from lineclear.core.log.events import Event


def event(position: int, actor: str, seen: int) -> Event:
    return Event(position, 0, actor, "TaskNoted", "T-1", seen, "", {})


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # One actor's acts are in order, whatever it had been told.
        (event(3, "ann", 0), event(5, "ann", 0), BEFORE),
        (event(5, "ann", 0), event(3, "ann", 0), AFTER),
        (event(3, "ann", 0), event(3, "ann", 0), SAME),
        # Another's act is before ours when it had been delivered to us, up to and with its position.
        (event(3, "ann", 0), event(5, "bob", 3), BEFORE),
        (event(3, "ann", 0), event(5, "bob", 4), BEFORE),
        (event(5, "bob", 4), event(3, "ann", 0), AFTER),
        # Two that read one position and both write are concurrent, whichever was appended first.
        (event(3, "ann", 2), event(5, "bob", 2), CONCURRENT),
        (event(5, "bob", 2), event(3, "ann", 2), CONCURRENT),
        (event(3, "ann", 0), event(5, "bob", 0), CONCURRENT),
    ],
)
def test_the_relation_of_two_events(first: Event, second: Event, expected: str) -> None:
    assert relation(first, second) == expected


@st.composite
def logs(draw: st.DrawFn) -> list[Event]:
    """Logs as engines write them: positions grow, nobody forgets, nobody has seen what is not yet written."""
    seen = dict.fromkeys("abc", 0)
    log: list[Event] = []
    for position in range(1, draw(st.integers(2, 9)) + 1):
        actor = draw(st.sampled_from("abc"))
        seen[actor] = draw(st.integers(seen[actor], position - 1))
        log.append(event(position, actor, seen[actor]))
    return log


@given(logs())
def test_before_is_transitive_and_never_runs_backwards(log: list[Event]) -> None:
    for first, second in itertools.product(log, repeat=2):
        if happened_before(first, second):
            assert first.position < second.position
            assert relation(first, second) == BEFORE
            assert relation(second, first) == AFTER
    for first, second, third in itertools.product(log, repeat=3):
        if happened_before(first, second) and happened_before(second, third):
            assert happened_before(first, third)


@given(logs())
def test_every_two_events_have_exactly_one_relation(log: list[Event]) -> None:
    mirrored = {BEFORE: AFTER, AFTER: BEFORE, CONCURRENT: CONCURRENT, SAME: SAME}
    for first, second in itertools.product(log, repeat=2):
        assert relation(second, first) == mirrored[relation(first, second)]
        assert (relation(first, second) == SAME) == (first is second)


@given(logs())
def test_what_was_delivered_stands_for_everything_before_it(log: list[Event]) -> None:
    """The relation is the one that arrows give: own acts in order, and all up to the delivered position."""
    arrows = {
        (first.position, second.position)
        for first, second in itertools.product(log, repeat=2)
        if (first.actor == second.actor and first.position < second.position) or first.position <= second.seen
    }
    for middle in log:
        for first, third in itertools.product(log, repeat=2):
            if {(first.position, middle.position), (middle.position, third.position)} <= arrows:
                assert (first.position, third.position) in arrows
    assert arrows == {
        (first.position, second.position)
        for first, second in itertools.product(log, repeat=2)
        if relation(first, second) == BEFORE
    }
