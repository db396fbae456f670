"""The order of merged entries, and what is never decided."""

from __future__ import annotations

import pytest

from lineclear.merge.handlers.keyed import RivalChanges, merge_order


def order(base: str, left: str, right: str, *, is_ordered: bool = False) -> str:
    sides = base.split(), left.split(), right.split()
    old, ours, theirs = (set(side) for side in sides)
    kept = ((ours | theirs) - old) | (old & ours & theirs)
    return " ".join(merge_order(*sides, kept, is_ordered=is_ordered))


@pytest.mark.parametrize(
    ("base", "left", "right", "merged"),
    [
        ("m z", "m x z", "m y z", "m x y z"),
        ("m z", "m y z", "m x z", "m y x z"),
        ("a b y z", "a b d y z", "a b c y z", "a b c d y z"),
        ("m z", "x m z", "m z y", "x m z y"),
        ("m z", "z m", "m x z", "z m x"),
        ("a b c", "a c", "a b", "a"),
        ("a b c", "b c", "a b x c", "b x c"),
        ("", "a b", "c", "a b c"),
        ("1 2 3", "1 2 3 5", "1 2 3 4", "1 2 3 4 5"),
        ("3 2 1", "4 3 2 1", "5 3 2 1", "5 4 3 2 1"),
    ],
)
def test_each_side_keeps_its_order(base: str, left: str, right: str, merged: str) -> None:
    assert order(base, left, right) == merged


def test_three_neighbours_are_too_few_to_call_a_list_sorted() -> None:
    assert order("b d", "b x d", "b c d") == "b x c d"


@pytest.mark.parametrize(
    ("base", "left", "right"),
    [
        ("a b c", "b a c", "a c b"),
        ("a", "a x y", "a y x"),
    ],
)
def test_two_orders_are_not_decided(base: str, left: str, right: str) -> None:
    with pytest.raises(RivalChanges):
        order(base, left, right)


def test_a_list_whose_order_counts_takes_additions_at_one_place_from_one_side_only() -> None:
    assert order("a b", "x a b", "a b y", is_ordered=True) == "x a b y"
    with pytest.raises(RivalChanges):
        order("a b", "a x b", "a y b", is_ordered=True)
