"""The words of refusals about snapshots, salvage and looking at somebody's work."""

from __future__ import annotations

import pytest

from lineclear.core import refusals_snapshots as words
from lineclear.core.refusals import Refusal

LONG = "/very" + "/long one" * 100
AGENT = "/".join(["a" * 64] * 4)


@pytest.mark.parametrize(
    ("refusal", "code", "text"),
    [
        (
            words.worktree_gone("/w"),
            "snapshot.no_worktree 5",
            "There is no worktree at /w to take a snapshot of.\n"
            "What was saved of it before is still there.\n"
            "Next: run `lineclear salvage list`.",
        ),
        (
            words.snapshot_failed("/w", "No space left on device"),
            "snapshot.failed 1",
            "No snapshot of /w: No space left on device\n"
            "Its files and the snapshots before are as they were.\n"
            "Next: run `lineclear doctor`.",
        ),
        (
            words.snapshot_busy("/w"),
            "snapshot.busy 3",
            "Another process is taking a snapshot of /w and is not done yet.\n"
            "Next: run `lineclear salvage list`.",
        ),
        (
            words.no_snapshot("ada/9"),
            "snapshot.none 5",
            "There is no snapshot ada/9 here.\nNext: run `lineclear salvage list`.",
        ),
        (
            words.restored_exists("rescue", "ada/9"),
            "snapshot.branch_exists 3",
            "The branch rescue exists; a restored snapshot gets a branch of its own.\n"
            "Next: run `lineclear salvage restore ada/9`.",
        ),
        (
            words.restored_misnamed("a b", "ada/9"),
            "snapshot.branch_name 2",
            "a b is not a name that git takes for a branch.\nNext: run `lineclear salvage restore ada/9`.",
        ),
        (
            words.patch_exists("work.patch", "ada/9"),
            "snapshot.patch_exists 3",
            "work.patch exists and is not written over.\n"
            "Next: run `lineclear salvage restore ada/9 --patch work.patch.new`.",
        ),
        (
            words.patch_unwritable("work.patch", "Permission denied"),
            "snapshot.patch_unwritable 1",
            "work.patch could not be written: Permission denied.\n"
            "Next: run `lineclear salvage restore --help`.",
        ),
        (
            words.no_work("ada"),
            "look.nothing 5",
            "No agent, task or worktree ada has work of its own to look at.\nNext: run `lineclear`.",
        ),
        (
            words.no_editor(),
            "look.no_editor 2",
            "Neither $VISUAL nor $EDITOR says which editor to open.\nNext: run `export EDITOR=vi`.",
        ),
        (
            words.cannot_start("code", "No such file or directory"),
            "look.cannot_start 1",
            "code could not be started: No such file or directory.\nNext: run `lineclear open --help`.",
        ),
    ],
)
def test_what_is_said(refusal: Refusal, code: str, text: str) -> None:
    assert (f"{refusal.code} {refusal.exit_code}", str(refusal)) == (code, text)


@pytest.mark.parametrize(
    "refusal",
    [
        words.worktree_gone(LONG),
        words.snapshot_failed(LONG, LONG),
        words.snapshot_busy(LONG),
        words.no_snapshot(LONG),
        words.restored_exists(LONG, f"{AGENT}/1"),
        words.restored_misnamed(LONG, f"{AGENT}/1"),
        words.patch_exists(LONG, f"{AGENT}/1"),
        words.patch_unwritable(LONG, LONG),
        words.no_work(LONG),
        words.cannot_start(LONG, LONG),
    ],
)
def test_long_names_do_not_make_long_refusals(refusal: Refusal) -> None:
    assert len(str(refusal)) <= 300
    assert len(str(refusal).splitlines()) <= 3
    assert len(str(refusal.as_data())) <= 2_000
