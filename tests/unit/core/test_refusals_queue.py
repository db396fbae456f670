"""The words of the queue's refusals, exactly, and how long they may become."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from lineclear.core import refusals_queue as words
from lineclear.core.refusals import Refusal

BEN = {"task": "T-9", "agent": "ben", "author": "Ben"}
# The function, its arguments, its code with the exit code, and the text.
TABLE: list[tuple[Callable[..., Refusal], tuple[Any, ...], str, str]] = [
    (
        words.candidate_unknown,
        ("Q-7",),
        "queue.unknown 5",
        "There is no candidate Q-7.\nNext: run `lineclear queue list --all`.",
    ),
    (
        words.candidate_ended,
        ("Q-7", "landed", "a review"),
        "queue.ended 4",
        "Q-7 is landed, so it is too late for a review.\nNext: run `lineclear queue show Q-7`.",
    ),
    (
        words.not_held,
        ("Q-7", "waiting"),
        "queue.not_held 4",
        "Q-7 is waiting; only what is held or needs you can be tried again.\n"
        "Next: run `lineclear queue show Q-7`.",
    ),
    (
        words.already_waits,
        ("ada/login", "Q-7", ""),
        "queue.twice 3",
        "ada/login waits already as Q-7, for no task.\nNext: run `lineclear queue show Q-7`.",
    ),
    (
        words.breaks_order,
        ("Q-8", "Q-7"),
        "queue.order 2",
        "Q-8 cannot come before Q-7: it builds on it.\nNext: run `lineclear queue show Q-8`.",
    ),
    (
        words.own_work,
        ("Q-7", "ada"),
        "queue.own 4",
        "Q-7 is the work of ada, who cannot approve it.\nAnother agent or a person has to look at it.\n"
        "Next: run `lineclear queue show Q-7`.",
    ),
    (
        words.changed_since,
        ("Q-7", "ada/login"),
        "queue.changed 4",
        "Q-7 has new commits since you looked at it.\nThey are on ada/login.\n"
        "Next: run `lineclear queue show Q-7`.",
    ),
    (
        words.queue_paused,
        ("sam", "release day"),
        "queue.paused 8",
        "The queue is paused; nothing lands.\nsam paused it: release day.\n"
        "Next: run `lineclear queue resume`.",
    ),
    (
        words.queue_runs_elsewhere,
        ("sam",),
        "queue.running 3",
        "Another process runs the queue already.\nIt is sam; what you submit is landed there.\n"
        "Next: run `lineclear queue list`.",
    ),
    (
        words.nothing_to_undo,
        ("ada",),
        "queue.nothing_to_undo 5",
        "Nothing that ada landed is left to be taken back.\nNext: run `lineclear queue list --all`.",
    ),
    (
        words.not_landed,
        ("Q-7", "waiting"),
        "queue.not_landed 5",
        "Q-7 is waiting, so there is no landing to take back.\nNext: run `lineclear queue show Q-7`.",
    ),
    (
        words.undone_already,
        ("Q-7", "Q-9"),
        "queue.undone 5",
        "Q-7 is taken back already, by Q-9\nNext: run `lineclear queue show Q-9`.",
    ),
    (
        words.undo_conflicts,
        (
            "Q-7",
            [
                {"path": "a.py", "kind": "content", "first_line": 3, "sides": {"left": [BEN], "right": []}},
                {"path": "b.py", "kind": "content"},
            ],
        ),
        "queue.undo_conflicts 6",
        "Q-7 cannot be taken back by itself: what landed since builds on it.\n"
        "a.py near line 3: content and 1 more; since then T-9 by ben.\nNext: run `git revert --help`.",
    ),
    (
        words.no_remote,
        ("origin",),
        "pr.remote 5",
        'There is no remote "origin" that a pull request could be opened on.\n'
        "Next: run `git remote --verbose`.",
    ),
    (
        words.tool_missing,
        ("gh", "origin"),
        "pr.tool 1",
        "A pull request on origin is opened through `gh`, which is not installed.\n"
        "Install it, or land the branch here.\nNext: run `lineclear land`.",
    ),
    (
        words.not_logged_in,
        ("glab", "No token found."),
        "pr.login 4",
        "`glab` is not logged in: No token found.\nNext: run `glab auth login`.",
    ),
    (
        words.push_refused,
        ("origin", "ada/login", "[rejected] (non-fast-forward)"),
        "pr.push 1",
        "origin does not take ada/login: [rejected] (non-fast-forward)\nNext: run `git fetch origin`.",
    ),
    (
        words.tool_failed,
        ("gh", "no such repository"),
        "pr.failed 1",
        "`gh` could not open it: no such repository\nThe branch is pushed; once more is harmless.\n"
        "Next: run `gh auth status`.",
    ),
]


@pytest.mark.parametrize(("make", "given", "code", "text"), TABLE, ids=[row[0].__name__ for row in TABLE])
def test_the_words_are_exactly_these(
    make: Callable[..., Refusal], given: tuple[Any, ...], code: str, text: str
) -> None:
    refusal = make(*given)
    assert f"{refusal.code} {refusal.exit_code}" == code
    assert str(refusal) == text


def test_what_main_no_longer_holds_needs_no_other_candidate_to_be_named() -> None:
    refusal = words.undone_already("Q-7", "")
    assert refusal.what == "Q-7 is taken back already; main holds nothing of it."
    assert refusal.next == "lineclear queue show Q-7"


def test_every_refusal_is_in_the_table() -> None:
    made = {
        function
        for _, function in inspect.getmembers(words, inspect.isfunction)
        if function.__module__ == words.__name__
    }
    assert made == {row[0] for row in TABLE}


HOSTILE = "/directory with spaces\n" * 90


@pytest.mark.parametrize(
    "refusal",
    [
        words.already_waits(HOSTILE, "Q-7", "T-1"),
        words.own_work("Q-7", HOSTILE),
        words.changed_since("Q-7", HOSTILE),
        words.queue_paused(HOSTILE, HOSTILE),
        words.queue_runs_elsewhere(HOSTILE),
        words.nothing_to_undo(HOSTILE),
        words.undo_conflicts("Q-7", [{"path": HOSTILE, "kind": "content"}] * 3),
        words.no_remote(HOSTILE),
        words.tool_missing("glab", HOSTILE),
        words.not_logged_in("glab", HOSTILE),
        words.push_refused(HOSTILE, HOSTILE, HOSTILE),
        words.tool_failed("glab", HOSTILE),
    ],
    ids=lambda refusal: refusal.code,
)
def test_somebodys_words_do_not_make_a_long_refusal(refusal: Refusal) -> None:
    assert len(str(refusal)) <= 300
