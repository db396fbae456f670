"""Where a run works: prepare, find, save and discard its worktree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.runs.workers import RunPlace, RunSnapshot
from lineclear.core.log.tables import WORKTREE

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.ports import Caller, Store
    from lineclear.app.runs.ports import ReturnedWorkPort, RunWorktrees, SnapshotTaker
    from lineclear.core.log.tables import Run, Task


class RunPlaces:
    """`root`: the main worktree, where a worker without its own worktree reads."""

    def __init__(
        self,
        store: Store,
        worktrees: RunWorktrees,
        returned: ReturnedWorkPort,
        is_worktree: Callable[[str], bool],
        root: str,
    ) -> None:
        self._store, self._worktrees, self._returned = store, worktrees, returned
        self._is_worktree, self._root = is_worktree, root

    def prepare(self, caller: Caller, task: Task) -> RunPlace:
        """A new worktree. If the task's work came back, it starts from that work, with main merged in and the
        conflicts left open."""
        came_back = self._returned.candidate(task)
        base = came_back.tip if came_back is not None else ""
        place = self._worktrees.prepare(caller, task.id, base)
        if came_back is not None:
            self._returned.bring_main(caller, place.path, task.id)
        return place

    def find(self, run: Run) -> RunPlace | None:
        place = self.place_of(run)
        return place if place.tree and place.branch == run.branch and self.is_there(place) else None

    def place_of(self, run: Run) -> RunPlace:
        if not run.tree:
            return self.shared()
        row = self._store.read(lambda view: view.get(WORKTREE, (run.tree,)))
        if row is None:
            return RunPlace(run.tree, "", run.branch, run.base)
        found = self._worktrees.place_of(row.name)
        return RunPlace(found.tree, found.path, found.branch, run.base or found.base, found.env)

    def shared(self) -> RunPlace:
        return RunPlace("", self._root)

    def discard(self, caller: Caller, place: RunPlace, why: str) -> None:
        self._worktrees.discard(caller, place.tree, why)

    def is_there(self, place: RunPlace) -> bool:
        return not place.tree or self._is_worktree(place.path)


class RunSnapshots:
    """Snapshots of runs that have their own worktree."""

    def __init__(self, snapshots: SnapshotTaker) -> None:
        self._snapshots = snapshots

    def take(self, agent: str, place: RunPlace, why: str, task: int) -> RunSnapshot | None:
        return self._snapshots.take(agent, place.tree, place.path, why, task) if place.tree else None

    def latest(self, agent: str, place: RunPlace) -> RunSnapshot | None:
        return self._snapshots.latest(agent) if place.tree else None
