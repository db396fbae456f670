"""The order of landing: what others need first, and where nothing else decides, what changes before what uses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.log.tables import Candidate
from lineclear.core.queue.order import in_order


def candidate(number: int, *, priority: int = 5, rank: int = 0, after: str = "") -> Candidate:
    return Candidate(
        number, f"b{number}", "tip", "base", "", 0, 0, priority, rank, after, "waiting", "", "", "", "", "", "",
        number, number, 0,
    )  # fmt: skip


def ids(rows: list[Candidate]) -> list[int]:
    return [row.id for row in rows]


def test_the_oldest_lands_first_unless_something_else_decides() -> None:
    assert ids(in_order([candidate(2), candidate(1), candidate(3, priority=1)])) == [3, 1, 2]


def test_the_changed_signature_lands_before_the_call() -> None:
    assert ids(in_order([candidate(1), candidate(2), candidate(3)], [(3, 1)])) == [2, 3, 1]
    assert ids(in_order([candidate(1), candidate(2), candidate(3)], [(3, 2), (2, 1)])) == [3, 2, 1]


def test_priority_a_persons_order_and_dependencies_count_more() -> None:
    assert ids(in_order([candidate(1, priority=1), candidate(2)], [(2, 1)])) == [1, 2]
    assert ids(in_order([candidate(1, rank=1), candidate(2, rank=2)], [(2, 1)])) == [1, 2]
    assert ids(in_order([candidate(1), candidate(2, after="1")], [(2, 1)])) == [1, 2]


def test_on_a_circle_age_decides() -> None:
    assert ids(in_order([candidate(1), candidate(2)], [(2, 1), (1, 2)])) == [1, 2]
    assert ids(in_order([candidate(1), candidate(2), candidate(3)], [(3, 2), (2, 3), (2, 1)])) == [2, 1, 3]
    assert ids(in_order([candidate(1)], [(1, 1)])) == [1]


def test_a_pair_with_a_candidate_that_is_not_here_does_not_count() -> None:
    assert ids(in_order([candidate(1), candidate(2)], [(7, 1), (1, 8)])) == [1, 2]


@given(st.lists(st.integers(1, 2), max_size=6), st.sets(st.tuples(st.integers(1, 7), st.integers(1, 7))))
def test_every_candidate_lands_once_and_by_priority(
    priorities: list[int], pairs: set[tuple[int, int]]
) -> None:
    rows = [candidate(number, priority=priority) for number, priority in enumerate(priorities, 1)]
    order = in_order(rows, pairs)
    assert sorted(ids(order)) == ids(rows)
    assert [row.priority for row in order] == sorted(priorities)
    assert order == in_order(reversed(rows), sorted(pairs))
