"""Refusals about bringing a branch up to main. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import FINDINGS, NOT_ALLOWED, STALE, TIMED_OUT, USAGE, Refusal, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_MOST_FACTS = 200


def sync_main(main: str) -> Refusal:
    return Refusal(
        "sync.main",
        f"{shorten(main)} is the branch that work lands on; there is nothing to bring it up to.",
        next_="lineclear worktree list",
        exit_code=USAGE,
        main=shorten(main, 250),
    )


def sync_in_progress(step: str, path: str) -> Refusal:
    return Refusal(
        "sync.in_progress",
        f"{step[:1].upper()}{step[1:]} is in progress in {_place(path)}.",
        who="Finish it, or take it back with --abort; then sync.",
        next_="git status",
        exit_code=NOT_ALLOWED,
        step=step,
        path=shorten(path, 200),
    )


def sync_overlaps(files: Sequence[str], path: str, why: str) -> Refusal:
    return Refusal(
        "sync.overlaps",
        f"Work that is not committed is in the way: {_few(files)}.",
        who="Commit it or put it away first. Nothing was changed.",
        next_="git status --short",
        exit_code=NOT_ALLOWED,
        files=list(files[:_MOST_FACTS]),
        path=shorten(path, 200),
        why=shorten(why, 300),
    )


def sync_staged(files: Sequence[str]) -> Refusal:
    return Refusal(
        "sync.staged",
        f"Something is staged and not committed: {_few(files)}.",
        who="`git merge --abort` would throw it away, so no conflict is left here. Nothing was changed.",
        next_="git commit --message TEXT",
        exit_code=NOT_ALLOWED,
        files=list(files[:_MOST_FACTS]),
    )


def sync_conflicts(branch: str, main: str, conflicts: Sequence[dict[str, Any]]) -> Refusal:
    files = list(dict.fromkeys(conflict["path"] for conflict in conflicts))
    return Refusal(
        "sync.conflicts",
        f"{shorten(branch, 40)} and {shorten(main, 40)} do not fit in {_few(files)}.",
        who="Nothing was changed. The next command leaves the merge here, for you to resolve and commit.",
        next_="lineclear sync --keep-conflicts",
        exit_code=FINDINGS,
        branch=shorten(branch, 250),
        main=shorten(main, 250),
        conflicts=list(conflicts[:_MOST_FACTS]),
    )


def sync_case(name: str, other: str) -> Refusal:
    return Refusal(
        "sync.case",
        f"{shorten(name)} differs from {shorten(other)} only in case, and this disk ignores case.",
        who="One of them is on your branch, the other on main. Nothing was changed.",
        next_="git mv OLD NEW",
        exit_code=FINDINGS,
        name=shorten(name, 200),
        other=shorten(other, 200),
    )


def sync_blocked(why: str) -> Refusal:
    return Refusal(
        "sync.blocked",
        f"The branch cannot be moved now: {shorten(why, 160)}.",
        who="Nothing was changed.",
        next_="lineclear sync",
        exit_code=TIMED_OUT,
        why=shorten(why, 500),
    )


def sync_busy(waited_s: int) -> Refusal:
    return Refusal(
        "sync.busy",
        f"Another sync has been under way in this worktree for more than {waited_s} s.",
        next_="git status",
        exit_code=TIMED_OUT,
        waited_s=waited_s,
    )


def sync_moving(branch: str) -> Refusal:
    return Refusal(
        "sync.moving",
        f"{shorten(branch)} was moved by another process again and again while it was being merged.",
        who="Nothing was changed.",
        next_="git reflog --max-count 5",
        exit_code=STALE,
        branch=shorten(branch, 250),
    )


def _few(files: Sequence[str]) -> str:
    first = shorten(files[0], 60) if files else "some files"
    return first if len(files) < 2 else f"{first} and {len(files) - 1} more"


def _place(path: str) -> str:
    """The end of a path says more than its beginning."""
    shown = shorten(path, 4_000)
    return shown if len(shown) <= 80 else f"...{shown[-77:]}"
