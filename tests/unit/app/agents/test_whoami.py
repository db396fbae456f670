"""Who the caller of a door is, from its environment, its place and what the store knows."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.agents.whoami import identify
from lineclear.app.ports import Caller
from tests.world import World, refused

SESSION = {"CLAUDE_CODE_SESSION_ID": "s1"}


@pytest.fixture
def world() -> World:
    return World()


def caller(world: World, environ: dict[str, str] | None = None, **how: Any) -> Caller:
    how.setdefault("tree", "main")
    return identify(world.store, world.presence, environ=environ or {}, person="pat", **how)


def act(world: World, who: Caller) -> None:
    world.store.transact(who, lambda tx: ensure_agent(tx, who))


def test_somebody_at_the_keyboard_is_the_person(world: World) -> None:
    who = caller(world, op="op-1", keep_ms=7)
    assert (who.name, who.is_person, who.client, who.session) == ("pat", True, "", "")
    assert (who.op, who.keep_ms, who.tree) == ("op-1", 7, "main")


def test_a_new_session_gets_a_new_name_and_keeps_it(world: World) -> None:
    who = caller(world, SESSION)
    assert (who.name, who.is_person, who.client, who.session) == ("claude-1", False, "claude", "s1")
    act(world, who)
    assert caller(world, SESSION, tree="w1").name == "claude-1"
    world.presence.touch("claude-1")
    assert caller(world, {"CLAUDE_CODE_SESSION_ID": "s2"}).name == "claude-2"


def test_a_given_name_comes_first_and_is_not_tied_to_the_session(world: World) -> None:
    for who in (caller(world, SESSION, given="ann"), caller(world, SESSION | {"LINECLEAR_AGENT": "ann"})):
        assert (who.name, who.is_person, who.session) == ("ann", False, "")


def test_the_persons_name_in_an_agents_hands_is_refused(world: World) -> None:
    assert caller(world, given="pat").is_person is True
    for environ, given in (({"CLAUDECODE": "1"}, "pat"), ({"LINECLEAR_AGENT": "PAT"}, "")):
        with refused("agent.person"):
            caller(world, environ, given=given)


def test_in_an_agents_worktree_one_is_that_agent(world: World) -> None:
    act(world, Caller("painter", tree="w1"))
    assert caller(world, tree="w1").name == "painter"
    assert caller(world, {"GEMINI_CLI": "1"}, tree="w1").name == "painter"
    assert caller(world, tree="w2").name == "pat"


def test_what_was_delivered_to_an_agent_goes_with_its_acts(world: World) -> None:
    world.presence.touch("ann", 17)
    assert caller(world, given="ann").seen == 17


@pytest.mark.parametrize("name", ["all", "-n", "a b", "é", "a/b/c/d/e"])
def test_what_cannot_be_a_name_is_refused(world: World, name: str) -> None:
    with refused("input.bad"):
        caller(world, given=name)
