"""What bringing a branch up to main needs of git: both sides, the merge, the move."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from lineclear.core.words.computed.queue import git_failed
from lineclear.core.words.refusals import refuse
from lineclear.git.branch_moves import Mover, head_ref, step_in_progress
from lineclear.git.landing import CloneGit, LandingLock, commit_of
from lineclear.git.run import GitFailed
from lineclear.git.unfinished_merge import Keeper, unmerged_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lineclear.app.queue.lock_making import LockMaker
    from lineclear.git.branch_moves import BranchMove
    from lineclear.git.layout import Layout
    from lineclear.git.stray_moves import Strays


@contextmanager
def open_sync_git(
    layout: Layout,
    state_directory: str,
    strays: Strays,
    make_maker: Callable[[Callable[[], str]], LockMaker],
    wait_s: float,
) -> Iterator[WorktreeSyncGit]:
    """The git of a worktree with its lock held. Refuses if that is not free within `wait_s`. `make_maker`
    takes what gives main's commit."""
    lock = LandingLock(state_directory, f"sync-{layout.tree}.lock")
    if not lock.take(wait_s):
        raise refuse("sync.busy", waited_s=int(wait_s))
    try:
        ref, main = strays.main()
        stray = strays.find()
        # While an agent's own move of main stands, the commit counts that main will be put back to.
        target = stray.old if stray is not None and stray.new == main else ""
        maker = make_maker(lambda: target or commit_of(layout.worktree, ref))
        with closing(WorktreeSyncGit(layout, ref, lock, target=target, maker=maker)) as git:
            yield git
    except GitFailed as error:
        raise git_failed(error.command[0], error.stderr) from error
    finally:
        lock.free()


class WorktreeSyncGit:
    """The `SyncGit` of app/worktrees/syncing.py for one worktree; `lock` is held. Close it.

    Its journals lie in the worktree's own git directory: they go when it goes.
    """

    def __init__(
        self,
        layout: Layout,
        main_ref: str,
        lock: LandingLock,
        *,
        target: str,
        maker: LockMaker,
    ) -> None:
        """`target`: the commit that counts as main if an agent has moved main itself; else ""."""
        self.place, self.maker = layout.worktree, maker
        self._git_dir, self._target = layout.git_dir, target
        self._main_ref = main_ref
        self._ref = head_ref(layout.worktree, layout.common_dir, layout.git_dir)
        self.main, self.branch = (ref.removeprefix("refs/heads/") for ref in (self._main_ref, self._ref))
        self._clone = CloneGit(layout, self.main)
        self.trees, self.history = self._clone.trees, self._clone.history
        begin = f"{layout.git_dir}/lineclear.sync"
        self._mover = Mover(self._clone, layout.common_dir, f"{begin}.json", self._ref, lock.fd)
        self._keeper = Keeper(self._clone, layout.common_dir, f"{begin}.merge.json", self._ref, lock.fd)

    def step(self) -> str:
        return step_in_progress(self._git_dir)

    def open_paths(self) -> list[str]:
        return unmerged_paths(self.place)

    def ends(self) -> tuple[str, str]:
        main, tip = self._clone.objects.commits_of([self._main_ref, self._ref])
        return self._target or main, tip

    def commit(self, tree: str, parents: Sequence[str], message: str) -> str:
        return self._clone.commit(tree, parents, message, None)

    def move(self, old: str, new: str) -> BranchMove:
        return self._mover.move(old, new, f"lineclear: sync with {self.main}")

    def keep(
        self, tip: str, tree: str, main: str, stages: Mapping[str, Mapping[int, tuple[str, str]]], words: str
    ) -> BranchMove:
        return self._keeper.keep(tip, tree, main, stages, words)

    def repair(self) -> str:
        return self._keeper.repair() or self._mover.repair()

    def close(self) -> None:
        self._clone.close()
