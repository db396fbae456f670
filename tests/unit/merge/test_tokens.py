"""Edits of both sides inside the same lines."""

from __future__ import annotations

from lineclear.merge.diff import Steps
from lineclear.merge.tokens import merge_tokens

BASE = "(is_open(shop)\n    ? settle_the_open_till\n    : settle_till)(till, accounts)"


def merged(left: str, right: str) -> str | None:
    return merge_tokens(BASE, left, right, Steps(10_000))


def test_edits_of_two_parts_are_both_made() -> None:
    left, right = BASE.replace("accounts", "accounts, days"), BASE.replace("is_open", "is_counted")
    assert merged(left, right) == left.replace("is_open", "is_counted")


def test_what_is_added_to_one_call_of_which_the_other_side_made_two_is_not_guessed() -> None:
    left = BASE.replace("accounts", "accounts, days")
    right = (
        "is_open(shop)\n    ? settle_the_open_till(till, stock, accounts)\n    : settle_till(till, accounts)"
    )
    assert merged(left, right) is None
    assert merged(right, left) is None
