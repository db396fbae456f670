"""The words of the refusals about set-up and the gate, exactly, and how long they may become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lineclear.core import refusals_gate, refusals_setup
from lineclear.core.refusals import Refusal
from tests.wording import functions_of, hostile_text, said

SETTINGS = ".claude/settings.local.json"

# The function, its arguments, its code with the exit code, and the text.
TABLE: list[tuple[Callable[..., Refusal], tuple[Any, ...], str, str]] = [
    (
        refusals_gate.foreign_tree,
        ("ada", "codex-2"),
        "gate.foreign_tree 4",
        "The worktree ada is not yours to commit in.\nIt belongs to codex-2.\n"
        "Next: run `lineclear worktree list`.",
    ),
    (
        refusals_gate.cannot_ask,
        ("file:logo.png", "locked"),
        "gate.unreachable 4",
        "file:logo.png is locked, and the shared store cannot be asked whose it is.\n"
        "Nobody changes it until the store is back. Go on with your other files.\n"
        "Next: run `lineclear doctor`.",
    ),
    (
        refusals_gate.main_is_landed,
        ("main",),
        "gate.main 4",
        "main is moved by landing only; your work goes on a branch of your own.\nNext: run `lineclear land`.",
    ),
    (
        refusals_gate.ref_is_ours,
        ("refs/lineclear/snapshots/ada",),
        "gate.ref 4",
        "refs/lineclear/snapshots/ada is kept by lineclear and not moved by hand.\n"
        "Next: run `lineclear salvage list`.",
    ),
    (
        refusals_setup.client_unknown,
        ("clade", ["claude", "git"]),
        "setup.unknown 5",
        'There is no set-up for "clade".\nThere is one for claude, git.\nNext: run `lineclear setup --list`.',
    ),
    (
        refusals_setup.settings_unusable,
        (SETTINGS, "it stops being JSON at line 3, column 7"),
        "setup.unusable 4",
        f"{SETTINGS} cannot be edited safely: it stops being JSON at line 3, column 7.\n"
        f"Nothing was changed.\nNext: run `less {SETTINGS}`.",
    ),
    (
        refusals_setup.settings_moved,
        (SETTINGS, "claude"),
        "setup.moved 7",
        f"{SETTINGS} was changed by somebody else just now.\nNext: run `lineclear setup claude`.",
    ),
    (
        refusals_setup.not_written,
        (SETTINGS, "Permission denied"),
        "setup.not_written 1",
        f"{SETTINGS} cannot be written: Permission denied.\nNext: run `ls -ld {SETTINGS}`.",
    ),
    (
        refusals_setup.mcp_missing,
        (),
        "setup.mcp 1",
        "The packages for `lineclear mcp` are not installed.\nNext: run `pip install 'mcp>=2.3,<3'`.",
    ),
]
FUNCTIONS = functions_of(refusals_gate, refusals_setup)


@pytest.mark.parametrize(("function", "given", "code", "text"), TABLE, ids=[row[0].__name__ for row in TABLE])
def test_the_words_of_a_refusal(
    function: Callable[..., Refusal], given: tuple[Any, ...], code: str, text: str
) -> None:
    assert said(function(*given)) == (code, text)


def test_every_refusal_stands_in_the_table() -> None:
    assert set(FUNCTIONS) == {function.__name__ for function, *_ in TABLE}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_hostile_input_does_not_make_a_long_refusal(name: str) -> None:
    text = hostile_text(FUNCTIONS[name], {"known": ["x" * 60] * 50})
    assert len(text) <= 300
    assert len(text.splitlines()) <= 3
