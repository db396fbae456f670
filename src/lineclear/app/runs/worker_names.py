"""Names for a supervisor's workers that no other clone uses in the same store.

Agents belong to the store, but each clone counts its own workers: `worker-1` on two machines would be one
agent that holds both machines' claims and ends both machines' tasks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lineclear.app.agents.dead_agents import free_agent
from lineclear.app.agents.membership import clone_of, ensure_agent
from lineclear.app.ports import Caller
from lineclear.core.agents.names import clone_suffixes
from lineclear.core.log.tables import AGENT
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.app.ports import Store, Tx, View


def own_names(store: Store, names: Sequence[str], scope: str) -> list[str]:
    """The names, all with the same suffix if another clone already has one of them.

    `scope`: the clone's prefix of worktree names in a team's store; "" if no other clone uses the store. A
    name becomes this clone's by joining from one of its worktrees, so two clones that start at once cannot
    both get it.
    """
    if not scope:
        return list(names)
    clone = scope.removesuffix("/")
    for suffix in clone_suffixes(clone):
        wanted = [name + suffix for name in names]
        if store.read(partial(_may_use_all, wanted, clone)) and all(
            _reserve(store, name, clone) for name in wanted
        ):
            return wanted
    raise refuse("input.bad", name="workers", given=names[0], why="other clones have all names like it")


def _may_use_all(names: Sequence[str], clone: str, view: View) -> bool:
    return all(_may_use(view, name, clone) for name in names)


def _may_use(view: View, name: str, clone: str) -> bool:
    agent = view.get(AGENT, (name,))
    return agent is None or clone_of(agent.tree) == clone


def _reserve(store: Store, name: str, clone: str) -> bool:
    """Join and leave at once if the name is new: its row says from then on whose it is."""
    caller = Caller(name, tree=f"{clone}/main")

    def work(tx: Tx) -> bool:
        if tx.get(AGENT, (name,)) is None:
            ensure_agent(tx, caller)
            free_agent(tx, name, "its name is kept for its clone")
        return _may_use(tx, name, clone)

    return store.transact(caller, work)
