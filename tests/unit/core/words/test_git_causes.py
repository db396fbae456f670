"""Which line of git's error output is shown."""

from __future__ import annotations

import pytest

from lineclear.core.words.computed.queue import cause_of, git_failed

REMOTE = (
    "fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\n"
)
GONE = "fatal: '/srv/shop.git' does not appear to be a git repository\n"
END = "and the repository exists.\n"


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (GONE + REMOTE + END, "'/srv/shop.git' does not appear to be a git repository"),
        (
            "git@host: Permission denied (publickey).\n" + REMOTE + END,
            "git@host: Permission denied (publickey).",
        ),
        (REMOTE + END, "Could not read from remote repository."),
        ("warning: slow\nerror: cannot lock ref 'x'\nhint: try again\n", "cannot lock ref 'x'"),
        ("something\nelse\n", "else"),
        ("\n", "it gave no reason"),
    ],
)
def test_the_line_that_names_the_cause_is_shown(words: str, cause: str) -> None:
    assert cause_of(words) == cause
    assert f"git fetch failed: {cause}" in str(git_failed("fetch", words))
