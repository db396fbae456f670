"""The words of a landing: its commit's message, its authors, its conflicts, and who moved main."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.core.queue.landing_results import (
    Author,
    authors_of,
    conflicts_of,
    find_stray,
    folded_twins,
    marked_agent,
    message,
    strayed_prefix,
    tell_conflicts,
)

ANN, BEN = Author("Ann", "ann@x"), Author("Ben", "ben@x")


def test_a_message_carries_task_agent_and_co_authors() -> None:
    text = message(task="T-3", title="Login form", branch="b", agent="claude-1", co_authors=[BEN])
    assert text == "Land T-3: Login form\n\nTask: T-3\nAgent: claude-1\nCo-authored-by: Ben <ben@x>\n"


def test_without_a_task_the_branch_is_named() -> None:
    assert message(task="", title="", branch="topic", agent="", co_authors=[]) == "Land topic\n"


def test_somebodys_words_cannot_add_trailers() -> None:
    title = "x\n\nCo-authored-by: Eve <eve@x>\x1b[31m"
    text = message(task="T-3", title=title, branch="", agent="a", co_authors=[])
    assert text.split("\n")[0] == "Land T-3: x Co-authored-by: Eve <eve@x> [31m"
    assert text.count("\n") == 4


def test_a_long_title_is_cut() -> None:
    subject = message(task="T-3", title="x" * 200, branch="", agent="", co_authors=[]).split("\n")[0]
    assert len(subject) == 72
    assert subject.endswith("...")


def test_the_last_author_is_the_author_and_the_others_are_named_once() -> None:
    again = Author("Ann B.", "ANN@x")
    assert authors_of([again, BEN, ANN, BEN]) == (again, [BEN])
    assert authors_of([]) == (None, [])


REPORT: dict[str, Any] = {
    "files": [
        {"path": "fine.py", "clean": True, "conflicts": []},
        {
            "path": "a.py",
            "clean": False,
            "conflicts": [{"kind": "both changed", "first_line": 3, "last_line": 9, "symbols": ["f"]}],
        },
        {"path": "b.bin", "clean": False, "conflicts": [{"kind": "not text"}]},
    ],
    "findings": [{"kind": "routes", "paths": ["urls.py"], "text": "/login is there twice"}],
}


def test_every_open_place_of_a_report_is_a_conflict() -> None:
    found = conflicts_of(REPORT)
    assert [(conflict["path"], conflict["kind"]) for conflict in found] == [
        ("a.py", "both changed"),
        ("b.bin", "not text"),
        ("urls.py", "routes"),
    ]


def test_conflicts_are_told_in_one_sentence() -> None:
    assert tell_conflicts("main", conflicts_of(REPORT)) == (
        "it conflicts with the current main: a.py near line 3: both changed in f; b.bin: not text; "
        "urls.py: /login is there twice"
    )


def test_many_conflicts_are_counted_and_bounded() -> None:
    many = [{"path": "p" * 300 + str(place), "kind": "both changed"} for place in range(9)]
    assert len(tell_conflicts("main", many)) == 900
    assert tell_conflicts("main", [{"path": "p", "kind": "k"}] * 9).endswith("and 4 more")


@pytest.mark.parametrize(
    ("words", "agent"),
    [
        ("lineclear:claude-1: Fast-forward", "claude-1"),
        ("lineclear:claude-1", "claude-1"),
        ("lineclear:claude-1/sub.2: updating HEAD", "claude-1/sub.2"),
        ("lineclear: land side", ""),
        ("commit: lineclear:claude-1: x", ""),
        ("commit: words", ""),
        ("", ""),
    ],
)
def test_a_mark_says_whose_git_it_was(words: str, agent: str) -> None:
    assert marked_agent(words) == agent


def stray(*moves: tuple[str, str, str]) -> tuple[str, str, str] | None:
    found = find_stray(moves, lambda _old, _new, words: marked_agent(words))
    return (found.agent, found.old, found.new) if found else None


def test_the_newest_moves_of_one_agent_are_one_stray() -> None:
    mine = "lineclear:a: x"
    assert stray(("3", "4", mine), ("2", "3", mine), ("1", "2", "commit: x")) == ("a", "2", "4")
    assert stray(("3", "4", mine), ("2", "3", "lineclear:b: x")) == ("a", "3", "4")


def test_what_a_person_or_a_landing_has_moved_since_is_no_stray() -> None:
    mine = "lineclear:a: x"
    assert stray(("3", "4", "commit: x"), ("2", "3", mine)) is None
    assert stray(("3", "4", "lineclear: land b"), ("2", "3", mine)) is None
    assert stray(("", "1", mine)) is None
    assert stray() is None


def test_names_become_refs_that_git_takes() -> None:
    assert strayed_prefix("claude-1") == "refs/lineclear/strayed/claude-1/"
    assert strayed_prefix("a/b..c.") == "refs/lineclear/strayed/a+b==c=/"


def test_names_that_differ_only_in_case_are_twins_when_one_is_new() -> None:
    assert folded_twins(["A", "a", "b"], ["a"]) == [("A", "a")]
    assert folded_twins(["A", "a"], ["A"]) == [("a", "A")]
    assert folded_twins(["A", "a"], []) == []
