"""One sync at a time in a worktree: who may ask for it, in which words the merge is committed, and who
touched the places that conflict. syncing.py has the merge itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.queue.conflict_sides import SideEnd, add_sides, owner_from
from lineclear.app.worktrees import syncing
from lineclear.app.worktrees.rows import agent_on
from lineclear.app.write_facts import tree_of
from lineclear.core.claims.write_rule import is_foreign
from lineclear.core.log.tables import TASK
from lineclear.core.queue.landing_results import message
from lineclear.core.tasks.states import show_id
from lineclear.core.words.refusals import not_found, refuse
from lineclear.core.worktrees.syncing import Conflicted

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from lineclear.app.ports import Caller, Store
    from lineclear.app.queue.conflict_sides import TouchesOfBoth
    from lineclear.app.queue.merge_trees import MergeRules
    from lineclear.app.worktrees.syncing import SyncGit
    from lineclear.core.worktrees.syncing import Synced

# A sync takes moments; one that takes this long waits for something.
WAIT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeSync:
    """The worktree that the store calls `tree` and git calls `name`.

    `open_git` takes the worktree's lock, and refuses with sync.busy if another process holds it for longer
    than the given seconds.
    """

    store: Store
    caller: Caller
    tree: str
    name: str
    open_git: Callable[[float], AbstractContextManager[SyncGit]]
    touches: TouchesOfBoth
    merge_rules: MergeRules

    def sync(self, *, task: int = 0, keep: bool = False, wait_s: float = WAIT_S) -> Synced | Conflicted:
        """Merge main into the worktree's branch, or say where both do not fit.

        `Conflicted` without `keep`: nothing has changed. With `keep` the merge is left in the worktree as git
        leaves one. A Refusal says what is in the way, and nothing has changed.
        """
        self._refuse_stranger()
        with self.open_git(wait_s) as git:
            result = syncing.sync(git, self.merge_rules, self._message(git.branch, task), keep=keep)
            return self._with_sides(git, result, task)

    def preview(self, *, task: int = 0, wait_s: float = WAIT_S) -> Synced | Conflicted:
        """What `sync` would come to. Nothing moves."""
        self._refuse_stranger()
        with self.open_git(wait_s) as git:
            result = syncing.preview(git, self.merge_rules, self._message(git.branch, task))
            return self._with_sides(git, result, task)

    def prepare_conflict(self, *, task: int = 0) -> list[str]:
        """Merge main into the branch for the next attempt of work that came back, and leave open what does
        not fit. Returns the open paths. Repeating it is harmless."""
        self._refuse_stranger()
        with self.open_git(WAIT_S) as git:
            git.repair()
            if git.step():
                return git.open_paths()
            words = self._message(git.branch, task)
            result = syncing.sync(git, self.merge_rules, words, keep=True)
            return result.open_paths if isinstance(result, Conflicted) else []

    def repair(self) -> str:
        """Finish or undo what a killed sync left half done. Says what was done, "" if there was nothing."""
        self._refuse_stranger()
        with self.open_git(WAIT_S) as git:
            return git.repair()

    def _refuse_stranger(self) -> None:
        """As at the commit gate: a worktree belongs to its agent; a person may work in any."""
        place = self.store.read(lambda view: tree_of(view, self.tree))
        if not self.caller.is_person and is_foreign(place, self.caller.name):
            raise refuse("worktree.not_yours", name=self.name, holder=place.owner)

    def _message(self, branch: str, task: int) -> str:
        row = self.store.read(lambda view: view.get(TASK, (task,))) if task else None
        if task and row is None:
            raise not_found("task", show_id(task), "lineclear task list")
        return message(
            task=show_id(task) if task else "",
            title=row.title if row is not None else "",
            branch=branch,
            agent="" if self.caller.is_person else self.caller.name,
            co_authors=(),
            verb="Sync",
        )

    def _with_sides(self, git: SyncGit, result: Synced | Conflicted, task: int) -> Synced | Conflicted:
        """Add who touched each conflicting place. Main is the left side; in a merge that is left in the
        worktree the branch is, as for git."""
        if isinstance(result, Conflicted):
            main, tip = git.ends()
            agent = self.store.read(lambda view: agent_on(view, git.branch)) if task else ""
            branch = SideEnd(commit=tip, branch=git.branch, owner=owner_from(task, agent))
            ends = [SideEnd(commit=main), branch]
            if result.is_kept:
                ends.reverse()
            result.conflicts = add_sides(self.touches, self.store, result.conflicts, *ends)
        return result
