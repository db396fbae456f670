"""Keeps the work of all live agents of this clone in snapshots that are never old: for a process that stays.

A look is one snapshot that is not taken when nothing has changed, which costs one `git status`. A worktree
whose agents were heard of, or that changed, within `agents.silence` is looked at every `snapshots.every`; one
that is quiet for longer, much less often. What a supervisor of this clone saves is left to it.
"""

from __future__ import annotations

import queue
import threading
import time

from lineclear.app.runs.records import live_runs
from lineclear.app.worktrees.snapshots import work_in
from lineclear.core.words.refusals import Refusal
from lineclear.core.worktrees.snapshots import AT_WORK
from lineclear.host.shielding import shield_thread
from lineclear.wiring.mirroring import live_trees
from lineclear.wiring.running import RepoClients, RepoTraces
from lineclear.wiring.supervising import is_supervised
from lineclear.wiring.worktrees import saved_work_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.worktrees.snapshots import Work
    from lineclear.wiring.repo import Repo

# How often a quiet worktree is looked at.
QUIET_EVERY_S = 60.0
MOST_AT_ONCE = 4
LONGEST_REST_S = 60.0


class Place:
    """A worktree that is kept safe. `active_at_s`: when one of its agents was last heard of, or a change was
    last found in it; at first, when we began to look at it."""

    __slots__ = (
        "active_at_s", "failures", "is_saving", "looked_at_s", "name", "path", "rest_until_s", "works",
    )  # fmt: skip

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        self.works: list[Work] = []
        self.is_saving = False
        self.active_at_s = time.monotonic()
        self.looked_at_s, self.rest_until_s, self.failures = float("-inf"), 0.0, 0

    def is_due(self, now_s: float, *, every_s: float, silence_s: float) -> bool:
        if now_s - self.active_at_s > silence_s:
            every_s = max(every_s, QUIET_EVERY_S)
        return not self.is_saving and now_s >= self.rest_until_s and now_s - self.looked_at_s >= every_s


class Saver:
    """Of one thread; the snapshots themselves are taken beside it, a few at once."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._every_s = repo.settings.snapshots_every_ms / 1_000
        self._silence_s = repo.settings.agents_silence_ms / 1_000
        self._places: dict[str, Place] = {}
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
            del self._places[name]
        now_s = time.monotonic()
        for name, (tree, works) in wanted.items():
            place = self._places.get(name)
            if place is None or place.path != tree.path:
                place = self._places[name] = Place(name, tree.path)
            if [work.agent for work in works] != [work.agent for work in place.works]:
                place.looked_at_s = float("-inf")
            idle_ns = [idle for work in works if (idle := presence.idle_ns(work.agent)) is not None]
            if idle_ns:
                place.active_at_s = max(place.active_at_s, now_s - min(idle_ns) / 1e9)
            place.works = works

    def _supervised(self) -> set[str]:
        """A supervisor that died saves nothing any more, though its agents may work on."""
        if not is_supervised(self._repo):
            return set()
        traces = RepoTraces(self._repo, RepoClients(self._repo))
        runs = self._repo.store.read(live_runs)
        return {run.tree for run in runs if run.tree and traces.is_of_this_clone(run)}

    def step(self) -> list[str]:
        """Start the snapshots that are due; gives what went wrong with those that ended since."""
        troubles = self._collect()
        now_s = time.monotonic()
        # The one that waits longest first: where there is too much to do, nobody is forgotten.
        for place in sorted(self._places.values(), key=lambda place: place.looked_at_s):
            if self._running >= MOST_AT_ONCE:
                break
            if place.is_due(now_s, every_s=self._every_s, silence_s=self._silence_s):
                self._start(place, now_s)
        return troubles

    def _start(self, place: Place, now_s: float) -> None:
        place.looked_at_s, place.is_saving = now_s, True
        self._running += 1
        threading.Thread(target=self._save, args=(place,), name=f"save-{place.name}", daemon=True).start()

    def _save(self, place: Place) -> None:
        shield_thread()
        saved, trouble = 0, None
        try:
            for work in place.works:
                taken = saved_work_in(self._repo).take(
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
                if saved:
                    place.active_at_s = time.monotonic()
            elif place.name in self._places and (trouble := self._failed(place, error)):
                troubles.append(trouble)
        return troubles

    def _failed(self, place: Place, error: Exception) -> str:
        """One that cannot be saved is tried again, less and less often; the others are not kept waiting.
        Empty the first time: it may be on its way out, and off the list before it is tried again."""
        place.failures += 1
        rest_s = min(LONGEST_REST_S, self._every_s * 2**place.failures)
        place.rest_until_s = time.monotonic() + rest_s
        if place.failures == 1:
            return ""
        return f"{place.name}: {error.what if isinstance(error, Refusal) else error}"

    def close(self, within_s: float) -> None:
        """What is being saved is given time to end; killed, it leaves nothing half done."""
        deadline = time.monotonic() + within_s
        while self._running and (left_s := deadline - time.monotonic()) > 0:
            self._collect(left_s)
