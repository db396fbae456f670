"""Who is at work where, and what is still needed: what the store says to whoever clears away."""

from __future__ import annotations

import pytest

from lineclear.app import tasks
from lineclear.app.agents.membership import ensure_agent
from lineclear.app.ports import Caller
from lineclear.app.worktrees.cleanup import Known
from lineclear.core.log.events import Draft
from lineclear.core.tasks.lists import TaskDraft
from tests.world import HOUR_MS, MINUTE_MS, World

SILENCE_MS = 10 * MINUTE_MS


class Yard:
    """A world with worktrees and runs in it."""

    def __init__(self) -> None:
        self.world = World()

    def tree(self, name: str, agent: str, branch: str = "") -> None:
        self._append(
            agent or "sam", "WorktreeMade", name=name, path=f"/{name}", branch=branch, base="", agent=agent,
            task=0, origin="lineclear", port_first=0, port_count=0,
        )  # fmt: skip

    def run(self, agent: str, tree: str) -> int:
        return self._append(
            agent, "RunStarted", agent=agent, task=1, attempt=1, client="codex", model="", tree=tree,
            branch="", base="", bond="", token_hash="",
        )  # fmt: skip

    def end(self, run: int) -> None:
        self._append(
            "ada", "RunEnded", id=run, how="done", reason="", exit_code=0, tokens_in=-1, tokens_out=-1,
            cost_micros=-1, snapshot="",
        )  # fmt: skip

    def _append(self, actor: str, kind: str, **body: object) -> int:
        caller = Caller(actor)
        return self.world.store.transact(caller, lambda tx: tx.append(Draft(kind, "x", **body)).position)

    def arrive(self, agent: str, tree: str, bond: str = "") -> None:
        caller = Caller(agent, tree=tree, bond=bond)
        self.world.store.transact(caller, lambda tx: ensure_agent(tx, caller))

    def in_use(self, tree: str) -> str:
        known = self.world.store.read(Known)
        return known.in_use(tree, self.world.liveness, self.world.presence, SILENCE_MS)


@pytest.fixture
def yard() -> Yard:
    return Yard()


def test_a_worktree_with_a_run_that_is_not_over_is_in_use(yard: Yard) -> None:
    yard.tree("w", "ada")
    run = yard.run("ada", "w")
    assert yard.in_use("w") == f"run {run} of ada is still active"
    yard.end(run)
    assert yard.in_use("w") == ""


def test_an_agent_is_there_until_it_was_silent_for_long(yard: Yard) -> None:
    yard.tree("w", "ada")
    yard.arrive("ada", "w")
    yard.world.presence.touch("ada")
    yard.world.clock.advance(9 * MINUTE_MS)
    assert yard.in_use("w") == "ada was active 9 min ago"
    yard.world.clock.advance(2 * MINUTE_MS)
    assert yard.in_use("w") == ""


def test_an_agent_with_a_bond_is_there_as_long_as_its_process_lives(yard: Yard) -> None:
    yard.tree("w", "ada")
    yard.arrive("ada", "w", bond="host/agent-1")
    yard.world.clock.advance(HOUR_MS)
    assert yard.in_use("w") == "ada is alive"
    yard.world.liveness.dead.add("host/agent-1")
    assert yard.in_use("w") == ""


def test_a_guest_in_somebody_elses_worktree_counts(yard: Yard) -> None:
    yard.tree("w", "ada")
    yard.arrive("ben", "w")
    yard.world.presence.touch("ben")
    assert yard.in_use("w") == "ben was active 0 s ago"


def test_a_worktree_was_used_when_its_agent_was_seen_or_a_run_was_there(yard: Yard) -> None:
    for name in ("a", "b", "c"):
        yard.tree(name, name)
    yard.world.presence.touch("a")
    yard.end(yard.run("b", "b"))
    known = yard.world.store.read(Known)
    assert [known.was_used(name, yard.world.presence) for name in ("a", "b", "c")] == [True, True, False]


def test_branches_of_worktrees_and_unfinished_tasks_are_needed(yard: Yard) -> None:
    yard.tree("w", "ada", branch="lineclear/w")
    store, ada = yard.world.store, Caller("ada")
    for number in (1, 2):
        tasks.add(store, ada, TaskDraft("", f"Task {number}"), attempts_max=3)
        tasks.take(store, yard.world.liveness, ada, number=number, skills=frozenset(), lease_ms=HOUR_MS)
        tasks.finish(store, ada, number, branch=f"lineclear/T-{number}")
    tasks.finish(store, Caller("sam", is_person=True), 2)
    assert store.read(Known).branches == {
        "lineclear/w": "the worktree w",
        "lineclear/T-1": "task T-1",
    }
