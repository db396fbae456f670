"""Whose work meets in a conflict: what git tells of commits, and what the store knows of them. Reads only."""

from __future__ import annotations

from lineclear.core.log.tables import CANDIDATE, TASK, WORKTREE
from lineclear.core.queue.sides import LEFT, MOST_PER_SIDE, RIGHT, Owner, hands_of, is_about, owner_in
from lineclear.core.tasks.states import TAKEN, show_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from lineclear.app.ports import View
    from lineclear.core.queue.sides import Hand, Touch

# As far back as git is asked for steps; older landings tell their task themselves.
MOST_CANDIDATES = 1_000
NOBODY = Owner()


class Side:
    """The steps of one side, and whose branch it is: what is told of a commit that names nobody itself."""

    __slots__ = ("owner", "touches")

    def __init__(self, touches: Sequence[Touch], owner: Owner = NOBODY) -> None:
        self.touches, self.owner = touches, owner


def with_sides(
    view: View | None, conflicts: Iterable[dict[str, Any]], left: Side, right: Side
) -> list[dict[str, Any]]:
    """Each conflict with `sides`: who changed its paths on each one, a few, newest first. Without a store
    it is what the commits say."""
    known = known_owners(view, (*left.touches, *right.touches))
    told = []
    for conflict in conflicts:
        sides = {}
        for name, side in ((LEFT, left), (RIGHT, right)):
            about = [touch for touch in side.touches if is_about(touch, conflict)]
            found = hands(view, about, known, side.owner)
            sides[name] = [hand.as_data() for hand in found[:MOST_PER_SIDE]]
        told.append({**conflict, "sides": sides})
    return told


def hands(
    view: View | None, touches: Iterable[Touch], known: dict[str, Owner], owner: Owner = NOBODY
) -> list[Hand]:
    """The store's word counts more than the commit's own; a task's title is the store's."""

    def title_of(number: int) -> str:
        row = view.get(TASK, (number,)) if view is not None else None
        return row.title if row is not None else ""

    return hands_of(touches, lambda touch: known.get(touch.commit) or owner_in(touch) or owner, title_of)


def known_owners(view: View | None, touches: Iterable[Touch]) -> dict[str, Owner]:
    """Of those commits that the queue brought to main, or was given."""
    commits = {touch.commit for touch in touches}
    if view is None or not commits:
        return {}
    found: dict[str, Owner] = {}
    for row in view.scan(CANDIDATE, "key", reverse=True, limit=MOST_CANDIDATES):
        for commit in (row.commit, row.tip):
            if commit in commits:
                found.setdefault(commit, owner_from(row.task, row.agent))
    return {commit: owner for commit, owner in found.items() if owner}


def owner_from(task: int, agent: str) -> Owner:
    return Owner(show_id(task) if task else "", agent)


def owner_of_branch(view: View, branch: str) -> Owner:
    """By its worktree, else by what was last submitted of it; nobody for a branch that is a person's."""
    if not branch:
        return NOBODY
    known = [(tree.task, tree.agent) for tree in view.scan(WORKTREE, "key") if tree.branch == branch]
    submitted = view.scan(CANDIDATE, "branch", (branch,), reverse=True, limit=1)
    known += [(row.task, row.agent) for row in submitted]
    agent = next((agent for _, agent in known if agent), "")
    return owner_from(next((task for task, _ in known if task), 0) or _only_task(view, agent), agent)


def _only_task(view: View, agent: str) -> int:
    """What the agent works on now; 0 where that is nothing, or several things."""
    taken = [row.id for row in view.scan(TASK, "ready", (TAKEN,)) if row.agent == agent] if agent else []
    return taken[0] if len(taken) == 1 else 0
