"""Builds what merges files and trees. Cheap to load: git starts the merge driver once for each file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lineclear.git.merging import GitMerging
from lineclear.git.side_authors import touches_of_both

if TYPE_CHECKING:
    from lineclear.app.queue.conflict_sides import TouchesOfBoth


def merging_at(cwd: str) -> GitMerging:
    return GitMerging(cwd)


def touches_at(cwd: str) -> TouchesOfBoth:
    return partial(touches_of_both, cwd)
