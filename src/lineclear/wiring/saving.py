"""Keeps the work of all live agents of this clone in snapshots that are never old: for a process that stays.

The kernel tells which worktrees were written to, so that those in which nothing happens cost nothing; where
it does not, each is looked at again and again. What a supervisor of this clone saves is left to it.
"""

from __future__ import annotations

import os
import queue
import threading
import time

from lineclear.app.runs import live_runs
from lineclear.app.snapshots import work_in
from lineclear.core.refusals import Refusal
from lineclear.core.snapshots import AT_WORK
from lineclear.git.run import GitFailed
from lineclear.process.shielding import shield_thread
from lineclear.process.tree_watch import TreeWatch
from lineclear.wiring.mirroring import is_for_agents, live_trees, parts_on
from lineclear.wiring.running import RepoClients, RepoTraces
from lineclear.wiring.snapshots import snapshots_of, take_for
from lineclear.wiring.supervising import is_supervised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.snapshots import Work
    from lineclear.wiring.repo import Repo

# Nothing was seen to happen, yet something may have: a write through a memory map, or where nobody watches.
SAVE_ANYWAY_S = 120.0
MOST_AT_ONCE = 4
LONGEST_REST_S = 60.0


class Place:
    """A worktree that is kept safe. What is not known of it counts as changed. `is_called`: somebody rang for
    the snapshot that is being taken; if one was taken without, not everything is watched."""

    __slots__ = (
        "failures", "is_called", "is_changed", "is_saving", "is_unknown", "is_watched", "name", "path",
        "rest_until_s", "saved_at_s", "works",
    )  # fmt: skip

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        self.works: list[Work] = []
        self.is_changed = self.is_unknown = True
        self.is_watched = self.is_saving = self.is_called = False
        self.saved_at_s, self.rest_until_s, self.failures = 0.0, 0.0, 0

    def is_due(self, now_s: float, every_s: float) -> bool:
        if self.is_saving or now_s < self.rest_until_s or now_s - self.saved_at_s < every_s:
            return False
        return self.is_changed or not self.is_watched or now_s - self.saved_at_s > SAVE_ANYWAY_S


class Saver:
    """Of one thread; the snapshots themselves are taken beside it, a few at once."""

    def __init__(self, repo: Repo, *, watch: TreeWatch | None = None) -> None:
        self._repo = repo
        self._every_s = repo.settings.snapshots_every_ms / 1_000
        self._watch = watch if watch is not None else TreeWatch()
        self._places: dict[str, Place] = {}
        self._roots: set[str] = set()
        self._has_files = bool(parts_on(repo.settings))
        self._answers: queue.SimpleQueue[tuple[Place, int, Exception | None]] = queue.SimpleQueue()
        self._running = 0
        self.saved, self.looked = 0, 0

    @property
    def places(self) -> list[Place]:
        return list(self._places.values())

    def choose(self) -> None:
        """Which worktrees are ours to save, as of now."""
        store, presence, silence_ms = (
            self._repo.store,
            self._repo.presence,
            self._repo.settings.agents_silence_ms,
        )
        trees = live_trees(self._repo)
        left_to_others = self._supervised()
        found = store.read(
            lambda view: [
                (tree, work_in(view, presence, tree.name, tree.path, silence_ms))
                for tree in trees
                if tree.name not in left_to_others
            ]
        )
        wanted = {tree.name: (tree, works) for tree, works in found if works}
        for name in self._places.keys() - wanted.keys():
            self._watch.drop(name)
            del self._places[name]
        for name, (tree, works) in wanted.items():
            place = self._places.get(name)
            if place is None or place.path != tree.path:
                self._watch.drop(name)
                place = self._places[name] = Place(name, tree.path)
            if [work.agent for work in works] != [work.agent for work in place.works]:
                place.is_changed = True
            place.works = works
        self._roots = {os.path.realpath(place.path) for place in self._places.values()}

    def _supervised(self) -> set[str]:
        """A supervisor that died saves nothing any more, though its agents may work on."""
        if not is_supervised(self._repo):
            return set()
        traces = RepoTraces(self._repo, RepoClients(self._repo))
        runs = self._repo.store.read(live_runs)
        return {run.tree for run in runs if run.tree and traces.is_of_this_clone(run)}

    def step(self) -> list[str]:
        """Start the snapshots that are due; gives what went wrong with those that ended since."""
        self._hear()
        troubles = self._collect()
        now_s = time.monotonic()
        # The one that waits longest first: where there is too much to do, nobody is forgotten.
        for place in sorted(self._places.values(), key=lambda place: place.saved_at_s):
            if self._running < MOST_AT_ONCE and place.is_due(now_s, self._every_s):
                self._start(place, now_s)
        return troubles

    def _hear(self) -> None:
        for name, seen in self._watch.take(self._is_ours).items():
            if name in self._places:
                self._places[name].is_changed = True
                self._places[name].is_unknown |= seen.grew

    def _is_ours(self, directory: str, name: str) -> bool:
        """Files for agents are written at every change; git does not see them, nor does a snapshot."""
        settings = self._repo.settings
        return self._has_files and is_for_agents(
            settings, name if directory in self._roots else f"{directory}/{name}"
        )

    def _start(self, place: Place, now_s: float) -> None:
        """Watched first, then saved: what is written in between is in the snapshot, or told afterwards."""
        if place.is_unknown or not place.is_watched:
            place.is_unknown = False
            place.is_watched = self._watch_over(place)
        place.is_called = place.is_changed
        place.is_changed, place.saved_at_s, place.is_saving = False, now_s, True
        self._running += 1
        threading.Thread(target=self._save, args=(place,), name=f"save-{place.name}", daemon=True).start()

    def _watch_over(self, place: Place) -> bool:
        if not self._watch.can_watch:
            return False
        try:
            snapshots, layout = snapshots_of(self._repo, place.name, place.path)
            ignored = frozenset(snapshots.ignored_directories())
        except (Refusal, GitFailed, OSError):
            return False  # what is wrong, the snapshot itself says better
        inside = layout.git_dir + "/"

        def is_left_out(path: str) -> bool:
            return path in ignored or path.startswith(inside)

        return self._watch.follow(place.name, (layout.worktree, layout.git_dir), is_left_out)

    def _save(self, place: Place) -> None:
        shield_thread()
        saved, trouble = 0, None
        try:
            for work in place.works:
                taken = take_for(
                    self._repo,
                    agent=work.agent,
                    tree=place.name,
                    path=place.path,
                    why=AT_WORK,
                    task=work.task,
                )
                saved += taken is not None
        except Exception as error:  # noqa: BLE001  told to the thread that asked: nobody else hears it
            trouble = error
        self._answers.put((place, saved, trouble))

    def _collect(self, wait_s: float = 0.0) -> list[str]:
        troubles = []
        while self._running:
            try:
                place, saved, error = (
                    self._answers.get(timeout=wait_s) if wait_s else self._answers.get_nowait()
                )
            except queue.Empty:
                break
            self._running -= 1
            self.saved += saved
            self.looked += 1
            place.is_saving = False
            if error is None:
                place.failures = 0
                place.is_unknown |= bool(saved) and not place.is_called
            elif place.name in self._places and (trouble := self._failed(place, error)):
                troubles.append(trouble)
        return troubles

    def _failed(self, place: Place, error: Exception) -> str:
        """One that cannot be saved is tried again, less and less often; the others are not kept waiting.
        Empty the first time: it may be on its way out, and off the list before it is tried again."""
        place.failures += 1
        rest_s = min(LONGEST_REST_S, self._every_s * 2**place.failures)
        place.is_changed, place.rest_until_s = True, time.monotonic() + rest_s
        if place.failures == 1:
            return ""
        return f"{place.name}: {error.what if isinstance(error, Refusal) else error}"

    def close(self, within_s: float) -> None:
        """What is being saved is given time to end; killed, it leaves nothing half done."""
        deadline = time.monotonic() + within_s
        while self._running and (left_s := deadline - time.monotonic()) > 0:
            self._collect(left_s)
        self._watch.close()
