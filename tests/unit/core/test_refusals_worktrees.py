"""The words of the refusals about worktrees, exactly, and how long they may become."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from lineclear.core import refusals_worktrees as words
from lineclear.core.refusals import Refusal

MIB = 1 << 20

# The function, its arguments, its code with the exit code, and the text.
TABLE: list[tuple[Callable[..., Refusal], tuple[Any, ...], str, str]] = [
    (
        words.worktree_exists,
        ("ada", "/srv/shop.worktrees/ada"),
        "worktree.exists 3",
        'There is a worktree "ada" already.\nIt is at /srv/shop.worktrees/ada.\n'
        "Next: run `lineclear worktree list`.",
    ),
    (
        words.worktree_busy,
        ("ada",),
        "worktree.busy 3",
        'The worktree "ada" is being made or removed.\nA live process is at it and will be done soon.\n'
        "Next: run `lineclear worktree list`.",
    ),
    (
        words.branch_in_use,
        ("main", "/srv/shop"),
        "worktree.branch_in_use 3",
        "The branch main is checked out already.\nIt is in the worktree /srv/shop.\n"
        "Next: run `lineclear worktree list`.",
    ),
    (
        words.branch_exists,
        ("feat/x",),
        "worktree.branch_exists 4",
        "The branch feat/x is there already, so it cannot begin at another commit.\n"
        "Without --base the worktree gets the branch as it is.\n"
        "Next: run `lineclear worktree add --branch feat/x`.",
    ),
    (
        words.branch_blocked,
        ("lineclear/ada", "lineclear"),
        "worktree.branch_blocked 4",
        "The branch lineclear/ada cannot be made.\n"
        "Git keeps branches like files, and there is lineclear already.\n"
        "Next: run `git branch --list`.",
    ),
    (
        words.differs_in_case,
        ("worktree", "Ada", "ada"),
        "worktree.case 4",
        'The worktree "Ada" differs from "ada" only in case.\n'
        "On a disk that ignores case the two would be one.\nNext: run `lineclear worktree list`.",
    ),
    (
        words.bad_place,
        ("/srv/shop/x", "it is inside the worktree main"),
        "worktree.place 4",
        "/srv/shop/x is no place for a worktree.\n"
        "It is inside the worktree main, where git or an agent would take it for content.\n"
        "Next: run `lineclear worktree add --help`.",
    ),
    (
        words.place_taken,
        ("/srv/x",),
        "worktree.place_taken 3",
        "/srv/x is there already and is not an empty directory.\n"
        "Next: run `lineclear worktree add NAME --path PATH`.",
    ),
    (
        words.no_first_commit,
        ("/srv/shop",),
        "worktree.unborn 5",
        "/srv/shop has no commit yet, so no worktree can begin.\n"
        "Next: run `git commit --allow-empty -m 'first commit'`.",
    ),
    (
        words.base_unknown,
        ("mian",),
        "worktree.base 5",
        'There is no commit "mian" to begin from.\nNext: run `git branch --all`.',
    ),
    (
        words.worktree_dirty,
        ("ada", "/w/ada", 2),
        "worktree.dirty 4",
        'The worktree "ada" holds work that is in no commit and no snapshot.\n2 files are changed or new.\n'
        "Next: run `git -C /w/ada status`.",
    ),
    (
        words.worktree_unmerged,
        ("ada", "/w/ada", 1),
        "worktree.unmerged 4",
        'The worktree "ada" holds 1 commit that no branch has.\n'
        "Removing it would leave them to git's garbage collection.\n"
        "Next: run `git -C /w/ada switch -c BRANCH`.",
    ),
    (
        words.worktree_locked,
        ("feat", "/w/feat", "claude agent"),
        "worktree.locked 3",
        'The worktree "feat" is locked in git.\nThe reason given is "claude agent".\n'
        "Next: run `git worktree unlock /w/feat`.",
    ),
    (
        words.worktree_not_yours,
        ("ada", "ada"),
        "worktree.not_yours 4",
        'The worktree "ada" is not yours.\nada works in it.\nNext: run `lineclear worktree list`.',
    ),
    (
        words.worktree_in_use,
        ("ada", "ada"),
        "worktree.in_use 3",
        'The worktree "ada" is in use.\nA run of ada is at work in it.\nNext: run `lineclear stop ada`.',
    ),
    (
        words.worktree_main,
        ("remove",),
        "worktree.main 4",
        "The main worktree is not ours to remove.\nIt is the one with the repository's .git directory.\n"
        "Next: run `lineclear worktree list`.",
    ),
    (
        words.worktree_failed,
        ("ada", "could not\ncreate it"),
        "worktree.git 1",
        'Git could not do it for the worktree "ada".\nIt said: could not create it\n'
        "Next: run `lineclear doctor`.",
    ),
    (
        words.lfs_missing,
        ("/srv/shop",),
        "worktree.lfs 1",
        "/srv/shop keeps files in Git LFS, and git-lfs does not run here.\n"
        "Git's settings demand it, so nothing was checked out.\nNext: run `git lfs install`.",
    ),
    (
        words.no_ports,
        (10, 42_000, 42_099),
        "worktree.ports 1",
        "No 10 consecutive ports are free between 42000 and 42099.\n"
        "Other worktrees have them, or programs listen there; see [worktrees] ports_from and ports_to.\n"
        "Next: run `lineclear worktree list`.",
    ),
    (
        words.no_room,
        (8, 4_000 * MIB, 3_000 * MIB, 1_024 * MIB),
        "worktree.disk 1",
        "There is no room on the disk for 8 more worktrees.\n"
        "Needed: 4,000 MiB; free: 3,000 MiB, of which 1,024 MiB stays free ([worktrees] disk_reserve).\n"
        "Next: run `lineclear worktree list`.",
    ),
    (
        words.not_provisioned,
        ("cache/x", "No space left on device"),
        "worktree.copy 1",
        "cache/x could not be brought into the worktree, which was removed again.\n"
        "No space left on device\nNext: run `lineclear config show`.",
    ),
    (
        words.setup_failed,
        ("npm ci", "ended with 1", "one\nnpm: no lock file\n"),
        "worktree.setup 1",
        "The set-up command `npm ci` ended with 1; the worktree was removed again.\n"
        "Last words: npm: no lock file\nNext: run `lineclear config show`.",
    ),
    (
        words.no_sandbox,
        ("bwrap is not installed.",),
        "sandbox.missing 1",
        "The settings ask for a sandbox, and bubblewrap does not work here.\nbwrap is not installed.\n"
        "Next: run `apt-get install bubblewrap`.",
    ),
    (
        words.bad_writable,
        ("/var/cache/x", "it is not there"),
        "sandbox.path 2",
        "/var/cache/x cannot be made writable inside the sandbox: it is not there.\n"
        "[worktrees] writable lists such paths.\nNext: run `lineclear config show`.",
    ),
]

LONG_PATH = "/" + "/".join(["directory with spaces"] * 90) + "/it's"
HUGE = 10**15
HOSTILE: dict[str, Any] = {
    "agent": "/".join(["a" * 64] * 4),
    "base": "x" * 5_000,
    "branch": "b" * 200,
    "command": "c" * 2_000,
    "count": HUGE,
    "error": "e\n" * 5_000,
    "first": HUGE,
    "free": HUGE,
    "how": "was not done in time",
    "kind": "worktree",
    "last": HUGE,
    "name": "n" * 200,
    "needed": HUGE,
    "other": "o" * 200,
    "path": LONG_PATH,
    "reserve": HUGE,
    "tail": "t" * 16_000,
    "what": "remove",
    "why": "w" * 500,
}


def refusing() -> dict[str, Callable[..., Refusal]]:
    return {
        name: function
        for name, function in inspect.getmembers(words, inspect.isfunction)
        if function.__module__ == words.__name__ and not name.startswith("_")
    }


@pytest.mark.parametrize(("function", "arguments", "code", "text"), TABLE)
def test_what_is_said(
    function: Callable[..., Refusal], arguments: tuple[Any, ...], code: str, text: str
) -> None:
    refusal = function(*arguments)
    assert (f"{refusal.code} {refusal.exit_code}", str(refusal)) == (code, text)


def test_every_refusal_stands_in_the_table() -> None:
    assert set(refusing()) == {function.__name__ for function, *_ in TABLE}


@pytest.mark.parametrize("name", sorted(refusing()))
def test_hostile_input_does_not_make_a_long_refusal(name: str) -> None:
    given = HOSTILE | ({"why": "it is not there"} if name == "bad_writable" else {})
    function = refusing()[name]
    text = str(function(*(given[parameter] for parameter in inspect.signature(function).parameters)))
    assert len(text) <= 300
    assert len(text.splitlines()) <= 3
