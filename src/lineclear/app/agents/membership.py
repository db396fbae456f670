"""Use cases for membership: join, inherit a dead session's agent, leave."""

from __future__ import annotations

from lineclear.app.agents.dead_agents import free_agent
from lineclear.app.operations import once
from lineclear.core.agents.identity import COUNTING, next_name
from lineclear.core.agents.names import is_main_tree
from lineclear.core.log.events import Draft
from lineclear.core.log.queries import any_of
from lineclear.core.log.tables import AGENT, LOG, WORKTREE
from lineclear.core.words.refusals import not_found, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller, Presence, Store, Tx, View
    from lineclear.core.log.tables import Agent

# A session that was silent for so long counts as dead when a new one asks for its place.
SESSION_SILENCE_MS = 10 * 60_000


def ensure_agent(tx: Tx, caller: Caller) -> Agent:
    """The caller's row. Logs that it joined, if it is new, had left, or has another place or session now."""
    agent = tx.get(AGENT, (caller.name,))
    if agent is not None and agent.state == "here" and _is_same_place(agent, caller):
        return agent
    kind = "person" if caller.is_person else "agent"
    tx.append(
        Draft(
            "AgentJoined",
            f"agent:{caller.name}",
            kind=agent.kind if agent is not None else kind,
            client=caller.client or (agent.client if agent is not None else ""),
            tree=caller.tree,
            session=caller.session or (agent.session if agent is not None else ""),
            bond=caller.bond or (agent.bond if agent is not None else ""),
            incarnation=agent.incarnation + 1 if agent is not None else 1,
        )
    )
    joined = tx.get(AGENT, (caller.name,))
    if joined is None:
        raise RuntimeError("an agent that joined is not there")
    return joined


def _is_same_place(agent: Agent, caller: Caller) -> bool:
    return (
        # People move between worktrees all the time; an agent that moves is worth an event.
        (agent.kind == "person" or agent.tree == caller.tree)
        and caller.session in ("", agent.session)
        and caller.client in ("", agent.client)
        and caller.bond in ("", agent.bond)
    )


def name_for_session(
    view: View, presence: Presence, client: str, session: str, tree: str, silence_ms: int = SESSION_SILENCE_MS
) -> str:
    """The name of the agent that a client's session is.

    A known session keeps its agent. A new session takes over an agent of the same client and worktree whose
    own session is over or silent; otherwise it is a new agent. A client that names no session is one agent
    per worktree.
    """
    by_session = [any_of(AGENT, "session", session)] if session else []
    view.prefetch(*by_session, any_of(AGENT, "tree", tree))
    if session:
        for agent in view.pick(AGENT, "session", (session,)):
            if client not in COUNTING or clone_of(agent.tree) == clone_of(tree):
                return agent.name
    # A sub-agent has no session of its own to take over.
    here = [
        a
        for a in view.pick(AGENT, "tree", (tree,))
        if a.kind == "agent" and a.client == client and "/" not in a.name
    ]
    for agent in sorted(here, key=lambda a: -a.joined):
        is_silent = _silent_ns(view, presence, agent) > silence_ms * 1_000_000
        if not session or agent.state == "gone" or not agent.session or is_silent:
            return agent.name
    heir = _owner_without_session(view, tree, client) if session else ""
    return heir or next_name(client or "agent", {agent.name for agent in view.scan(AGENT, "key")})


def parent_in_tree(view: View, tree: str, client: str) -> str:
    """The agent of this client in the worktree that has sub-agents; "" if none has."""
    agents = view.pick(AGENT, "tree", (tree,))
    found = (a.name for a in agents if a.client == client and a.state == "here" and "/" in a.name)
    return next(found, "").rpartition("/")[0]


def clone_of(tree: str) -> str:
    """The clone's part of a worktree's name; "" in a store that only one clone uses."""
    return tree.rpartition("/")[0]


def _silent_ns(view: View, presence: Presence, agent: Agent) -> int:
    """The time since the agent's last sign of life on this host; before the first one, since it joined."""
    idle_ns = presence.idle_ns(agent.name)
    if idle_ns is not None:
        return idle_ns
    joined = view.get(LOG, (agent.joined,))
    return view.now.wall_ns - joined.at_ns if joined is not None else view.now.wall_ns


def _owner_without_session(view: View, tree: str, client: str) -> str:
    """The agent for which this worktree was made, if it has had no session yet; else ""."""
    row = view.get(WORKTREE, (tree,))
    if row is None or not row.agent:
        return ""
    owner = view.get(AGENT, (row.agent,))
    is_free = owner is None or (owner.kind == "agent" and not owner.session and owner.client in ("", client))
    return row.agent if is_free else ""


def agent_of_tree(view: View, tree: str) -> str:
    """The only live agent of a linked worktree; "" if there are several, and for the main tree."""
    if is_main_tree(tree):
        return ""
    live = [a for a in view.pick(AGENT, "tree", (tree,)) if a.kind == "agent" and a.state == "here"]
    here = [a.name for a in live if not any(a.name.startswith(other.name + "/") for other in live)]
    return here[0] if len(here) == 1 else ""


def list_agents(view: View, presence: Presence) -> list[dict[str, Any]]:
    """Everybody who ever joined, and how long ago this host last saw a sign of life."""
    shown = []
    for agent in view.scan(AGENT, "key"):
        idle_ns = presence.idle_ns(agent.name)
        shown.append(
            {
                "name": agent.name,
                "kind": agent.kind,
                "client": agent.client,
                "tree": agent.tree,
                "state": agent.state,
                "incarnation": agent.incarnation,
                "idle_seconds": None if idle_ns is None else idle_ns // 1_000_000_000,
            }
        )
    return shown


def leave(store: Store, caller: Caller, name: str, why: str) -> dict[str, Any]:
    """End an agent's presence and free its claims, tickets and taken tasks."""
    if name != caller.name and not caller.is_person:
        raise refuse("person.only", what="end another agent", agent=caller.name)

    def work(tx: Tx) -> dict[str, Any]:
        agent = tx.get(AGENT, (name,))
        if agent is None:
            raise not_found("agent", name, "lineclear")
        return {"agent": name, "freed": free_agent(tx, name, why)}

    return once(store, caller, "agent leave", {"name": name, "why": why}, work)
