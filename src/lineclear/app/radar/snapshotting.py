"""Save the work of all worktrees that changed since their last snapshot, also of those without an agent."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from lineclear.app.radar.known_work import Owner
from lineclear.core.words.refusals import Refusal
from lineclear.core.worktrees.snapshots import AT_WORK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.radar.known_work import KnownWork
    from lineclear.app.worktrees.saved_work import SavedWork
    from lineclear.app.worktrees.saver import LiveTree

_AT_ONCE = 4


def save_all(
    saved: SavedWork, trees: Sequence[LiveTree], known: KnownWork, branch_of: Callable[[LiveTree], str]
) -> int:
    """How many snapshots were taken. Each worktree costs one `git status`. One that cannot be saved, for
    example because somebody is just removing it, is left out: the last snapshot counts."""

    def save(tree: LiveTree) -> bool:
        owner = known.owners.get(tree.name, Owner())
        agent = owner.agent or branch_of(tree) or tree.name.rpartition("/")[2]
        try:
            taken = saved.take(
                agent=agent, tree=tree.name, path=tree.path, why=AT_WORK, task=owner.task, if_new=True
            )
        except Refusal:
            return False
        return taken is not None

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return sum(pool.map(save, trees))
