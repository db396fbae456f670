"""Leases that have ended become events although nobody asked: for a process that is there all the time.

The rules are those of the commands, which do the same whenever they come across such a lease. Only the dead
of a run are left alone: what became of it is for the supervisor to find out, and its result may be good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.agents.membership import dead_agents, free_agent
from lineclear.app.runs.records import live_runs
from lineclear.app.tasks import is_gone
from lineclear.core.claims.rules import end_lapsed as end_lapsed_claims
from lineclear.core.log.tables import CLAIM, TASK
from lineclear.core.tasks.states import TAKEN
from lineclear.core.tasks.states import end_lapsed as end_lapsed_tasks

if TYPE_CHECKING:
    from lineclear.app.ports import Caller, Liveness, Store, Tx, View
    from lineclear.core.log.events import Draft


@dataclass(frozen=True, slots=True)
class Lapse:
    """What was found: how many leases were ended, and when to look again.

    `next_ms` is the time until the next lease runs out, -1 when there is none.
    """

    ended: int
    next_ms: int


def end_leases(store: Store, liveness: Liveness, caller: Caller) -> Lapse:
    """End every claim and task lease that ran out or whose process died. Writes only if there are any."""

    def look(view: View) -> tuple[list[str], list[Draft], int]:
        dead = _dead(view, liveness)
        drafts, next_ms = _lapsed(view, liveness)
        return dead, drafts, next_ms

    def work(tx: Tx) -> int:
        freed = [free_agent(tx, name, "gone") for name in _dead(tx, liveness)]
        drafts = [tx.append(draft) for draft in _lapsed(tx, liveness)[0]]
        return len(drafts) + sum(map(len, freed))

    dead, drafts, next_ms = store.read(look)
    return Lapse(store.transact(caller, work) if dead or drafts else 0, next_ms)


def _dead(view: View, liveness: Liveness) -> list[str]:
    running = _running(view)
    return [name for name in dead_agents(view, liveness.is_dead) if name not in running]


def _running(view: View) -> set[str]:
    return {run.agent for run in live_runs(view)}


def _lapsed(view: View, liveness: Liveness) -> tuple[list[Draft], int]:
    drafts: list[Draft] = []
    claims = end_lapsed_claims(view.scan(CLAIM, "key"), view.now, liveness.is_dead, drafts)
    taken, running = view.scan(TASK, "ready", (TAKEN,)), _running(view)
    drafts += end_lapsed_tasks(
        taken, view.now, lambda name: name not in running and is_gone(view, liveness, name)
    )
    ends_ns = [claim.until_ns for claim in claims]
    ends_ns += [task.until_ns for task in taken if task.until_ns > view.now.tick_ns]
    return drafts, view.now.ms_until(min(ends_ns)) if ends_ns else -1
