"""Gather the facts near a write from the store, and ask core/claims/write_rule.py for its verdict.

Hooks load this module: it is cheap to import, and facts that only some writes need are read on demand.
"""

from __future__ import annotations

from lineclear.app.agents.membership import agent_of_tree
from lineclear.app.claims import claims_near, grants_near
from lineclear.core.claims.strategies import strategy_for
from lineclear.core.claims.write_rule import Near, OwnedTree, judge_write
from lineclear.core.log.tables import AGENT, WORKTREE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.ports import Liveness, View
    from lineclear.core.claims.strategies import Rule
    from lineclear.core.claims.write_rule import Write, WriteVerdict


def judge(view: View, liveness: Liveness, rules: list[Rule], write: Write) -> WriteVerdict:
    def bond_of(agent: str) -> str:
        row = view.get(AGENT, (agent,))
        return row.bond if row is not None else ""

    def read_phase() -> str:
        from lineclear.app.queue.phases import phase_of

        return phase_of(view)

    near = Near(
        claims_near(view, write.resource),
        view.now,
        is_dead=liveness.is_dead,
        bond_of=bond_of,
        read_phase=read_phase,
        read_marks=lambda: grants_near(view, write.resource, write.names, write.fence),
    )
    return judge_write(write, strategy_for(write.resource, rules), near)


def refuse_write(view: View, liveness: Liveness, rules: list[Rule], write: Write) -> None:
    refusal = judge(view, liveness, rules, write).refusal
    if refusal is not None:
        raise refusal


def tree_of(view: View, name: str) -> OwnedTree:
    """A worktree with its owner: the agent it was made for, else the only agent that works in it."""
    row = view.get(WORKTREE, (name,))
    return OwnedTree(name, row.agent if row is not None and row.agent else agent_of_tree(view, name))
