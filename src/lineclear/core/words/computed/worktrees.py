"""Refusals whose words are computed; their sentences are in sentences/worktrees.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.words.refusals import (
    refuse,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from lineclear.core.words.refusals import Refusal


def bad_place(path: str, why: str) -> Refusal:
    return refuse("worktree.place", path=path, why=why[:1].upper() + why[1:])


def worktree_failed(name: str, error: str) -> Refusal:
    return refuse("worktree.git", name=name, error=error, line=" ".join(error.split()))


def no_room(count: int, needed: int, free: int, reserve: int) -> Refusal:
    return refuse(
        "worktree.disk",
        count=count,
        what="worktree" if count == 1 else "worktrees",
        needed_bytes=needed,
        free_bytes=free,
        reserve_bytes=reserve,
    )


def setup_failed(command: str, how: str, tail: str) -> Refusal:
    last_line = tail.strip().rpartition("\n")[2]
    return refuse("worktree.setup", command=command, how=how, output=tail, last_line=last_line)


def patch_exists(path: str, name: str) -> Refusal:
    return refuse("snapshot.patch_exists", path=path, name=name, other=f"{path}.new")


def sync_in_progress(step: str, path: str) -> Refusal:
    return refuse("sync.in_progress", step=step, begun=step[:1].upper() + step[1:], path=path)


def sync_conflicts(branch: str, main: str, conflicts: Sequence[dict[str, Any]]) -> Refusal:
    files = list(dict.fromkeys(conflict["path"] for conflict in conflicts)) or ["some files"]
    return refuse("sync.conflicts", branch=branch, main=main, conflicts=list(conflicts), files=files)
