"""Which lines are edits of one another."""

from __future__ import annotations

import pytest

from lineclear.merge.diff import Steps
from lineclear.merge.exact import one_holds_the_other
from lineclear.merge.likeness import is_edit_of


@pytest.mark.parametrize(
    ("old", "new", "is_edit"),
    [
        ("    x = f(a)\n", "    x = f(a, b)\n", True),
        ("    x = f(a)\n", "        x = f(a)\n", False),
        ("    x = f(a)\n", "    y = g(b)\n", False),
        ("}\n", "}\n", False),
        ("\n", "\n", False),
    ],
    ids=["more words", "deeper", "other words", "only signs", "blank"],
)
def test_most_words_in_common_at_one_depth(old: str, new: str, is_edit: bool) -> None:
    assert is_edit_of(old, new) is is_edit


def test_a_line_raised_by_one_side_and_dropped_by_the_other_is_not_more() -> None:
    base = 'first = "1.0"\nsecond = "1.0"\nthird = "1.0"\n'
    raised = base.replace("1.0", "2.0")
    dropped = raised.replace('second = "2.0"\n', "")
    assert one_holds_the_other(base, raised, dropped, Steps(10_000)) is None
    assert one_holds_the_other(base, dropped, raised, Steps(10_000)) is None
