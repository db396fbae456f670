"""What git knows about a branch that the queue sent back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.git.landing import commit_of, landing_ref
from lineclear.git.side_authors import touches
from lineclear.git.unfinished_merge import unmerged_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.core.queue.conflict_sides import Touch
    from lineclear.git.layout import Layout


class ReturnedBranches:
    """The `ReturnedGit` of app/queue/returned_work.py."""

    def __init__(self, layout: Layout) -> None:
        self._layout, self._cwd = layout, layout.worktree

    def has(self, commit: str) -> bool:
        return bool(commit_of(self._cwd, commit))

    def main(self) -> tuple[str, str]:
        ref = landing_ref(self._layout)
        return ref.removeprefix("refs/heads/"), commit_of(self._cwd, ref)

    def touches(self, tip: str, other: str, paths: Sequence[str]) -> list[Touch]:
        return touches(self._cwd, tip, other, paths)

    def is_open(self, path: str) -> bool:
        return bool(unmerged_paths(path))
