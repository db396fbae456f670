"""The words of the refusals about tokens, exactly, and that none of them repeats a secret."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lineclear.core import refusals_tokens as words
from lineclear.core.refusals import Refusal
from tests.wording import functions_of, said

AT = "2026-01-01T12:00:00Z"

# The function, its arguments, its code with the exit code, and the text.
TABLE: list[tuple[Callable[..., Refusal], tuple[Any, ...], str, str]] = [
    (
        words.token_unknown,
        (),
        "token.unknown 4",
        "This token is not known here.\n"
        "It was changed, is another repository's, or that of a run that is over; a person can make one.\n"
        "Next: run `lineclear token add NAME`.",
    ),
    (
        words.token_revoked,
        ("ada", "agent", "sam", AT),
        "token.revoked 4",
        "This token of the agent ada is revoked.\n"
        "sam revoked it at 2026-01-01T12:00:00Z; a person can make a new one.\n"
        "Next: run `lineclear token add ada`.",
    ),
    (
        words.token_expired,
        ("kim", "person", AT),
        "token.expired 4",
        "This token of the person kim has expired.\n"
        "It was good until 2026-01-01T12:00:00Z; a person can make a new one.\n"
        "Next: run `lineclear token add kim --person`.",
    ),
    (
        words.token_of_another,
        ("ada", "ben"),
        "token.other 4",
        "You cannot act as ben with this token.\n"
        "It is the agent ada's, good for that name and for its sub-agents only.\n"
        "Next: run `lineclear --as ada`.",
    ),
    (
        words.token_name_taken,
        ("sam", "person"),
        "token.name 4",
        "There can be no token of the name sam for an agent.\n"
        "A person has that name here, and nobody acts under another's.\n"
        "Next: run `lineclear token list`.",
    ),
    (
        words.token_name_taken,
        ("ada", "agent"),
        "token.name 4",
        "There can be no token of the name ada for a person.\n"
        "An agent has that name here, and nobody acts under another's.\n"
        "Next: run `lineclear token list`.",
    ),
    (
        words.token_none,
        ("ada",),
        "token.none 5",
        'No token has the id "ada", and nobody of that name has one.\nNext: run `lineclear token list`.',
    ),
]


@pytest.mark.parametrize(("function", "arguments", "code", "text"), TABLE)
def test_what_is_said(
    function: Callable[..., Refusal], arguments: tuple[Any, ...], code: str, text: str
) -> None:
    assert said(function(*arguments)) == (code, text)


def test_every_refusal_is_in_the_table() -> None:
    assert set(functions_of(words).values()) == {row[0] for row in TABLE}


def test_what_may_be_a_token_with_a_slip_is_not_repeated() -> None:
    refusal = words.token_none("lc_0123abcdef_" + "s" * 42)
    assert "sss" not in f"{refusal} {refusal.as_data()}"


LONG = "/".join(["n" * 64] * 4)


@pytest.mark.parametrize(
    "refusal",
    [
        words.token_revoked(LONG, "agent", LONG, AT),
        words.token_expired(LONG, "agent", AT),
        words.token_of_another(LONG, LONG),
        words.token_name_taken(LONG, "person"),
        words.token_none("x y\n" * 900),
    ],
    ids=lambda refusal: refusal.code,
)
def test_long_names_do_not_make_a_long_refusal(refusal: Refusal) -> None:
    assert len(str(refusal)) <= 300
    assert len(str(refusal).splitlines()) <= 3
