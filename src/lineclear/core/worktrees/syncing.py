"""The possible results of bringing a branch up to main, and how they are shown. No git in here."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

UP_TO_DATE, FAST_FORWARD, MERGE = "up to date", "fast-forward", "merge"
# What a conflict cannot be left by: the index holds what `git merge --abort` would throw away.
STAGED = "staged"


class Synced:
    """The branch holds all of main: `commit` is its tip now, `files` are what came in."""

    def __init__(
        self, how: str, commit: str, *, files: Sequence[str] = (), notes: Sequence[str] = ()
    ) -> None:
        self.how, self.commit, self.files, self.notes = how, commit, list(files), list(notes)


class Conflicted:
    """Both do not fit. `is_kept`: the merge lies in the worktree, `open_paths` with their stages."""

    def __init__(
        self, conflicts: Sequence[dict[str, Any]], *, is_kept: bool = False,
        open_paths: Sequence[str] = (), notes: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.conflicts, self.is_kept = list(conflicts), is_kept
        self.open_paths, self.notes = list(open_paths), list(notes)
