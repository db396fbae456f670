"""Keeps the work of all live agents of this clone in snapshots that are never old: for a process that stays.

A look is one snapshot that is not taken when nothing has changed, which costs one `git status`. A worktree
whose agents were heard of, or that changed, within `agents.silence` is looked at every `snapshots.every`; one
that is quiet for longer, much less often; one in which a hook has just heard of an edit, almost at once. What
a supervisor of this clone saves is left to it.
"""

from __future__ import annotations

import queue
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lineclear.app.worktrees.snapshots import work_in
from lineclear.core.log.queries import any_of, by_key
from lineclear.core.log.tables import AGENT, WORKTREE
from lineclear.core.words.refusals import Refusal
from lineclear.core.worktrees.snapshots import AT_WORK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lineclear.app.ports import Presence, Store, View
    from lineclear.app.worktrees.saved_work import SavedWork
    from lineclear.app.worktrees.snapshots import Work

    class LiveTree(Protocol):
        """A worktree of this clone that is there: our name for it, and where it lies."""

        @property
        def name(self) -> str: ...
        @property
        def path(self) -> str: ...


# How often a quiet worktree is looked at.
QUIET_EVERY_S = 60.0
# How often a worktree is looked at while one edit follows another.
EDITED_EVERY_S = 1.0
MOST_AT_ONCE = 4
LONGEST_REST_S = 60.0


class SavedTree:
    """A worktree that is kept safe. `active_at_s`: when one of its agents was last heard of, or a change was
    last found in it; at first, when we began to look at it. `edited_ns`: the last edit that a hook had heard
    of when we last looked."""

    def __init__(self, name: str, path: str, now_s: float) -> None:
        self.name, self.path = name, path
        self.works: list[Work] = []
        self.is_saving = False
        self.active_at_s = now_s
        self.looked_at_s, self.rest_until_s, self.failures = float("-inf"), 0.0, 0
        self.edited_ns = 0

    def is_due(self, now_s: float, *, every_s: float, silence_s: float, edited_ns: int) -> bool:
        if edited_ns != self.edited_ns:
            every_s = min(every_s, EDITED_EVERY_S)
        elif now_s - self.active_at_s > silence_s:
            every_s = max(every_s, QUIET_EVERY_S)
        return not self.is_saving and now_s >= self.rest_until_s and now_s - self.looked_at_s >= every_s


@dataclass(frozen=True, slots=True, kw_only=True)
class SaverPorts:
    """What a saver needs. `trees()` are this clone's worktrees, `left_to_others()` the names of those that a
    live supervisor saves. `edited_ns(tree)`: when a hook last heard of an edit there. `start(work, name)`
    runs work in a thread; `monotonic()` gives seconds."""

    store: Store
    presence: Presence
    saved: SavedWork
    trees: Callable[[], Iterable[LiveTree]]
    left_to_others: Callable[[], set[str]]
    edited_ns: Callable[[str], int]
    start: Callable[[Callable[[], None], str], None]
    monotonic: Callable[[], float]


class Saver:
    """Of one thread; the snapshots themselves are taken beside it, a few at once."""

    def __init__(self, ports: SaverPorts, *, every_ms: int, silence_ms: int) -> None:
        """`every_ms`: how often a worktree is looked at; `silence_ms`: when an agent counts as quiet."""
        self._ports = ports
        self._every_s, self._silence_ms = every_ms / 1_000, silence_ms
        self._places: dict[str, SavedTree] = {}
        self._answers: queue.SimpleQueue[tuple[SavedTree, int, Exception | None]] = queue.SimpleQueue()
        self._running = 0
        self.saved, self.looked = 0, 0

    @property
    def places(self) -> list[SavedTree]:
        return list(self._places.values())

    def choose(self) -> None:
        """Which worktrees are ours to save, as of now."""
        presence, silence_ms = self._ports.presence, self._silence_ms
        trees = self._ports.trees()
        left_to_others = self._ports.left_to_others()

        def look(view: View) -> list[tuple[LiveTree, list[Work]]]:
            ours = [tree for tree in trees if tree.name not in left_to_others]
            view.prefetch(
                *(any_of(AGENT, "tree", tree.name) for tree in ours),
                *(by_key(WORKTREE, tree.name) for tree in ours),
            )
            return [(tree, work_in(view, presence, tree.name, tree.path, silence_ms)) for tree in ours]

        found = self._ports.store.read(look)
        wanted = {tree.name: (tree, works) for tree, works in found if works}
        for name in self._places.keys() - wanted.keys():
            del self._places[name]
        now_s = self._ports.monotonic()
        for name, (tree, works) in wanted.items():
            place = self._places.get(name)
            if place is None or place.path != tree.path:
                place = self._places[name] = SavedTree(name, tree.path, now_s)
            if [work.agent for work in works] != [work.agent for work in place.works]:
                place.looked_at_s = float("-inf")
            idle_ns = [idle for work in works if (idle := presence.idle_ns(work.agent)) is not None]
            if idle_ns:
                place.active_at_s = max(place.active_at_s, now_s - min(idle_ns) / 1e9)
            place.works = works

    def step(self) -> list[str]:
        """Start the snapshots that are due; gives what went wrong with those that ended since."""
        troubles = self._collect()
        now_s = self._ports.monotonic()
        # The one that waits longest first: where there is too much to do, nobody is forgotten.
        for place in sorted(self._places.values(), key=lambda place: place.looked_at_s):
            if self._running >= MOST_AT_ONCE:
                break
            edited_ns = self._ports.edited_ns(place.name)
            silence_s = self._silence_ms / 1_000
            if place.is_due(now_s, every_s=self._every_s, silence_s=silence_s, edited_ns=edited_ns):
                self._start(place, now_s, edited_ns)
        return troubles

    def _start(self, place: SavedTree, now_s: float, edited_ns: int) -> None:
        place.looked_at_s, place.edited_ns, place.is_saving = now_s, edited_ns, True
        self._running += 1
        self._ports.start(lambda: self._save(place), f"save-{place.name}")

    def _save(self, place: SavedTree) -> None:
        saved, trouble = 0, None
        try:
            for work in place.works:
                taken = self._ports.saved.take(
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
                    place.active_at_s = self._ports.monotonic()
            elif place.name in self._places and (trouble := self._failed(place, error)):
                troubles.append(trouble)
        return troubles

    def _failed(self, place: SavedTree, error: Exception) -> str:
        """One that cannot be saved is tried again, less and less often; the others are not kept waiting.
        Empty the first time: it may be on its way out, and off the list before it is tried again."""
        place.failures += 1
        rest_s = min(LONGEST_REST_S, self._every_s * 2**place.failures)
        place.rest_until_s = self._ports.monotonic() + rest_s
        if place.failures == 1:
            return ""
        return f"{place.name}: {error.what if isinstance(error, Refusal) else error}"

    def close(self, within_s: float) -> None:
        """What is being saved is given time to end; killed, it leaves nothing half done."""
        deadline = self._ports.monotonic() + within_s
        while self._running and (left_s := deadline - self._ports.monotonic()) > 0:
            self._collect(left_s)
