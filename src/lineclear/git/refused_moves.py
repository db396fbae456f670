"""Undoes what a git command did to the main tree before the gate refused to move main.

A merge and a commit ask first. Other commands write files and index before they move the branch, and a rebase
with `--autostash` puts uncommitted work aside before it asks.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from lineclear.git.landing import commit_of, landing_ref
from lineclear.git.run import GitFailed, git

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.git.layout import Layout

_STEPS = ("am", "cherry-pick", "revert")
_UNDONE = (*_STEPS, "checkout", "reset", "switch")


def undo_refused(layout: Layout, lines: Sequence[str], verb: str) -> None:
    """Move files and index back to main, whose move was refused; changes that were not part of it stay.
    `lines`: old id, new id, ref. After any other verb nothing is undone: the index of a commit is the user's
    own work."""
    cwd, main = layout.worktree, landing_ref(layout)
    new = next((words[1] for line in lines if (words := line.split(" "))[-1] == main), "")
    old = commit_of(cwd, main)
    if verb not in _UNDONE or not new.strip("0") or not old:
        return
    back = ["-c", "core.fsmonitor=false", "read-tree", "-m"]
    try:
        git([*back, "-u", new, old], cwd)
    except GitFailed:  # `git reset` without --hard: only the index has moved
        git([*back, "-i", new, old], cwd, check=False)
    if verb in _STEPS:
        git([verb, "--quit"], cwd, check=False)


def return_autostash(layout: Layout) -> None:
    """Restore the uncommitted work that a rebase put aside before it was refused."""
    for name in ("rebase-merge", "rebase-apply"):
        step = f"{layout.git_dir}/{name}"
        try:
            with open(f"{step}/autostash", encoding="ascii") as file:
                stash = file.read().strip()
            git(["stash", "apply", "--quiet", "--index", stash], layout.worktree)
        except (OSError, GitFailed):
            continue
        shutil.rmtree(step)
