"""The possible results of bringing a branch up to date with main. No git in here."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

UP_TO_DATE, FAST_FORWARD, MERGE = "up to date", "fast-forward", "merge"
# A conflict cannot be left in the worktree: `git merge --abort` would discard what is staged.
STAGED = "staged"


class Synced:
    """The branch now has all of main: `commit` is its tip, `files` are those that changed."""

    def __init__(
        self, how: str, commit: str, *, files: Sequence[str] = (), notes: Sequence[str] = ()
    ) -> None:
        self.how, self.commit, self.files, self.notes = how, commit, list(files), list(notes)


class Conflicted:
    """The branch and main conflict. `is_kept`: the merge is in the worktree, with `open_paths` unmerged."""

    def __init__(
        self, conflicts: Sequence[dict[str, Any]], *, is_kept: bool = False,
        open_paths: Sequence[str] = (), notes: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.conflicts, self.is_kept = list(conflicts), is_kept
        self.open_paths, self.notes = list(open_paths), list(notes)
