"""The exact words about check trees, and how long they may become."""

from __future__ import annotations

import pytest

from lineclear.core.refusals import Refusal
from lineclear.core.refusals_checks import not_a_workplace, tree_failed


def test_a_tree_that_cannot_be_made_says_why() -> None:
    refusal = tree_failed("check-1", "No space left on device")
    assert str(refusal) == (
        "The check tree check-1 cannot be made ready.\n"
        'What was found: "No space left on device"\n'
        "Next: run `lineclear doctor`."
    )
    assert (refusal.code, refusal.exit_code) == ("checks.tree", 1)


def test_nobody_works_in_a_check_tree() -> None:
    refusal = not_a_workplace("/home/sam/shop.worktrees/.checks/check-1")
    assert str(refusal) == (
        "/home/sam/shop.worktrees/.checks/check-1 is a check tree, where nobody works.\n"
        "The queue brings it to another commit whenever it likes.\n"
        "Next: run `lineclear worktree list`."
    )
    assert (refusal.code, refusal.exit_code) == ("checks.not_a_workplace", 4)


@pytest.mark.parametrize("refusal", [tree_failed("n" * 500, "w\n" * 5_000), not_a_workplace("/p" * 4_000)])
def test_hostile_input_does_not_make_a_long_refusal(refusal: Refusal) -> None:
    assert len(str(refusal)) <= 300
    assert len(str(refusal).splitlines()) <= 3
