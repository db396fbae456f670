"""Agents whose process has died, or that left: what they held is freed, so that they block nobody.

A single claim of a dead process is ended by the decision that meets it (core/claims/leases.py).
"""

from __future__ import annotations

from lineclear.core.claims.leases import claim_released
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import AGENT, CLAIM, RUN, TASK, WAIT
from lineclear.core.runs.states import is_run_bond
from lineclear.core.tasks.states import TAKEN, give_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.ports import Caller, Liveness, Store, Tx, View
    from lineclear.core.log.tables import Task


def free_agent(tx: Tx, name: str, why: str) -> list[str]:
    """Release what the agent holds and waits for; returns the freed resources and tasks."""
    freed = []
    for claim in tx.pick(CLAIM, "key", (name,)):
        tx.append(claim_released(claim, why))
        freed.append(claim.resource)
    for wait in tx.scan(WAIT, "key"):
        if wait.agent == name:
            tx.append(Draft("WaitEnded", f"wait:{wait.ticket}", ticket=wait.ticket, why="gone"))
    for task in tx.scan(TASK, "ready", (TAKEN,)):
        if task.agent == name:
            tx.append(give_back(task, f"{name} is gone", is_unstarted=is_unstarted(tx, task)))
            freed.append(f"T-{task.id}")
    tx.append(Draft("AgentLeft", f"agent:{name}", why=why))
    return freed


def is_unstarted(view: View, task: Task) -> bool:
    """Did a supervisor take the task for a run that never began? Then no client was started."""
    agent = view.get(AGENT, (task.agent,))
    if agent is None or not is_run_bond(agent.bond):
        return False
    last = view.scan(RUN, "task", (task.id,), reverse=True, limit=1)
    return not last or last[0].bond != agent.bond


def free_dead_agents(store: Store, caller: Caller, liveness: Liveness) -> list[str]:
    """Free every agent that was bound to a process of this host which has died; returns their names. Agents
    without a bond live by their leases."""
    dead = store.read(lambda view: dead_agents(view, liveness.is_dead))
    if not dead:
        return []

    def work(tx: Tx) -> list[str]:
        still = [agent for agent in dead_agents(tx, liveness.is_dead) if agent in dead]
        for name in still:
            free_agent(tx, name, "gone")
        return still

    return store.transact(caller, work)


def dead_agents(view: View, is_dead: Callable[[str], bool]) -> list[str]:
    bound = [agent for agent in view.scan(AGENT, "key") if agent.state == "here" and agent.bond]
    return [agent.name for agent in bound if is_dead(agent.bond)]
