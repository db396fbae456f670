"""What the store knows about unmerged work: who works in which worktree, and what the queue has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.worktrees.snapshots import work_in
from lineclear.core.agents.names import is_main_tree
from lineclear.core.log.queries import any_of, by_key
from lineclear.core.log.tables import AGENT, CANDIDATE, WORKTREE
from lineclear.core.queue.candidates import LANDED, LIVE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.app.ports import Presence, Store, View
    from lineclear.app.worktrees.saver import LiveTree

# Older landings are found in main's history, or their branches are too old to count.
_MOST_LANDED = 500


@dataclass(frozen=True, slots=True)
class Owner:
    """Who works in a worktree: "" for nobody known; and on which task, 0 for none."""

    agent: str = ""
    task: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownWork:
    """`owners`: the store's name of a worktree -> its owner. `landed`: the tips of branches that the queue
    landed, also where main has their content in another commit. `queued`: branch -> its task, of the
    candidates that wait."""

    owners: dict[str, Owner]
    landed: frozenset[str]
    queued: dict[str, int]


def known_work(store: Store, presence: Presence, trees: Iterable[LiveTree], *, silence_ms: int) -> KnownWork:
    wanted = list(trees)

    def look(view: View) -> KnownWork:
        view.prefetch(
            *(any_of(AGENT, "tree", tree.name) for tree in wanted),
            *(by_key(WORKTREE, tree.name) for tree in wanted),
        )
        landed = view.scan(CANDIDATE, "state", (LANDED,), limit=_MOST_LANDED, reverse=True)
        waiting = [row for state in LIVE for row in view.scan(CANDIDATE, "state", (state,))]
        return KnownWork(
            owners={tree.name: _owner(view, presence, tree, silence_ms) for tree in wanted},
            landed=frozenset(row.tip for row in landed),
            queued={row.branch: row.task for row in waiting},
        )

    return store.read(look)


def _owner(view: View, presence: Presence, tree: LiveTree, silence_ms: int) -> Owner:
    """The agent at work there; in a worktree of its own, also one that has left."""
    works = work_in(view, presence, tree.name, tree.path, silence_ms)
    if works:
        idle_ns = {work.agent: presence.idle_ns(work.agent) for work in works}
        latest = min(works, key=lambda work: (idle_ns[work.agent] is None, idle_ns[work.agent] or 0))
        return Owner(latest.agent, latest.task)
    if is_main_tree(tree.name):
        return Owner()
    row = view.get(WORKTREE, (tree.name,))
    task = row.task if row is not None else 0
    if row is not None and row.agent:
        return Owner(row.agent, task)
    gone = [
        agent
        for agent in view.pick(AGENT, "tree", (tree.name,))
        if agent.kind == "agent" and "/" not in agent.name
    ]
    return Owner(max(gone, key=lambda agent: agent.joined).name if gone else "", task)
