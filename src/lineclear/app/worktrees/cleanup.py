"""What the store knows about things that may be cleared away: who is at work where, what is still needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.instants import show_duration
from lineclear.core.log.tables import AGENT, RUN, TASK, WORKTREE
from lineclear.core.runs.states import ENDED
from lineclear.core.tasks.states import FINISHED

if TYPE_CHECKING:
    from lineclear.app.ports import Liveness, Presence, View
    from lineclear.core.log.tables import Agent, Run, Worktree


class Known:
    """One consistent look at the store."""

    def __init__(self, view: View) -> None:
        self.now_ns = view.now.wall_ns
        self.rows: dict[str, Worktree] = {row.name: row for row in view.scan(WORKTREE, "key")}
        self.agents: dict[str, Agent] = {agent.name: agent for agent in view.scan(AGENT, "key")}
        self.runs: dict[int, Run] = {run.id: run for run in view.scan(RUN, "key")}
        self.used = {run.tree for run in self.runs.values()}
        self.branches = {row.branch: f"the worktree {row.name}" for row in self.rows.values() if row.branch}
        for task in view.scan(TASK, "key"):
            if task.branch and task.state not in FINISHED:
                self.branches[task.branch] = f"task T-{task.id}"

    def in_use(self, tree: str, liveness: Liveness, presence: Presence, silence_ms: int) -> str:
        """Who works in a worktree, in words; "" when nobody does any more."""
        for run in self.runs.values():
            if run.tree == tree and run.state != ENDED:
                return f"run {run.id} of {run.agent} is still active"
        row = self.rows.get(tree)
        names = {
            agent.name for agent in self.agents.values() if agent.tree == tree and agent.kind != "person"
        }
        for name in sorted(names | ({row.agent} if row is not None and row.agent else set())):
            words = self._is_here(name, liveness, presence, silence_ms)
            if words:
                return words
        return ""

    def _is_here(self, name: str, liveness: Liveness, presence: Presence, silence_ms: int) -> str:
        agent = self.agents.get(name)
        if agent is None or agent.state != "here":
            return ""
        if agent.bond:
            return "" if liveness.is_dead(agent.bond) else f"{name} is alive"
        idle_ns = presence.idle_ns(name)
        if idle_ns is not None and idle_ns < silence_ms * 1_000_000:
            return f"{name} was active {show_duration(idle_ns // 1_000_000)} ago"
        return ""

    def was_used(self, tree: str, presence: Presence) -> bool:
        """Has anybody worked there? One that was made for later waits for its agent."""
        row = self.rows.get(tree)
        return tree in self.used or (row is not None and presence.idle_ns(row.agent) is not None)
