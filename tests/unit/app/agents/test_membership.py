"""Use cases around agents: registering, incarnations, who inherits whose place, leaving, the dead."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.app import tasks
from lineclear.app.agents import membership as agents
from lineclear.app.agents.dead_agents import free_dead_agents
from lineclear.app.agents.membership import SESSION_SILENCE_MS
from lineclear.app.ports import Caller
from lineclear.core.log.tables import AGENT, CLAIM, TASK, WAIT, Agent
from lineclear.core.tasks.lists import TaskDraft
from lineclear.core.tasks.states import OPEN
from lineclear.core.words.row import NOT_ALLOWED, NOT_FOUND
from tests.world import World, refused

PAT = Caller("pat", is_person=True)


@pytest.fixture
def world() -> World:
    return World()


def act(world: World, name: str, **where: Any) -> Agent:
    """Any act of a caller: it is registered by it."""
    caller = Caller(name, **where)
    return world.store.transact(caller, lambda tx: agents.ensure_agent(tx, caller))


def row(world: World, name: str) -> Agent:
    agent = world.store.read(lambda view: view.get(AGENT, (name,)))
    assert agent is not None
    return agent


def incarnations(world: World) -> list[int]:
    return [body["incarnation"] for _, body in world.events("AgentJoined")]


# -- incarnations -----------------------------------------------------------------------------


def test_a_name_is_registered_by_its_first_act_and_not_again(world: World) -> None:
    agent = act(world, "ann", client="codex", tree="w1", session="s1", bond="b1")
    for where in ({}, {"client": "codex"}, {"session": "s1"}, {"bond": "b1"}):
        act(world, "ann", tree="w1", **where)
    assert incarnations(world) == [1]
    assert agent.as_dict() == {
        "name": "ann",
        "kind": "agent",
        "client": "codex",
        "tree": "w1",
        "session": "s1",
        "state": "here",
        "incarnation": 1,
        "bond": "b1",
        "joined": agent.joined,
    }


@pytest.mark.parametrize(
    "change",
    [{"session": "s2"}, {"client": "claude"}, {"bond": "b2"}, {"tree": "w2"}],
    ids=lambda c: next(iter(c)),
)
def test_a_new_session_client_process_or_worktree_is_the_next_incarnation(
    world: World, change: dict[str, str]
) -> None:
    known = {"client": "codex", "tree": "w1", "session": "s1", "bond": "b1"}
    act(world, "ann", **known)
    agent = act(world, "ann", **(known | change))
    assert agent.incarnation == 2
    assert {name: getattr(agent, name) for name in known} == known | change


def test_a_person_who_walks_to_another_worktree_is_no_news(world: World) -> None:
    act(world, "pat", is_person=True, tree="main")
    act(world, "pat", is_person=True, tree="w1")
    assert (incarnations(world), row(world, "pat").kind) == ([1], "person")


def test_who_left_is_here_again_by_its_next_act(world: World) -> None:
    act(world, "ann", session="s1", bond="b1", client="codex")
    agents.leave(world.store, Caller("ann"), "ann", "done")
    gone = row(world, "ann")
    assert (gone.state, gone.session, gone.bond) == ("gone", "", "")
    back = act(world, "ann", session="s1")
    assert (back.state, back.incarnation, back.client, back.session) == ("here", 2, "codex", "s1")


def test_an_incarnation_keeps_what_it_held(world: World) -> None:
    act(world, "ann", session="s1")
    world.ask("ann", "src/a.py")
    act(world, "ann", session="s2")
    assert world.holders("src/a.py") == ["ann"]


# -- inheritance ------------------------------------------------------------------------------

SILENT, BUSY, GONE, UNHEARD = "silent", "busy", "gone", "unheard"

# (client, tree, session, how it is) of the agent that is there; (client, tree, session) that asks; its name
INHERITANCE = [
    # The session it was.
    (("claude", "w1", "s1", BUSY), ("claude", "w1", "s1"), "claude-1"),
    (("claude", "w1", "s1", BUSY), ("claude", "w2", "s1"), "claude-1"),
    # The heir of a dead one, in the same place with the same client.
    (("claude", "w1", "s1", SILENT), ("claude", "w1", "s2"), "claude-1"),
    (("claude", "w1", "s1", UNHEARD), ("claude", "w1", "s2"), "claude-1"),
    (("claude", "w1", "s1", GONE), ("claude", "w1", "s2"), "claude-1"),
    (("claude", "w1", "", BUSY), ("claude", "w1", "s2"), "claude-1"),
    (("claude", "main", "s1", SILENT), ("claude", "main", "s2"), "claude-1"),
    # Two live ones are two agents.
    (("claude", "w1", "s1", BUSY), ("claude", "w1", "s2"), "claude-2"),
    (("claude", "main", "s1", BUSY), ("claude", "main", "s2"), "claude-2"),
    # Another place or another client is another agent.
    (("claude", "w1", "s1", SILENT), ("claude", "w2", "s2"), "claude-2"),
    (("claude", "w1", "s1", SILENT), ("codex", "w1", "s2"), "codex-1"),
    (("", "w1", "s1", SILENT), ("claude", "w1", "s2"), "claude-2"),
    # A client that names no session is one agent per worktree.
    (("claude", "w1", "s1", BUSY), ("claude", "w1", ""), "claude-1"),
    (("claude", "w1", "s1", BUSY), ("claude", "w2", ""), "claude-2"),
    (("", "w1", "", BUSY), ("", "w2", ""), "agent-1"),
    # One that counts its sessions has the same ids on every machine.
    (("goose", "one/main", "s1", BUSY), ("goose", "one/w1", "s1"), "claude-1"),
    (("goose", "one/main", "s1", BUSY), ("goose", "two/main", "s1"), "goose-1"),
    (("claude", "one/main", "s1", BUSY), ("claude", "two/main", "s1"), "claude-1"),
]


@pytest.mark.parametrize(("there", "asking", "expected"), INHERITANCE)
def test_which_agent_a_session_is(
    world: World, there: tuple[str, str, str, str], asking: tuple[str, str, str], expected: str
) -> None:
    client, tree, session, how = there
    act(world, "claude-1", client=client, tree=tree, session=session)
    if how != UNHEARD:
        world.presence.touch("claude-1")
    if how == GONE:
        agents.leave(world.store, PAT, "claude-1", "gone")
    world.clock.advance(SESSION_SILENCE_MS + (1 if how in (SILENT, UNHEARD) else 0))
    client, tree, session = asking
    name = world.store.read(lambda view: agents.name_for_session(view, world.presence, client, session, tree))
    assert name == expected


def test_the_newest_of_several_silent_ones_is_inherited_and_a_person_never(world: World) -> None:
    act(world, "claude-1", client="claude", tree="w1", session="s1")
    act(world, "claude-2", client="claude", tree="w1", session="s2")
    act(world, "pat", client="claude", tree="w1", is_person=True)
    world.clock.advance(SESSION_SILENCE_MS + 1)
    name = world.store.read(lambda view: agents.name_for_session(view, world.presence, "claude", "s3", "w1"))
    assert name == "claude-2"


def test_one_that_has_just_joined_is_nobodys_to_inherit(world: World) -> None:
    """It is entered first and gives its first sign of life after that; a session that begins in between
    is another one."""
    act(world, "claude-1", client="claude", tree="w1", session="s1")
    name = world.store.read(lambda view: agents.name_for_session(view, world.presence, "claude", "s2", "w1"))
    assert name == "claude-2"


def test_an_agent_of_another_name_keeps_it_for_its_heir(world: World) -> None:
    act(world, "painter", client="claude", tree="w1", session="s1")
    world.clock.advance(SESSION_SILENCE_MS + 1)
    name = world.store.read(lambda view: agents.name_for_session(view, world.presence, "claude", "s2", "w1"))
    assert name == "painter"


@pytest.mark.parametrize(
    ("there", "tree", "expected"),
    [
        ([("ann", "w1")], "w1", "ann"),
        ([("ann", "w1")], "w2", ""),
        ([("ann", "w1"), ("bob", "w1")], "w1", ""),
        ([("ann", "main")], "main", ""),
        ([("pat", "w1")], "w1", ""),
        ([("gone", "w1")], "w1", ""),
    ],
)
def test_a_linked_worktree_belongs_to_its_one_live_agent(
    world: World, there: list[tuple[str, str]], tree: str, expected: str
) -> None:
    for name, place in there:
        act(world, name, tree=place, is_person=name == "pat")
    if ("gone", "w1") in there:
        agents.leave(world.store, Caller("gone"), "gone", "done")
    assert world.store.read(lambda view: agents.agent_of_tree(view, tree)) == expected


# -- leaving and dying ------------------------------------------------------------------------


def busy_ann(world: World, bond: str = "") -> None:
    """Ann holds a claim and a task, and stands in line for what bob holds."""
    tasks.add(world.store, PAT, TaskDraft("1", "login"))
    act(world, "ann", bond=bond)
    world.ask("ann", "src/a.py")
    tasks.take(world.store, world.liveness, Caller("ann"))
    world.ask("bob", "src/b.py")
    world.stand_in_line("ann", "src/b.py")


def test_who_leaves_frees_everything_it_had(world: World) -> None:
    busy_ann(world)
    answer = agents.leave(world.store, Caller("ann"), "ann", "finished")
    assert answer == {"agent": "ann", "freed": ["file:src/a.py", "T-1"]}
    assert world.store.read(lambda view: view.scan(WAIT, "key")) == []
    assert [claim.agent for claim in world.store.read(lambda view: view.scan(CLAIM, "key"))] == ["bob"]
    assert [task.state for task in world.store.read(lambda view: view.scan(TASK, "key"))] == [OPEN]
    assert world.events("ClaimReleased")[0][1]["why"] == "finished"
    assert world.findings() == []


def test_only_a_person_ends_another_agent(world: World) -> None:
    act(world, "ann")
    with refused("person.only") as caught:
        agents.leave(world.store, Caller("bob"), "ann", "in my way")
    assert caught.value.exit_code == NOT_ALLOWED
    agents.leave(world.store, PAT, "ann", "stopped")
    assert row(world, "ann").state == "gone"


def test_nobody_is_ended_who_was_never_here(world: World) -> None:
    with refused("agent.unknown") as caught:
        agents.leave(world.store, PAT, "ann", "stopped")
    assert caught.value.exit_code == NOT_FOUND


def test_an_agent_is_freed_by_the_death_of_its_process(world: World) -> None:
    busy_ann(world, bond="agent-1")
    assert free_dead_agents(world.store, PAT, world.liveness) == []
    world.liveness.dead.add("agent-1")
    assert free_dead_agents(world.store, PAT, world.liveness) == ["ann"]
    assert (row(world, "ann").state, world.holders("src/")) == ("gone", ["bob"])
    assert free_dead_agents(world.store, PAT, world.liveness) == []
    assert world.findings() == []


def test_an_agent_without_a_bond_lives_by_its_leases(world: World) -> None:
    busy_ann(world)
    world.liveness.dead.add("")
    assert free_dead_agents(world.store, PAT, world.liveness) == []
    assert world.holders("src/a.py") == ["ann"]
