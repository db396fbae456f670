"""Who acts: the table of cases of the one resolver, what an environment shows, and new names."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.core.agents.identity import (
    MARKS,
    SESSION_VARIABLES,
    Signs,
    next_name,
    read_environment,
    resolve,
)
from tests.world import refused

PERSON_TOKEN = {"token_name": "boss", "token_kind": "person"}
AGENT_TOKEN = {"token_name": "robot", "token_kind": "agent"}
KNOWN = {"session": "s1", "session_agent": "claude-3", "client": "claude"}
UNKNOWN = {"session": "s1", "client": "claude"}
MARKED = {"is_marked": True, "client": "gemini"}
NAMELESS_MARK = {"is_marked": True}
TREE = {"tree_agent": "painter"}
EVERYTHING = KNOWN | MARKED | TREE

# What a door knows; the name, whether it is a person, which sign told, whether the name is yet to be made.
CASES: list[tuple[dict[str, Any], str, bool, str, bool]] = [
    # A checked token is who it says.
    (AGENT_TOKEN, "robot", False, "token", False),
    (AGENT_TOKEN | EVERYTHING, "robot", False, "token", False),
    (AGENT_TOKEN | {"given": "robot"} | EVERYTHING, "robot", False, "token", False),
    (AGENT_TOKEN | {"given": "robot/arm"} | EVERYTHING, "robot/arm", False, "token", False),
    (PERSON_TOKEN, "boss", True, "token", False),
    (PERSON_TOKEN | TREE, "boss", True, "token", False),
    # A person speaks for any agent; here the person is the token's.
    (PERSON_TOKEN | {"given": "ann"}, "ann", False, "name", False),
    (PERSON_TOKEN | {"given": "boss"} | TREE, "boss", True, "name", False),
    # A person's token in an agent's hands makes no person, and no agent of the person's name.
    (PERSON_TOKEN | MARKED, "gemini", False, "mark", True),
    (PERSON_TOKEN | MARKED | TREE, "painter", False, "worktree", False),
    (PERSON_TOKEN | KNOWN, "claude-3", False, "session", False),
    (PERSON_TOKEN | UNKNOWN, "claude", False, "session", True),
    # A given name comes before everything that is only found.
    ({"given": "ann"}, "ann", False, "name", False),
    ({"given": "ann"} | EVERYTHING, "ann", False, "name", False),
    ({"given": "ann"} | TREE, "ann", False, "name", False),
    # The person's own name is the person.
    ({"given": "pat"}, "pat", True, "name", False),
    ({"given": "pat"} | TREE, "pat", True, "name", False),
    # The client's session, known or new.
    (KNOWN, "claude-3", False, "session", False),
    (EVERYTHING, "claude-3", False, "session", False),
    (UNKNOWN, "claude", False, "session", True),
    (UNKNOWN | TREE, "claude", False, "session", True),
    ({"session": "s1"}, "agent", False, "session", True),
    # An agent's mark without a session: the worktree's agent, else a new one.
    (MARKED | TREE, "painter", False, "worktree", False),
    (MARKED, "gemini", False, "mark", True),
    (NAMELESS_MARK, "agent", False, "mark", True),
    # No mark at all: the worktree's agent, else the person.
    (TREE, "painter", False, "worktree", False),
    ({}, "pat", True, "person", False),
    ({"client": "claude"}, "pat", True, "person", False),
]


@pytest.mark.parametrize(("signs", "name", "is_person", "source", "is_new"), CASES)
def test_the_table_of_cases(
    signs: dict[str, Any], name: str, is_person: bool, source: str, is_new: bool
) -> None:
    actor = resolve(Signs(person="pat", **signs))
    assert (actor.name, actor.is_person, actor.source, actor.is_new) == (name, is_person, source, is_new)


@pytest.mark.parametrize("given", ["ann", "pat", "robotic", "rob"])
@pytest.mark.parametrize("signs", [{}, EVERYTHING, TREE])
def test_an_agents_token_speaks_for_nobody_else(signs: dict[str, Any], given: str) -> None:
    with refused("token.other"):
        resolve(Signs(person="pat", given=given, **(AGENT_TOKEN | signs)))


@pytest.mark.parametrize(
    ("signs", "given"),
    [
        *[(signs, name) for signs in (MARKED, KNOWN, UNKNOWN) for name in ("pat", "PAT", "Pat/critic")],
        ({}, "PAT"),
        ({}, "pat/critic"),
        (PERSON_TOKEN, "pat"),
        (PERSON_TOKEN, "Boss"),
        (PERSON_TOKEN | MARKED, "boss"),
    ],
)
def test_no_agent_has_a_persons_name(signs: dict[str, Any], given: str) -> None:
    with refused("agent.person"):
        resolve(Signs(person="pat", given=given, **signs))


@pytest.mark.parametrize(("variable", "client"), SESSION_VARIABLES)
def test_a_session_variable_names_client_and_session(variable: str, client: str) -> None:
    assert read_environment({variable: "s1", "PATH": "/bin"}) == (client, "s1", True)
    assert read_environment({variable: "s1", "CLAUDECODE": "1"}) == (client, "s1", True)


@pytest.mark.parametrize(("variable", "client"), MARKS)
def test_a_mark_says_that_an_agent_runs_this(variable: str, client: str) -> None:
    assert read_environment({variable: "1"}) == (client, "", True)


@pytest.mark.parametrize("environ", [{}, {"PATH": "/bin"}, {"CLAUDECODE": "", "CODEX_THREAD_ID": ""}])
def test_an_environment_without_a_sign_shows_nobody(environ: dict[str, str]) -> None:
    assert read_environment(environ) == ("", "", False)


def test_a_new_name_is_the_first_that_is_free() -> None:
    assert next_name("claude", set()) == "claude-1"
    assert next_name("claude", {"claude-1", "claude-3", "codex-2"}) == "claude-2"
