"""The words of the refusals that a hook gives, exactly, and how long they may become."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from lineclear.core import refusals_hooks as words
from lineclear.core.refusals import Refusal

# The function, its arguments, its code with the exit code, and the text.
TABLE: list[tuple[Callable[..., Refusal], tuple[Any, ...], str, str]] = [
    (
        words.unclaimed_lock,
        ("file:logo.svg",),
        "hook.locked 3",
        "file:logo.svg is locked: only one agent at a time may change it.\nNobody holds it now.\n"
        "Next: run `lineclear claim file:logo.svg --mode exclusive`.",
    ),
    (
        words.foreign_worktree,
        ("src/a.py", "ada", "ada", "/srv/shop.worktrees/bob"),
        "hook.foreign_worktree 4",
        "src/a.py is in another agent's worktree.\n"
        "It belongs to ada. Change your own copy, in /srv/shop.worktrees/bob.\n"
        "Next: run `lineclear worktree list`.",
    ),
    (
        words.unread_content,
        ("src/a.py", "ada"),
        "hook.unread 7",
        "src/a.py holds content that you have not read; writing all of it would destroy that.\n"
        "ada wrote it last. Re-read it, then write again.\nNext: run `cat src/a.py`.",
    ),
    (
        words.hook_failed,
        ("OSError",),
        "hook.failed 1",
        "lineclear could not judge this edit, and this repository asks to stop then.\n"
        "It failed with OSError; `on_error` in lineclear.toml says what happens.\n"
        "Next: run `lineclear doctor`.",
    ),
]


@pytest.mark.parametrize(("make", "given", "code", "text"), TABLE, ids=[row[0].__name__ for row in TABLE])
def test_the_words_are_exactly_these(
    make: Callable[..., Refusal], given: tuple[Any, ...], code: str, text: str
) -> None:
    refusal = make(*given)
    assert f"{refusal.code} {refusal.exit_code}" == code
    assert str(refusal) == text


def test_every_refusal_is_in_the_table() -> None:
    made = {
        function
        for _, function in inspect.getmembers(words, inspect.isfunction)
        if function.__module__ == words.__name__
    }
    assert made == {row[0] for row in TABLE}


@pytest.mark.parametrize("make", [row[0] for row in TABLE])
def test_hostile_input_does_not_make_a_long_refusal(make: Callable[..., Refusal]) -> None:
    text = str(make(*["/directory with spaces" * 90] * len(inspect.signature(make).parameters)))
    assert len(text) <= 300
    assert len(text.splitlines()) <= 3
