"""Log the end of leases that ran out or whose process died. A long-running process does this regularly.

Commands do the same, by the same rules, when they meet such a lease. Agents of live runs are left alone:
their supervisor finds out how the run ended, and its result may be good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.agents.dead_agents import dead_agents, free_agent, is_unstarted
from lineclear.app.runs.records import LIVE, live_runs
from lineclear.app.tasks import is_gone
from lineclear.core.claims.leases import end_lapsed as end_lapsed_claims
from lineclear.core.log.queries import by_index
from lineclear.core.log.tables import AGENT, CLAIM, RUN, TASK
from lineclear.core.tasks.states import TAKEN
from lineclear.core.tasks.states import end_lapsed as end_lapsed_tasks

if TYPE_CHECKING:
    from lineclear.app.ports import Caller, Liveness, Store, Tx, View
    from lineclear.core.log.events import Draft


@dataclass(frozen=True, slots=True)
class Lapse:
    """`ended`: how many leases were ended. `next_ms`: the time until the next one runs out, -1 if none
    will. `can_die`: a process holds something, and may die without an event."""

    ended: int
    next_ms: int
    can_die: bool


def end_leases(store: Store, liveness: Liveness, caller: Caller) -> Lapse:
    """End every claim and task lease that ran out or whose process died. Writes only if there is one."""

    def work(tx: Tx) -> int:
        freed = [free_agent(tx, name, "gone") for name in _dead(tx, liveness)]
        drafts = [tx.append(draft) for draft in _lapsed(tx, liveness)[0]]
        return len(drafts) + sum(map(len, freed))

    def look(view: View) -> tuple[bool, int, bool]:
        view.prefetch(
            by_index(AGENT, "key"),
            by_index(CLAIM, "key"),
            by_index(TASK, "ready", TAKEN),
            *[by_index(RUN, "state", state) for state in LIVE],
        )
        bound = [agent.bond for agent in view.scan(AGENT, "key") if agent.state == "here"]
        bound += [claim.bond for claim in view.scan(CLAIM, "key")]
        drafts, next_ms = _lapsed(view, liveness)
        return bool(drafts or _dead(view, liveness)), next_ms, any(bound)

    is_due, next_ms, can_die = store.read(look)
    return Lapse(store.transact(caller, work) if is_due else 0, next_ms, can_die)


def _dead(view: View, liveness: Liveness) -> list[str]:
    running = {run.agent for run in live_runs(view)}
    return [name for name in dead_agents(view, liveness.is_dead) if name not in running]


def _lapsed(view: View, liveness: Liveness) -> tuple[list[Draft], int]:
    """(the events for leases that are over, the time until the next one is)."""
    drafts: list[Draft] = []
    claims = end_lapsed_claims(view.scan(CLAIM, "key"), view.now, liveness.is_dead, drafts)
    taken, running = view.scan(TASK, "ready", (TAKEN,)), {run.agent for run in live_runs(view)}
    drafts += end_lapsed_tasks(
        taken,
        view.now,
        lambda name: name not in running and is_gone(view, liveness, name),
        lambda task: is_unstarted(view, task),
    )
    ends_ns = [claim.until_ns for claim in claims]
    ends_ns += [task.until_ns for task in taken if task.until_ns > view.now.tick_ns]
    return drafts, view.now.ms_until(min(ends_ns)) if ends_ns else -1
