"""The words of the refusals about the server and its door, exactly, and how long they may become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lineclear.core import refusals_serve
from lineclear.core.refusals import Refusal
from tests.wording import functions_of, hostile_text, said

STATUS = "Next: run `lineclear serve --status`."

# The function, its arguments, its code with the exit code, and the text.
TABLE: list[tuple[Callable[..., Refusal], tuple[Any, ...], str, str]] = [
    (
        refusals_serve.no_proof,
        (),
        "serve.proof 4",
        "Nobody comes in here without a token.\nIt belongs in the header `Authorization: Bearer TOKEN`.\n"
        "Next: run `lineclear token add NAME`.",
    ),
    (
        refusals_serve.wrong_host,
        ("evil.example:80",),
        "serve.host 4",
        'This server does not go by the name "evil.example:80".\n'
        f"A page of another site could otherwise reach it through your browser.\n{STATUS}",
    ),
    (
        refusals_serve.wrong_origin,
        ("http://evil.example",),
        "serve.origin 4",
        f'Pages of "http://evil.example" may not call this server.\n{STATUS}',
    ),
    (
        refusals_serve.body_too_large,
        (4 << 20,),
        "serve.body 2",
        f"The request is larger than 4 MiB.\n{STATUS}",
    ),
    (
        refusals_serve.bad_call,
        ("a hook is /hook/CLIENT/EVENT",),
        "serve.call 2",
        f"The server does not understand this call: a hook is /hook/CLIENT/EVENT.\n{STATUS}",
    ),
    (
        refusals_serve.elsewhere,
        ("/home/sam/other",),
        "serve.elsewhere 5",
        "/home/sam/other is not a worktree of this server's repository.\n"
        "Next: run `lineclear worktree list`.",
    ),
    (
        refusals_serve.already_served,
        ("http://127.0.0.1:4711", 42),
        "serve.running 3",
        "This repository is served already.\nProcess 42 serves it at http://127.0.0.1:4711.\n"
        "Next: run `lineclear serve --stop`.",
    ),
    (
        refusals_serve.not_served,
        (),
        "serve.absent 5",
        "No server runs for this repository.\nNext: run `lineclear serve`.",
    ),
    (
        refusals_serve.port_taken,
        ("127.0.0.1", 80, "Permission denied"),
        "serve.port 1",
        "The server cannot listen on 127.0.0.1 port 80: Permission denied.\n"
        "Next: run `lineclear serve --port 0`.",
    ),
    (
        refusals_serve.no_socket,
        ("it is not a directory of this user alone",),
        "serve.socket 1",
        "The server cannot make its socket: it is not a directory of this user alone.\n"
        "Next: run `lineclear doctor`.",
    ),
    (
        refusals_serve.does_not_stop,
        (42, 20),
        "serve.stuck 1",
        "The server was told to stop and still runs after 20 s.\n"
        "It is process 42; killing it loses nothing that was acknowledged.\nNext: run `kill -9 42`.",
    ),
    (
        refusals_serve.answer_lost,
        ("lineclear say hello --key own:1",),
        "serve.lost 1",
        "The server was lost before it answered; whether this was done is unknown.\n"
        "Next: run `lineclear say hello --key own:1`.",
    ),
    (
        refusals_serve.does_not_start,
        (20,),
        "serve.start 1",
        "The server was started and is not to be reached after 20 s.\nNext: run `lineclear serve`.",
    ),
]
FUNCTIONS = functions_of(refusals_serve)


@pytest.mark.parametrize(("function", "given", "code", "text"), TABLE, ids=[row[0].__name__ for row in TABLE])
def test_the_words_of_a_refusal(
    function: Callable[..., Refusal], given: tuple[Any, ...], code: str, text: str
) -> None:
    assert said(function(*given)) == (code, text)


def test_every_refusal_stands_in_the_table() -> None:
    assert set(FUNCTIONS) == {function.__name__ for function, *_ in TABLE}


def test_a_server_that_is_just_starting_is_not_named() -> None:
    assert "Another process is just starting." in str(refusals_serve.already_served("", 0))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_hostile_input_does_not_make_a_long_refusal(name: str) -> None:
    numbers = {"limit": 1 << 40, "pid": 10**9, "port": 65535, "seconds": 10**6}
    text = hostile_text(FUNCTIONS[name], numbers)
    assert len(text) <= 300
    assert len(text.splitlines()) <= 3
