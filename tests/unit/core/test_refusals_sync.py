"""The words of refusals about bringing a branch up to main."""

from __future__ import annotations

import inspect

import pytest

from lineclear.core import refusals_sync as words
from lineclear.core.refusals import Refusal

LONG = "src/" + "directory with spaces/" * 90 + "it's.py"
CONFLICT = {"path": "src/login.py", "kind": "content"}

TABLE = [
    (
        words.sync_main("main"),
        "sync.main 2",
        "main is the branch that work lands on; there is nothing to bring it up to.\n"
        "Next: run `lineclear worktree list`.",
    ),
    (
        words.sync_in_progress("a merge", "/srv/shop.worktrees/ada"),
        "sync.in_progress 4",
        "A merge is in progress in /srv/shop.worktrees/ada.\n"
        "Finish it, or take it back with --abort; then sync.\n"
        "Next: run `git status`.",
    ),
    (
        words.sync_overlaps(["a.txt", "b.txt"], "/w", "uncommitted changes overlap"),
        "sync.overlaps 4",
        "Work that is not committed is in the way: a.txt and 1 more.\n"
        "Commit it or put it away first. Nothing was changed.\n"
        "Next: run `git status --short`.",
    ),
    (
        words.sync_staged(["a.txt"]),
        "sync.staged 4",
        "Something is staged and not committed: a.txt.\n"
        "`git merge --abort` would throw it away, so no conflict is left here. Nothing was changed.\n"
        "Next: run `git commit --message TEXT`.",
    ),
    (
        words.sync_conflicts("ada", "main", [CONFLICT, CONFLICT, {"path": "b.txt", "kind": "content"}]),
        "sync.conflicts 6",
        "ada and main do not fit in src/login.py and 1 more.\n"
        "Nothing was changed. The next command leaves the merge here, for you to resolve and commit.\n"
        "Next: run `lineclear sync --keep-conflicts`.",
    ),
    (
        words.sync_case("Login.py", "login.py"),
        "sync.case 6",
        "Login.py differs from login.py only in case, and this disk ignores case.\n"
        "One of them is on your branch, the other on main. Nothing was changed.\n"
        "Next: run `git mv OLD NEW`.",
    ),
    (
        words.sync_blocked("another git is at work in /w"),
        "sync.blocked 8",
        "The branch cannot be moved now: another git is at work in /w.\n"
        "Nothing was changed.\n"
        "Next: run `lineclear sync`.",
    ),
    (
        words.sync_busy(60),
        "sync.busy 8",
        "Another sync has been under way in this worktree for more than 60 s.\nNext: run `git status`.",
    ),
    (
        words.sync_moving("ada"),
        "sync.moving 7",
        "ada was moved by another process again and again while it was being merged.\n"
        "Nothing was changed.\n"
        "Next: run `git reflog --max-count 5`.",
    ),
]


@pytest.mark.parametrize(("refusal", "code", "text"), TABLE)
def test_what_is_said(refusal: Refusal, code: str, text: str) -> None:
    assert (f"{refusal.code} {refusal.exit_code}", str(refusal)) == (code, text)


def test_every_refusal_stands_in_the_table() -> None:
    made = [name for name, _ in inspect.getmembers(words, inspect.isfunction) if name.startswith("sync_")]
    assert sorted(name.replace("_", ".", 1) for name in made) == sorted(row[0].code for row in TABLE)


@pytest.mark.parametrize(
    "refusal",
    [
        words.sync_main("b" * 250),
        words.sync_in_progress("a cherry-pick", "/" + LONG),
        words.sync_overlaps([LONG] * 900, "/" + LONG, "w" * 900),
        words.sync_staged([LONG] * 900),
        words.sync_conflicts("b" * 250, "b" * 250, [{"path": LONG, "kind": "content"}] * 900),
        words.sync_case(LONG, LONG),
        words.sync_blocked("w" * 900),
        words.sync_busy(86_400),
        words.sync_moving("b" * 250),
    ],
    ids=lambda refusal: refusal.code,
)
def test_hostile_input_does_not_make_a_long_refusal(refusal: Refusal) -> None:
    assert len(str(refusal)) <= 300
    assert len(str(refusal).splitlines()) <= 3
    assert len(str(refusal.as_data())) < 1_000_000


def test_the_conflicts_are_there_as_data() -> None:
    refusal = words.sync_conflicts("ada", "main", [CONFLICT])
    assert refusal.as_data()["conflicts"] == [CONFLICT]
