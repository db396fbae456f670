"""The words of the refusals about the server as a service, exactly, and how long they may become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lineclear.core import refusals_service
from lineclear.core.refusals import Refusal
from tests.wording import functions_of, hostile_text, said

UNIT = "/home/sam/.config/systemd/user/lineclear-shop-1a2b3c4d.service"

# The function, its arguments, its code with the exit code, and the text.
TABLE: list[tuple[Callable[..., Refusal], tuple[Any, ...], str, str]] = [
    (
        refusals_service.no_manager,
        (),
        "service.none 1",
        "Nothing here could keep the server running: neither systemctl nor launchctl was found.\n"
        "Nothing was written.\nNext: run `lineclear serve --detach`.",
    ),
    (
        refusals_service.not_started,
        (UNIT, "Failed to connect to bus", "systemctl --user enable --now lineclear-shop-1a2b3c4d.service"),
        "service.not_started 1",
        "The service is written, but it could not be started: Failed to connect to bus.\n"
        f"It is in {UNIT}.\n"
        "Next: run `systemctl --user enable --now lineclear-shop-1a2b3c4d.service`.",
    ),
    (
        refusals_service.unusable_place,
        ("/home/sam/two\nlines",),
        "service.place 1",
        "/home/sam/two\ufffdlines cannot be named in a service: it holds a line break or bytes that are no "
        "text.\nNext: run `lineclear serve --detach`.",
    ),
    (
        refusals_service.foreign,
        ("/home/sam/a.service",),
        "service.foreign 4",
        "/home/sam/a.service was not written by lineclear and is left as it is.\n"
        "Next: run `less /home/sam/a.service`.",
    ),
]
FUNCTIONS = functions_of(refusals_service)


@pytest.mark.parametrize(("function", "given", "code", "text"), TABLE, ids=[row[0].__name__ for row in TABLE])
def test_the_words_of_a_refusal(
    function: Callable[..., Refusal], given: tuple[Any, ...], code: str, text: str
) -> None:
    assert said(function(*given)) == (code, text)


def test_every_refusal_stands_in_the_table() -> None:
    assert set(FUNCTIONS) == {function.__name__ for function, *_ in TABLE}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_hostile_input_does_not_make_a_long_refusal(name: str) -> None:
    text = hostile_text(FUNCTIONS[name], {})
    assert len(text) <= 300
    assert len(text.splitlines()) <= 3
