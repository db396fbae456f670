"""Which versions of git are new enough."""

from __future__ import annotations

import pytest

from lineclear.core.git_versions import is_new_enough, require_git
from lineclear.core.words.refusals import Refusal


@pytest.mark.parametrize(
    ("said", "is_new"),
    [
        ("git version 2.37.7", False),
        ("git version 1.99", False),
        ("git version 2.38.0", True),
        ("git version 2.39.5 (Apple Git-154)", True),
        ("git version 3.0.rc1", True),
        ("git version next", True),
        ("git", True),
    ],
)
def test_git_is_new_enough_from_2_38_on(said: str, is_new: bool) -> None:
    assert is_new_enough(said) == is_new


def test_no_git_at_all_is_refused_too() -> None:
    with pytest.raises(Refusal, match="no git was found"):
        require_git("")
