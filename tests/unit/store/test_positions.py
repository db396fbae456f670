"""Stand-ins for positions: found wherever they end up, compared only where the answer is certain."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.events import Event
from lineclear.core.tables import Value
from lineclear.store.postgres.positions import NeedsLock, Window

FLOOR, HEAD = 40, 45


@pytest.fixture
def window() -> Window:
    return Window(FLOOR)


def test_a_stand_in_is_settled_wherever_it_is(window: Window) -> None:
    position = window.at(1)
    kept: dict[str, Any] = {
        "number": position,
        "text": f"see {position}.",
        "json": json.dumps({"fence": position}),
        "nested": [(position, {position: position + 1}), {position}],
        "row": Value("k", 1, "{}", 0, "ann", position),
        "other": [1, 10**18, "text", None, True, 1.5],
    }
    settled = window.settled(kept, HEAD)
    assert settled["number"] == 46
    assert type(settled["number"]) is int
    assert settled["text"] == "see 46."
    assert settled["json"] == '{"fence": 46}'
    assert settled["nested"] == [(46, {46: 47}), {46}]
    assert settled["row"].position == 46
    assert settled["other"] == kept["other"]


def test_an_event_is_settled_with_its_body(window: Window) -> None:
    event = Event(
        window.at(2), 1, "ann", "WaitEnded", f"wait:{window.at(1)}", 0, "", {"ticket": window.at(1)}
    )
    settled = window.settled(event, HEAD)
    assert (settled.position, settled.subject, settled.body) == (47, "wait:46", {"ticket": 46})


def test_the_stand_ins_of_a_text_are_listed_by_their_distance_from_the_head(window: Window) -> None:
    text = json.dumps([window.at(3), window.at(0), f"{window.at(3)}{window.at(-2)}", 12])
    assert window.offsets_in(text) == [-2, 0, 3]
    assert window.is_in(text)
    assert window.offsets_in("nothing 123") == []


def test_two_windows_have_nothing_in_common() -> None:
    one, two = Window(FLOOR), Window(FLOOR)
    assert two.settled(one.at(1), HEAD) == int(one.at(1))


def test_an_instant_is_never_taken_for_a_stand_in(window: Window) -> None:
    year_2100_ns, far_future_ns = 4_102_444_800 * 10**9, 1 << 62
    assert int(window.at(-4_000)) > far_future_ns > year_2100_ns
    assert int(window.at(4_000)) < 2**63


CERTAIN: list[tuple[str, Callable[[int], object], object]] = [
    ("above what the head had reached", lambda position: position > FLOOR, True),
    ("not below it", lambda position: position < FLOOR, False),
    ("at least the least it can be", lambda position: position >= FLOOR + 1, True),
    ("not the head of before", lambda position: position == FLOOR, False),
    ("other than the head of before", lambda position: position != FLOOR, True),
    ("the other way round", lambda position: position > FLOOR, True),
    ("never at most a known one", lambda position: position <= FLOOR, False),
    ("nothing that is no number", lambda position: position in {None: 0}, False),
    ("true", bool, True),
]


@pytest.mark.parametrize(("words", "question", "answer"), CERTAIN, ids=[words for words, _, _ in CERTAIN])
def test_what_is_certain_is_answered(
    window: Window, words: str, question: Callable[[int], object], answer: object
) -> None:
    assert question(window.at(1)) == answer


UNCERTAIN: list[tuple[str, Callable[[int], object]]] = [
    ("more than the least it can be", lambda position: position > FLOOR + 1),
    ("equal to the least it can be", lambda position: position == FLOOR + 1),
    ("at most that", lambda position: position <= FLOOR + 1),
    ("less than a later one", lambda position: position < FLOOR + 2),
    ("a product", lambda position: position * 2),
    ("a quotient", lambda position: position // 2),
    ("a remainder", lambda position: position % 2),
    ("the opposite", lambda position: -position),
    ("bits", lambda position: position & 1),
    ("a sum of two", lambda position: position + position),
    ("far away", lambda position: position + 10_000),
    ("padded", lambda position: f"{position:>8}"),
    ("a difference from a number", lambda position: 100 - position),
]


@pytest.mark.parametrize(("words", "question"), UNCERTAIN, ids=[words for words, _ in UNCERTAIN])
def test_what_only_the_true_number_can_tell_asks_for_the_lock(
    window: Window, words: str, question: Callable[[int], object]
) -> None:
    with pytest.raises(NeedsLock):
        question(window.at(1))


def test_stand_ins_of_one_window_are_compared_among_themselves(window: Window) -> None:
    first, second = window.at(1), window.at(2)
    assert first < second
    assert second - first == 1
    assert second - 1 == first
    assert sorted([second, first]) == [first, second]
    assert {first: "x"}[window.at(1)] == "x"


@given(
    floor=st.integers(0, 1_000),
    growth=st.integers(0, 5),
    offset=st.integers(-3, 3),
    other=st.integers(-5, 1_010),
    operator=st.sampled_from(["__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"]),
)
def test_an_answer_is_the_one_that_the_true_number_gives(
    floor: int, growth: int, offset: int, other: int, operator: str
) -> None:
    true = floor + growth + offset
    try:
        answer = getattr(Window(floor).at(offset), operator)(other)
    except NeedsLock:
        return
    assert answer == getattr(true, operator)(other)
