"""Snapshots of agents' work: take one, find the last, check whether everything is saved, remove old ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.words.refusals import Refusal
from lineclear.core.worktrees.snapshots import BEFORE_REMOVAL, thin

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.worktrees.ports import SnapshotGit
    from lineclear.core.worktrees.snapshots import Kept, Snapshot, SnapshotLimits

# Prune only after every so many snapshots, to save a git process in most of them.
_SLACK = 10
_TODAY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedWork:
    """Snapshots of one clone's worktrees. `now_s()`: wall-clock time."""

    git: SnapshotGit
    now_s: Callable[[], int]
    limits: SnapshotLimits
    keep: int
    keep_for_s: int

    def take(
        self, *, agent: str, tree: str, path: str = "", why: str, task: int = 0, if_new: bool = False
    ) -> Snapshot | None:
        """Save a worktree as it is now; None if the agent's last snapshot holds exactly the same. `if_new` is
        as for `SnapshotGit.take`."""
        taken = self.git.take(
            tree, path, agent=agent, task=task, why=why, at_s=self.now_s(), limits=self.limits, if_new=if_new
        )
        number = int(taken.ref.rpartition("/")[2]) if taken is not None else 0
        if number > self.keep and number % _SLACK == 0:
            self.prune(agent)
        return taken

    def latest(self, agent: str) -> Kept | None:
        """The agent's newest snapshot."""
        found = self.git.listed(agent)
        return found[0] if found else None

    def is_saved(self, tree: str, path: str = "", *, lasting: bool = True) -> bool:
        """Can this worktree be removed without loss? True if a snapshot, or main's history, contains HEAD and
        every file that git does not ignore.

        With `lasting`, if that snapshot is a rolling one or older than a day, it is saved again as a lasting
        one, so that the answer stays true for `keep_for`.
        """
        try:
            head, content, left_out = self.git.content(tree, path)
            if left_out or not head:
                return False
            if self.git.is_on_main(head, content):
                return True
            kept = [found for found in self.git.listed() if (found.tree, found.parent) == (content, head)]
            if not kept:
                return False
            now_s = self.now_s()
            if lasting and all(found.is_rolling or found.at_s < now_s - _TODAY_S for found in kept):
                self.git.renew(kept[0], BEFORE_REMOVAL, now_s)
            return True
        except Refusal:
            return False

    def prune(self, agent: str) -> list[Kept]:
        """Remove an agent's surplus and old snapshots; keeps its newest."""
        found, now_s = self.git.listed(agent), self.now_s()
        stale = thin(
            [max(0, now_s - kept.at_s) for kept in found],
            [kept.is_rolling for kept in found],
            keep=self.keep,
            keep_for_s=self.keep_for_s,
            has_worktree=True,
        )
        return self.git.delete([found[place] for place in stale])
