"""Refusals about snapshots, salvage and clearing away. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import FAILED, HELD, NOT_FOUND, USAGE, Refusal, pasted, shorten


def worktree_gone(path: str) -> Refusal:
    return Refusal(
        "snapshot.no_worktree",
        f"There is no worktree at {shorten(path, 120)} to take a snapshot of.",
        who="What was saved of it before is still there.",
        next_="lineclear salvage list",
        exit_code=NOT_FOUND,
        path=shorten(path, 200),
    )


def snapshot_failed(path: str, why: str) -> Refusal:
    return Refusal(
        "snapshot.failed",
        f"No snapshot of {shorten(path, 80)}: {shorten(why, 100)}",
        who="Its files and the snapshots before are as they were.",
        next_="lineclear doctor",
        exit_code=FAILED,
        path=shorten(path, 200),
        why=shorten(why, 400),
    )


def snapshot_busy(path: str) -> Refusal:
    return Refusal(
        "snapshot.busy",
        f"Another process is taking a snapshot of {shorten(path, 120)} and is not done yet.",
        next_="lineclear salvage list",
        exit_code=HELD,
        path=shorten(path, 200),
    )


def no_snapshot(name: str) -> Refusal:
    return Refusal(
        "snapshot.none",
        f"There is no snapshot {shorten(name)} here.",
        next_="lineclear salvage list",
        exit_code=NOT_FOUND,
        snapshot=shorten(name, 200),
    )


def restored_exists(branch: str, free: str) -> Refusal:
    return Refusal(
        "snapshot.branch_exists",
        f"The branch {shorten(branch)} exists; a restored snapshot gets a branch of its own.",
        next_=f"lineclear salvage restore {pasted(free, 'SNAPSHOT')}",
        exit_code=HELD,
        branch=shorten(branch, 200),
    )


def restored_misnamed(branch: str, free: str) -> Refusal:
    return Refusal(
        "snapshot.branch_name",
        f"{shorten(branch)} is not a name that git takes for a branch.",
        next_=f"lineclear salvage restore {pasted(free, 'SNAPSHOT')}",
        exit_code=USAGE,
        branch=shorten(branch, 200),
    )


def patch_exists(path: str, name: str) -> Refusal:
    return Refusal(
        "snapshot.patch_exists",
        f"{shorten(path, 120)} exists and is not written over.",
        next_=f"lineclear salvage restore {pasted(name, 'SNAPSHOT')} --patch {pasted(path + '.new', 'FILE')}",
        exit_code=HELD,
        path=shorten(path, 200),
    )


def patch_unwritable(path: str, why: str) -> Refusal:
    return Refusal(
        "snapshot.patch_unwritable",
        f"{shorten(path, 120)} could not be written: {shorten(why)}.",
        next_="lineclear salvage restore --help",
        exit_code=FAILED,
        path=shorten(path, 200),
    )


def no_work(name: str) -> Refusal:
    return Refusal(
        "look.nothing",
        f"No agent, task or worktree {shorten(name)} has work of its own to look at.",
        next_="lineclear",
        exit_code=NOT_FOUND,
        name=shorten(name, 200),
    )


def no_editor() -> Refusal:
    return Refusal(
        "look.no_editor",
        "Neither $VISUAL nor $EDITOR says which editor to open.",
        next_="export EDITOR=vi",
        exit_code=USAGE,
    )


def cannot_start(program: str, why: str) -> Refusal:
    return Refusal(
        "look.cannot_start",
        f"{shorten(program)} could not be started: {shorten(why)}.",
        next_="lineclear open --help",
        exit_code=FAILED,
        program=shorten(program, 200),
    )
