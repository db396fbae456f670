"""Trust by content: what is known, what has changed, and how the record is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.trust import (
    MAX_RECORDS,
    Stated,
    digest,
    is_at,
    judge,
    read_record,
    with_trust,
    write_record,
)

SETUP = Stated("worktrees.setup[0]", "npm ci")
GATE = Stated("checks.gate", "make check")


def states(stated: list[Stated], record: dict[str, str]) -> list[str]:
    return [one.state for one in judge(stated, record)]


def test_what_nobody_has_recorded_is_new() -> None:
    assert states([SETUP, GATE], {}) == ["new", "new"]


def test_what_was_recorded_is_known_until_a_letter_of_it_changes() -> None:
    record = with_trust({}, [SETUP, GATE])
    assert states([SETUP, GATE], record) == ["known", "known"]
    assert states([Stated(SETUP.where, "npm ci "), GATE], record) == ["changed", "known"]


def test_a_command_is_trusted_at_its_place_only() -> None:
    record = with_trust({}, [SETUP])
    assert states([Stated("checks.gate", SETUP.text)], record) == ["new"]
    assert states([Stated("worktrees.setup[1]", SETUP.text)], record) == ["new"]


def test_place_and_text_cannot_be_shifted_into_each_other() -> None:
    assert digest("a", "bc") != digest("ab", "c")


def test_an_earlier_text_stays_trusted_when_it_comes_back() -> None:
    record = with_trust(with_trust({}, [SETUP]), [Stated(SETUP.where, "npm install")])
    assert states([SETUP], record) == ["known"]


@pytest.mark.parametrize(
    ("where", "place", "is_inside"),
    [
        ("worktrees.setup[0]", "worktrees.setup[0]", True),
        ("worktrees.setup[0]", "worktrees.setup", True),
        ("worktrees.setup[0]", "worktrees", True),
        ("worktrees.setup[10]", "worktrees.setup[1]", False),
        ("workers.claude-2.command", "workers.claude", False),
        ("workers.claude.env.A", "workers.claude", True),
        ("checks.gate", "worktrees", False),
        ("checks.gate", "", False),
    ],
)
def test_a_place_holds_what_is_inside_it(where: str, place: str, is_inside: bool) -> None:
    assert is_at(where, [place]) is is_inside


def test_a_damaged_line_of_the_record_trusts_nothing_and_the_others_count() -> None:
    line = write_record(with_trust({}, [SETUP]))
    text = (
        f"{line[:40]}\n{GATE.digest.upper()}  checks.gate\nx{GATE.digest[1:]}  a\n\n{line}{GATE.digest}x  a"
    )
    assert read_record(text) == {SETUP.digest: SETUP.where}


def test_the_record_keeps_the_newest() -> None:
    many = [Stated(f"worktrees.setup[{number}]", "x") for number in range(MAX_RECORDS)]
    kept = read_record(write_record(with_trust(with_trust({}, [SETUP, *many]), [many[0]])))
    assert len(kept) == MAX_RECORDS
    assert SETUP.digest not in kept
    assert list(kept)[-1] == many[0].digest


@given(st.lists(st.tuples(st.text(max_size=9), st.text(max_size=9))))
def test_whatever_is_stated_is_known_once_it_is_recorded(pairs: list[tuple[str, str]]) -> None:
    stated = [Stated(f"workers.{number}", text) for number, (_, text) in enumerate(pairs)]
    record = read_record(write_record(with_trust({}, stated)))
    assert set(states(stated, record)) <= {"known"}
