"""The words of refusals about runs, to the letter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lineclear.core import refusals_runs as words
from lineclear.core.refusals import HELD, NOT_FOUND, USAGE, Refusal

LONG = "x" * 5_000
MANY = [LONG] * 50

TABLE: list[tuple[Callable[..., Refusal], tuple[Any, ...], str, int, str]] = [
    (
        words.supervisor_running, (412, "2026-01-01T12:00:00Z", 3), "run.running", HELD,
        "A supervisor is at work here already; a second one would do the work twice.\n"
        "It is process 412, since 2026-01-01T12:00:00Z, with 3 agents. "
        "It takes new tasks as they are added.\n"
        "Next: run `lineclear run --join`.",
    ),
    (
        words.supervisor_running, (0, "", 0), "run.running", HELD,
        "A supervisor is at work here already; a second one would do the work twice.\n"
        "It has just begun. It takes new tasks as they are added.\n"
        "Next: run `lineclear run --join`.",
    ),
    (
        words.no_supervisor, (), "run.none", NOT_FOUND,
        "No supervisor is at work here.\nNext: run `lineclear run`.",
    ),
    (
        words.no_worker, (["claude", "codex"],), "run.no_worker", USAGE,
        "It is not said which client is to do the work.\n"
        "Installed: claude, codex. Workers can also be stated in lineclear.toml, [workers.NAME].\n"
        "Next: run `lineclear run --client claude`.",
    ),
    (
        words.no_worker, ([],), "run.no_worker", USAGE,
        "It is not said which client is to do the work.\n"
        "No known client was found on the PATH. "
        "Workers can also be stated in lineclear.toml, [workers.NAME].\n"
        "Next: run `lineclear run --client claude`.",
    ),
    (
        words.unknown_client, ("clod", ["claude", "codex"]), "run.client", USAGE,
        '"clod" is neither a client nor a worker of lineclear.toml.\n'
        "Clients: claude, codex.\n"
        "Next: run `lineclear run --help`.",
    ),
    (
        words.nothing_to_run, ([],), "run.nothing", NOT_FOUND,
        "There is no open task.\nNext: run `lineclear task add TITLE`.",
    ),
    (
        words.nothing_to_run, (["T-1: it needs gpu, and no worker has that"],), "run.nothing", NOT_FOUND,
        "No task can be started.\n"
        "T-1: it needs gpu, and no worker has that\n"
        "Next: run `lineclear task list`.",
    ),
    (
        words.not_running, ("codex-2",), "run.not_live", NOT_FOUND,
        "codex-2 is not at work: it has no run that could be stopped, paused or looked at.\n"
        "Next: run `lineclear`.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("make", "facts", "code", "exit_code", "text"), TABLE)
def test_the_words(
    make: Callable[..., Refusal], facts: tuple[Any, ...], code: str, exit_code: int, text: str
) -> None:
    refusal = make(*facts)
    assert (refusal.code, refusal.exit_code, str(refusal)) == (code, exit_code, text)


@pytest.mark.parametrize(
    "refusal",
    [
        words.supervisor_running(10**9, "2026-01-01T12:00:00Z", 200),
        words.unknown_client(LONG, MANY),
        words.nothing_to_run(MANY),
        words.not_running("/".join(["a" * 64] * 4)),
    ],
    ids=lambda refusal: refusal.code,
)
def test_they_stay_short_however_long_the_facts(refusal: Refusal) -> None:
    text = str(refusal)
    assert len(text.splitlines()) <= 3
    assert len(text) <= 300
