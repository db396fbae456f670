"""Refusals about files for agents: lock files of others, the managed block. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import HELD, NOT_ALLOWED, STALE, Refusal, pasted, shorten


def lock_file_held(path: str, lock: str, words: str, age_minutes: int) -> Refusal:
    """`words` are those of whoever wrote the lock file."""
    said = f' It says "{shorten(words, 60)}".' if words else ""
    return Refusal(
        "claim.lock_file",
        f"{shorten(path, 50)} is locked by a file that lineclear did not write.",
        who=f"{shorten(lock, 50)} is {age_minutes} min old; it counts for 30 min.{said}",
        next_=f"lineclear who {pasted(path)}",
        exit_code=HELD,
        path=shorten(path, 200),
        lock=shorten(lock, 200),
        words=shorten(words, 200),
    )


def file_travels(path: str) -> Refusal:
    return Refusal(
        "gate.mirrored",
        f"{shorten(path, 80)} is written by lineclear, anew in every worktree; it does not travel with work.",
        next_=f"git rm --cached {pasted(path)}",
        exit_code=NOT_ALLOWED,
        path=shorten(path, 200),
    )


def block_edited(path: str, command: str) -> Refusal:
    """`command` does it all the same."""
    return Refusal(
        "conventions.edited",
        f"The block of lineclear in {shorten(path, 80)} was changed by hand.",
        who="Those words would be lost. Move them out of its two marks first.",
        next_=command,
        exit_code=STALE,
        path=shorten(path, 200),
    )


def block_broken(path: str, why: str) -> Refusal:
    return Refusal(
        "conventions.broken",
        f"{shorten(path, 80)} is left as it is: {shorten(why, 80)}.",
        who="Put the marks in order, or take them both out.",
        next_="lineclear setup conventions --dry-run",
        exit_code=NOT_ALLOWED,
        path=shorten(path, 200),
    )
