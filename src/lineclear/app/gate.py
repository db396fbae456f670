"""Use case of the gate: the facts near each changed path, and the rule's word on it. Writes nothing."""

from __future__ import annotations

from lineclear.app.agents import agent_of_tree
from lineclear.app.claims import claims_near, fences_near
from lineclear.app.phases import phase_of
from lineclear.core.gate import Finding, Standing, judge_path, judge_place
from lineclear.core.strategies import strategy_for
from lineclear.core.tables import AGENT, WORKTREE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.ports import Liveness, Store, View
    from lineclear.core.resources import Resource
    from lineclear.core.strategies import Rule

# A commit that touches more is judged by its first ones: one refusal is enough.
MOST_FINDINGS = 20


def standing_of(view: View, agent: str, tree: str, fence: int = 0) -> Standing:
    """Who stands where: a worktree belongs to the agent it was made for, else to the one agent in it."""
    row = view.get(WORKTREE, (tree.rpartition("/")[2],))
    owner = row.agent if row is not None and row.agent else agent_of_tree(view, tree)
    known = view.get(AGENT, (agent,))
    since = row.made if row is not None else known.joined if known is not None else 0
    return Standing(agent, tree=tree, tree_agent=owner, since=since, fence=fence, phase=phase_of(view))


def standing_at_landing(view: View, agent: str) -> Standing:
    """The one whose branch it is; where it stood is not asked again."""
    rows = view.pick(WORKTREE, "agent", (agent,))
    since = min((row.made for row in rows), default=0)
    return Standing(agent, since=since, phase=phase_of(view), is_landing=True)


def examine(
    store: Store,
    liveness: Liveness,
    stand: Callable[[View], Standing],
    resources: Sequence[Resource],
    rules: list[Rule],
) -> list[Finding]:
    """What of these files the agent may not bring in."""

    def look(view: View) -> list[Finding]:
        standing = stand(view)
        foreign = judge_place(standing, [resource.path for resource in resources])
        found = [foreign] if foreign is not None else []
        for resource in resources if foreign is None else ():
            sharing = strategy_for(resource, rules)
            claims, marks = claims_near(view, resource), fences_near(view, resource)
            refusal = judge_path(standing, resource, sharing, claims, marks, view.now, liveness.is_dead)
            if refusal is not None:
                found.append(Finding(resource.path, refusal))
            if len(found) >= MOST_FINDINGS:
                break
        return found

    return store.read(look)
