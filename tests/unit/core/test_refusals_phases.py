"""The words of refusals around phases, exactly, and how long they may become."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from lineclear.core import refusals_phases as words
from lineclear.core.refusals import Refusal

FILE = "file:migrations/0005_users.sql"

# The function, its arguments, its code with the exit code, and the text.
TABLE: list[tuple[Callable[..., Refusal], tuple[Any, ...], str, str]] = [
    (
        words.other_phase,
        (FILE, "integrate", "parallel", ""),
        "write.phase 4",
        "file:migrations/0005_users.sql is not written in the phase parallel.\n"
        "It is written by the integrator once a person begins the phase integrate; until then it is "
        "proposed.\n"
        "Next: run `lineclear propose file:migrations/0005_users.sql --file PATH`.",
    ),
    (
        words.other_phase,
        ("value:schema", "test", "integrate", ""),
        "write.phase 4",
        "value:schema is not written in the phase integrate.\n"
        "It is written once a person begins the phase test; until then it is proposed.\n"
        "Next: run `lineclear propose value:schema JSON`.",
    ),
    (
        words.only_integrated,
        (FILE,),
        "write.integrated 4",
        "file:migrations/0005_users.sql is being integrated and not yours to write.\n"
        "The integrator writes it, until a person ends the phase integrate.\n"
        "Next: run `lineclear propose file:migrations/0005_users.sql --file PATH`.",
    ),
    (
        words.phase_not_next,
        ("parallel", "test", "integrate"),
        "phase.order 2",
        "test does not follow parallel.\n"
        "The order is parallel, integrate, test; back to parallel from anywhere.\n"
        "Next: run `lineclear phase integrate`.",
    ),
    (
        words.not_integrated,
        (3, 2),
        "phase.unfinished 3",
        "Integration is not done: 3 proposals are undecided.\n"
        "2 of them in the queue.\n"
        "Next: run `lineclear queue run --once`.",
    ),
    (
        words.not_integrated,
        (1, 0),
        "phase.unfinished 3",
        "Integration is not done: 1 proposal is undecided.\n"
        "Their owners decide, or a person.\n"
        "Next: run `lineclear proposal list`.",
    ),
    (
        words.phase_busy,
        (),
        "phase.busy 3",
        "Another process is at work on this phase already.\nNext: run `lineclear phase`.",
    ),
    (
        words.no_full_check,
        (),
        "phase.no_check 2",
        "There is no command that runs all tests, so there is nothing to do in the phase test.\n"
        "lineclear.toml on main states none as checks.full.\n"
        "Next: run `lineclear config show`.",
    ),
    (
        words.full_check_unsettled,
        ("0a1b2c3d4e5f60718293", "a part was called off"),
        "phase.unsettled 6",
        "All tests could not be run on 0a1b2c3d4e5f: a part was called off.\n"
        "Next: run `lineclear phase test`.",
    ),
    (
        words.not_a_file,
        ("file:migrations/",),
        "proposal.not_a_file 2",
        "file:migrations/ is not one file, so no content can be proposed for it.\n"
        "Next: run `lineclear propose --help`.",
    ),
    (
        words.nothing_proposed,
        ("file:a.md", "it is what main has already"),
        "proposal.nothing 2",
        "Nothing is proposed for file:a.md: it is what main has already.\n"
        "Next: run `lineclear propose --help`.",
    ),
]


@pytest.mark.parametrize(
    ("make", "given", "code", "text"), TABLE, ids=[f"{row[0].__name__}-{at}" for at, row in enumerate(TABLE)]
)
def test_the_words_are_exactly_these(
    make: Callable[..., Refusal], given: tuple[Any, ...], code: str, text: str
) -> None:
    refusal = make(*given)
    assert f"{refusal.code} {refusal.exit_code}" == code
    assert str(refusal) == text


def test_every_refusal_is_in_the_table() -> None:
    made = {
        function
        for name, function in inspect.getmembers(words, inspect.isfunction)
        if function.__module__ == words.__name__ and not name.startswith("_")
    }
    assert made == {row[0] for row in TABLE}


LONG = "file:directory with spaces\n/" * 90


@pytest.mark.parametrize(
    "refusal",
    [
        words.other_phase(LONG, "integrate", "parallel", "/".join(["a" * 64] * 4)),
        words.only_integrated(LONG),
        words.full_check_unsettled("a" * 64, LONG),
        words.not_a_file(LONG),
        words.nothing_proposed(LONG, LONG),
    ],
    ids=lambda refusal: refusal.code,
)
def test_somebodys_words_do_not_make_a_long_refusal(refusal: Refusal) -> None:
    assert len(str(refusal)) <= 300
    assert str(refusal).count("\n") <= 2
