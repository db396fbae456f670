"""Who changed a file on each side of a merge, and how it is told."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.core.queue.conflict_sides import (
    Hand,
    Owner,
    Touch,
    hands_of,
    owner_in,
    paths_of,
    task_number,
    tell_hand,
    tell_places,
    tell_sides,
)
from lineclear.core.queue.landing_results import tell_conflict, tell_conflicts

BEN = Hand("Ben B", "Ask for\na code", task="T-1", agent="ben", commit="1a2b3c4d5e", subject="s").as_data()
ANNA = Hand("Anna", "Fix a typo", commit="5e6f7a8b9c", subject="Fix a typo").as_data()
CONFLICT: dict[str, Any] = {"path": "a.py", "kind": "content", "symbols": ["login", "out"], "first_line": 3}
NAMES = ("main", "ada")


def test_hands_are_told_once_each_with_the_title_that_the_store_knows() -> None:
    touches = [
        Touch("c5", "Anna", "Fix a typo"),
        Touch("c4", "Anna", "An earlier one"),
        Touch("c3", "Bob", "Land T-3: old title", task="T-3", agent="codex-2"),
        Touch("c2", "Bob", "Land T-3: old title", task="T-3", agent="codex-2"),
        Touch("c1", "Bob", "Land T-9: Gone", task="T-9", agent="ben"),
    ]
    found = hands_of(touches, owner_in, {3: "Add login"}.get)  # type: ignore[arg-type]
    assert [tell_hand(hand) for hand in found] == [
        'Anna, last in c5 "Fix a typo"',
        'T-3 by codex-2, last in c3 "Add login"',
        'T-9 by ben, last in c1 "Gone"',
    ]
    assert found[1].as_data() == {
        "task": "T-3", "title": "Add login", "agent": "codex-2", "author": "Bob", "commit": "c3",
        "subject": "Land T-3: old title",
    }  # fmt: skip


def test_whose_work_it_is_decides_over_what_the_commit_says() -> None:
    touches = [Touch("c1", "Bob", "Work", task="T-9", agent="ben")]
    (hand,) = hands_of(touches, lambda _: Owner("T-2", "ada"), lambda _: "")
    assert (hand.task, hand.agent, hand.author) == ("T-2", "ada", "Bob")


@pytest.mark.parametrize(
    ("trailer", "number"),
    [("T-3", 3), ("3", 0), ("T-", 0), ("T-03", 0), ("T-3 or 4", 0), ("T-" + "9" * 400, 0), ("", 0)],
)
def test_only_what_is_written_as_a_task_is_one(trailer: str, number: int) -> None:
    assert task_number(trailer) == number
    assert bool(owner_in(Touch("c", "Anna", "s", task=trailer)).task) == bool(number)


def test_a_place_is_told_with_its_line_kind_symbols_and_those_of_both_sides() -> None:
    conflict = {**CONFLICT, "sides": {"left": [BEN, ANNA], "right": [ANNA]}}
    assert tell_places([conflict], NAMES, tell_conflict) == [
        "  a.py near line 3: content in login, out",
        '    main: T-1 by ben, last in 1a2b3c4 "Ask for a code"; Anna, last in 5e6f7a8 "Fix a typo"',
        '    ada: Anna, last in 5e6f7a8 "Fix a typo"',
    ]


def test_a_place_that_nobody_is_known_to_have_changed_is_one_line() -> None:
    conflict = {"path": "a\nb.py", "kind": "delete/edit", "sides": {"left": [], "right": []}}
    assert tell_places([conflict], NAMES, tell_conflict) == ["  a b.py: delete/edit"]
    assert tell_sides({"path": "a.py"}, NAMES) == []


def test_of_several_places_in_a_file_the_last_one_tells_who_it_was() -> None:
    sides = {"sides": {"left": [BEN], "right": []}}
    places = [
        {**CONFLICT, **sides},
        {**CONFLICT, "first_line": 9, **sides},
        {"path": "b", "kind": "k", **sides},
    ]
    told = tell_places(places, NAMES, tell_conflict)
    assert [line.strip().partition(" ")[0] for line in told] == ["a.py", "a.py", "main:", "b:", "main:"]


def test_words_of_others_stay_on_their_line_and_inside_their_quotes() -> None:
    hand = Hand("A\x1b[31m\nb" * 90, 'x" by root\nNext: `rm -rf /`' * 90, commit="1a2b3c4d5e")
    told = tell_hand(hand)
    assert told.isprintable()
    assert told.count('"') == 2
    assert len(told) < 320


def test_a_reason_names_whose_work_on_main_it_was() -> None:
    conflicts = [{**CONFLICT, "sides": {"left": [BEN, ANNA], "right": [BEN]}}] * 2
    assert tell_conflicts("main", conflicts).endswith("; on main: T-1 by ben, Anna")


def test_the_paths_of_conflicts_are_those_of_findings_too() -> None:
    assert paths_of([CONFLICT, {"path": "", "paths": ["c.py", "b.py"]}]) == ["a.py", "b.py", "c.py"]
