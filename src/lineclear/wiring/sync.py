"""Bringing a worktree's branch up to main, wired: one sync at a time in a worktree, git behind the use case.

For the command line `sync` and `preview`; for the supervisor and the queue `prepare_conflict`, and
`repair` for a worktree whose agent was killed amid a sync.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from lineclear.app.queue.sides import SideEnd, add_sides, owner_from
from lineclear.app.worktrees import syncing
from lineclear.app.worktrees.rows import agent_on
from lineclear.app.writing import tree_of
from lineclear.core.claims.write_rule import is_foreign
from lineclear.core.log.tables import TASK
from lineclear.core.queue.landing_results import message
from lineclear.core.tasks.states import show_id
from lineclear.core.words.computed.queue import git_failed
from lineclear.core.words.refusals import not_found, refuse
from lineclear.core.worktrees.syncing import Conflicted, Synced
from lineclear.git.landing import LandingLock, commit_of
from lineclear.git.layout import find_layout
from lineclear.git.merging_state import unmerged_paths
from lineclear.git.run import GitFailed
from lineclear.git.syncing import WorktreeSyncGit
from lineclear.host.spreading import spread
from lineclear.wiring.lock_making import lock_maker_by_settings
from lineclear.wiring.merging import touches_at
from lineclear.wiring.strays import strays_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.app.ports import Caller
    from lineclear.git.layout import Layout
    from lineclear.wiring.repo import Repo

__all__ = ["Conflicted", "Synced", "prepare_conflict", "preview", "repair", "sync"]

# A sync takes moments; one that takes this long waits for something.
WAIT_S = 60.0


def sync(
    repo: Repo, caller: Caller, *, task: int = 0, keep: bool = False, wait_s: float = WAIT_S
) -> Synced | Conflicted:
    """The branch of the worktree that the repo was opened in, merged with main; or where both do not fit.

    `Conflicted` without `keep`: nothing has changed. With `keep` the merge is left in the worktree as git
    leaves one. Whatever is in the way is a Refusal, and nothing has changed.
    """
    with _sync_git(repo, caller, "", wait_s) as git:
        result = syncing.sync(git, spread, _message(repo, caller, git.branch, task), keep=keep)
        return _with_sides(repo, git, result, task)


def preview(repo: Repo, caller: Caller, *, task: int = 0, wait_s: float = WAIT_S) -> Synced | Conflicted:
    """What it would come to. Nothing moves."""
    with _sync_git(repo, caller, "", wait_s) as git:
        result = syncing.preview(git, spread, _message(repo, caller, git.branch, task))
        return _with_sides(repo, git, result, task)


def prepare_conflict(repo: Repo, caller: Caller, worktree_path: str, *, task: int = 0) -> list[str]:
    """For the next attempt of work that came back: its branch with main merged in, and what does not fit
    left open there. Gives the open paths; none when all of it fits. Repeating it is harmless."""
    with _sync_git(repo, caller, worktree_path, WAIT_S) as git:
        git.repair()
        if git.step():
            return unmerged_paths(worktree_path)
        words = _message(repo, caller, git.branch, task)
        result = syncing.sync(git, spread, words, keep=True)
        return result.open_paths if isinstance(result, Conflicted) else []


def repair(repo: Repo, caller: Caller, worktree_path: str) -> str:
    """Finish or undo what a killed sync left half done there; what was done, "" when there was nothing."""
    with _sync_git(repo, caller, worktree_path, WAIT_S) as git:
        return git.repair()


def main_name(repo: Repo) -> str:
    return strays_of(repo).main()[0].removeprefix("refs/heads/")


def _with_sides(
    repo: Repo, git: WorktreeSyncGit, result: Synced | Conflicted, task: int
) -> Synced | Conflicted:
    """Main is the left side, but in a merge that is left in the worktree: there the branch is, as for git."""
    if isinstance(result, Conflicted):
        main, tip = git.ends()
        agent = repo.store.read(lambda view: agent_on(view, git.branch)) if task else ""
        ends = [SideEnd(commit=main), SideEnd(commit=tip, branch=git.branch, owner=owner_from(task, agent))]
        if result.is_kept:
            ends.reverse()
        result.conflicts = add_sides(touches_at(git.place), repo.store, result.conflicts, *ends)
    return result


def _message(repo: Repo, caller: Caller, branch: str, task: int) -> str:
    row = repo.store.read(lambda view: view.get(TASK, (task,))) if task else None
    if task and row is None:
        raise not_found("task", show_id(task), "lineclear task list")
    return message(
        task=show_id(task) if task else "",
        title=row.title if row is not None else "",
        branch=branch,
        agent="" if caller.is_person else caller.name,
        co_authors=(),
        verb="Sync",
    )


@contextmanager
def _sync_git(repo: Repo, caller: Caller, path: str, wait_s: float) -> Iterator[WorktreeSyncGit]:
    layout = find_layout(path, {}) if path else repo.layout
    _refuse_stranger(repo, caller, layout)
    lock = LandingLock(repo.state_directory, f"sync-{layout.tree}.lock")
    if not lock.take(wait_s):
        raise refuse("sync.busy", waited_s=int(wait_s))
    try:
        ref, main = strays_of(repo).main()
        target = _target(repo, main)
        maker = lock_maker_by_settings(repo, lambda: target or commit_of(layout.worktree, ref))
        with closing(WorktreeSyncGit(layout, ref, lock, target=target, maker=maker)) as git:
            yield git
    except GitFailed as error:
        raise git_failed(error.command[0], error.stderr) from error
    finally:
        lock.free()


def _refuse_stranger(repo: Repo, caller: Caller, layout: Layout) -> None:
    """As at the commit gate: a worktree is its agent's, and a person's."""
    tree = repo.tree.removesuffix(repo.layout.tree) + layout.tree
    place = repo.store.read(lambda view: tree_of(view, tree))
    if not caller.is_person and is_foreign(place, caller.name):
        raise refuse("worktree.not_yours", name=layout.tree, holder=place.owner)


def _target(repo: Repo, main: str) -> str:
    """What counts as main while an agent's own move of it stands: the commit that it will be put back to."""
    stray = strays_of(repo).find()
    return stray.old if stray is not None and stray.new == main else ""
