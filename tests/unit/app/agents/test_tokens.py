"""Tokens: made, shown, revoked, and the names that they prove or refuse."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.app import tasks
from lineclear.app.agents import tokens
from lineclear.app.agents.membership import ensure_agent
from lineclear.app.agents.whoami import identify
from lineclear.app.ports import Caller
from lineclear.app.runs import records
from lineclear.core.agents.tokens import Bearer, hash_of, write_token
from lineclear.core.tasks.lists import TaskDraft
from lineclear.host.tokens import new_id, new_secret
from tests.world import HOUR_MS, World, refused

PAT, ANN = Caller("pat", is_person=True), Caller("ann")
SESSION = {"CLAUDE_CODE_SESSION_ID": "s1"}


@pytest.fixture
def world() -> World:
    return World()


def issue(world: World, name: str, caller: Caller = PAT, **how: Any) -> str:
    """The token, as its holder is given it."""
    id, (secret, kept) = new_id(), new_secret()
    tokens.issue(world.store, caller, name, id=id, secret_hash=kept, **how)
    return write_token(id, secret)


def verify(world: World, token: str) -> tuple[str, str, str]:
    bearer: Bearer = world.store.read(lambda view: tokens.verify(view, token))
    return bearer.name, bearer.kind, bearer.id


def caller(world: World, environ: dict[str, str] | None = None, **how: Any) -> Caller:
    how.setdefault("tree", "main")
    return identify(world.store, world.presence, environ=environ or {}, person="pat", **how)


def named(who: Caller) -> tuple[str, bool]:
    return who.name, who.is_person


def start_run(world: World, agent: str) -> tuple[str, int]:
    """(the run's token, its number)."""
    doer = Caller(agent)
    tasks.add(world.store, PAT, TaskDraft("", "work"))
    taken = tasks.take(world.store, world.liveness, doer)
    secret, kept = new_secret()
    number = int(taken["task"]["id"][2:])
    return secret, records.begin(world.store, doer, records.Start(number, 1, client="plain", token_hash=kept))


# -- making and ending ------------------------------------------------------------------------


def test_a_token_says_whose_it_is(world: World) -> None:
    token = issue(world, "ada")
    assert verify(world, token) == ("ada", "agent", token[3:13])
    assert verify(world, issue(world, "kim", is_person=True))[:2] == ("kim", "person")


def test_only_a_person_makes_and_ends_tokens(world: World) -> None:
    with refused("person.only"):
        issue(world, "ada", ANN)
    issue(world, "ada")
    with refused("person.only"):
        tokens.revoke(world.store, ANN, "ada")


def test_a_repeat_makes_no_second_token_and_shows_no_secret(world: World) -> None:
    asker = Caller("pat", is_person=True, op="once")
    first = tokens.issue(world.store, asker, "ada", id="a" * 10, secret_hash=hash_of("x"))
    again = tokens.issue(world.store, asker, "ada", id="b" * 10, secret_hash=hash_of("y"))
    assert again == {**first, "replayed": True}
    assert len(world.events("TokenIssued")) == 1
    with refused("operation.differs"):
        tokens.issue(world.store, asker, "ada", id="c" * 10, secret_hash=hash_of("z"), is_person=True)


def test_an_id_that_is_drawn_twice_takes_nobodys_place(world: World) -> None:
    tokens.issue(world.store, PAT, "ada", id="a" * 10, secret_hash=hash_of("x"))
    with pytest.raises(RuntimeError):
        tokens.issue(world.store, PAT, "ben", id="a" * 10, secret_hash=hash_of("y"))
    assert [row["name"] for row in world.store.read(tokens.list_tokens)] == ["ada"]


def test_one_token_or_all_of_a_name_are_revoked(world: World) -> None:
    first, second, others = issue(world, "ada"), issue(world, "ada"), issue(world, "ben")
    assert tokens.revoke(world.store, PAT, first[3:13])["revoked"] == [first[3:13]]
    verify(world, second)
    assert tokens.revoke(world.store, PAT, "ada")["revoked"] == [second[3:13]]
    assert tokens.revoke(world.store, PAT, "ada")["revoked"] == []
    assert len(world.events("TokenRevoked")) == 2
    verify(world, others)
    with refused("token.none"):
        tokens.revoke(world.store, PAT, "nobody-here")


def test_a_leaked_token_can_be_pasted_to_revoke_it(world: World) -> None:
    token = issue(world, "ada")
    asker = Caller("pat", is_person=True, op="once")
    assert tokens.revoke(world.store, asker, token)["revoked"] == [token[3:13]]
    with refused("token.revoked"):
        verify(world, token)
    assert tokens.revoke(world.store, asker, token[3:13])["replayed"] is True


def test_the_list_tells_everything_but_what_proves(world: World) -> None:
    token = issue(world, "ada", note="build", ttl_ms=HOUR_MS)
    tokens.revoke(world.store, PAT, "ada")
    assert world.store.read(tokens.list_tokens) == [
        {
            "id": token[3:13], "name": "ada", "kind": "agent", "state": "revoked", "note": "build",
            "made_by": "pat", "made_at": "2026-01-01T12:00:00Z", "expires_at": "2026-01-01T13:00:00Z",
            "revoked_by": "pat", "revoked_at": "2026-01-01T12:00:00Z",
        }
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["", "all", "a b", "é", "a/b/c/d/e", "-x", "n" * 65])
def test_what_cannot_be_a_name_gets_no_token(world: World, name: str) -> None:
    with refused("input.bad"):
        issue(world, name)
    assert world.store.read(tokens.list_tokens) == []


def test_a_person_has_no_levels_and_a_note_is_short(world: World) -> None:
    with refused("input.bad"):
        issue(world, "kim/desk", is_person=True)
    with refused("input.bad"):
        issue(world, "kim", is_person=True, note="x" * 201)


def test_an_agent_gets_no_token_of_a_persons_name(world: World) -> None:
    with refused("token.name"):
        issue(world, "pat")  # who has just been seen as a person
    kims = issue(world, "kim", is_person=True)
    with refused("token.name"):
        issue(world, "kim")
    tokens.revoke(world.store, PAT, kims)
    issue(world, "kim")  # nobody of that name was ever here
    with refused("token.name"):
        issue(world, "kim", is_person=True)


# -- what is not good -------------------------------------------------------------------------


def test_a_revoked_token_says_by_whom_and_when(world: World) -> None:
    token = issue(world, "ada")
    world.clock.advance(HOUR_MS)
    tokens.revoke(world.store, Caller("sue", is_person=True), "ada")
    with refused("token.revoked") as caught:
        verify(world, token)
    assert (caught.value.facts["revoked_by"], caught.value.facts["revoked_at"]) == (
        "sue", "2026-01-01T13:00:00Z",
    )  # fmt: skip


def test_a_token_is_good_up_to_its_last_moment(world: World) -> None:
    token = issue(world, "ada", ttl_ms=HOUR_MS)
    world.clock.advance(HOUR_MS - 1)
    verify(world, token)
    world.clock.advance(1)
    with refused("token.expired"):
        verify(world, token)
    # It is no longer in anybody's way.
    issue(world, "ada", is_person=True)


def test_a_wrong_secret_learns_no_more_than_a_wrong_id(world: World) -> None:
    token = issue(world, "ada", ttl_ms=HOUR_MS)
    wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
    said = []
    for forged in (wrong, "lc_" + "0" * 10 + token[13:]):
        with refused("token.unknown") as caught:
            verify(world, forged)
        said.append((str(caught.value), caught.value.as_data()))
    tokens.revoke(world.store, PAT, "ada")
    with refused("token.unknown") as caught:
        verify(world, wrong)
    said.append((str(caught.value), caught.value.as_data()))
    assert said[0] == said[1] == said[2]
    assert "ada" not in str(said)


@pytest.mark.parametrize(
    "forged", ["x", "lc_", "é" * 57, "\udcff", "y" * 1_000_000, " ", "lc_0123456789_" + "\0" * 43]
)
def test_what_is_no_token_at_all_is_not_known(world: World, forged: str) -> None:
    issue(world, "ada")
    with refused("token.unknown"):
        verify(world, forged)


def test_the_hash_that_is_kept_is_no_token(world: World) -> None:
    token = issue(world, "ada")
    (_, body), *_ = world.events("TokenIssued")
    assert body["hash"] == hash_of(token[14:])
    for forged in (body["hash"], write_token(body["id"], body["hash"][:43])):
        with refused("token.unknown"):
            verify(world, forged)


# -- who one is with it -----------------------------------------------------------------------


def test_an_agents_token_names_the_agent_whatever_else_is_there(world: World) -> None:
    token = {"LINECLEAR_TOKEN": issue(world, "ada")}
    painter = Caller("painter", tree="w1")
    world.store.transact(painter, lambda tx: ensure_agent(tx, painter))
    assert named(caller(world, token)) == ("ada", False)
    assert named(caller(world, token | SESSION)) == ("ada", False)
    assert named(caller(world, token, tree="w1")) == ("ada", False)
    assert named(caller(world, token | {"LINECLEAR_AGENT": "ada"})) == ("ada", False)
    assert caller(world, token | SESSION).session == ""


def test_an_agents_token_is_good_for_its_sub_agents(world: World) -> None:
    token = {"LINECLEAR_TOKEN": issue(world, "ada")}
    assert named(caller(world, token, given="ada/tests")) == ("ada/tests", False)
    assert named(caller(world, token | {"LINECLEAR_AGENT": "ada/tests/one"})) == ("ada/tests/one", False)


@pytest.mark.parametrize("other", ["ben", "pat", "adam", "ad", "ada-1"])
def test_an_agents_token_is_not_good_for_another_name(world: World, other: str) -> None:
    token = {"LINECLEAR_TOKEN": issue(world, "ada")}
    for environ, given in (
        (token, other),
        (token | {"LINECLEAR_AGENT": other}, ""),
        (token | SESSION, other),
    ):
        with refused("token.other") as caught:
            caller(world, environ, given=given)
        assert (caught.value.facts["owner"], caught.value.facts["given"]) == ("ada", other)


def test_a_sub_agents_token_is_not_good_for_those_above_or_beside(world: World) -> None:
    token = {"LINECLEAR_TOKEN": issue(world, "ada/tests")}
    for other in ("ada", "ada/docs"):
        with refused("token.other"):
            caller(world, token, given=other)


def test_a_persons_token_is_that_person_and_any_agent_by_name(world: World) -> None:
    token = {"LINECLEAR_TOKEN": issue(world, "kim", is_person=True)}
    assert named(caller(world, token)) == ("kim", True)
    assert named(caller(world, token, given="kim")) == ("kim", True)
    assert named(caller(world, token, given="ada")) == ("ada", False)
    with refused("agent.person"):  # this machine's person, not the token's
        caller(world, token, given="pat")
    assert named(caller(world, token | {"LINECLEAR_AGENT": "ada"})) == ("ada", False)


def test_an_agent_with_a_persons_token_in_its_environment_stays_the_agent_it_is(world: World) -> None:
    token = {"LINECLEAR_TOKEN": issue(world, "kim", is_person=True)}
    first = caller(world, token | SESSION)
    assert (named(first), first.session) == (("claude-1", False), "s1")
    assert named(caller(world, token | SESSION)) == ("claude-1", False)
    assert named(caller(world, token, client="codex", session="s2")) == ("codex-1", False)
    with refused("agent.person"):
        caller(world, token | {"CLAUDECODE": "1"}, given="kim")


@pytest.mark.parametrize("environ", [{}, {"LINECLEAR_AGENT": "ann"}, SESSION])
def test_a_token_that_is_not_good_is_no_fall_back_to_another_name(
    world: World, environ: dict[str, str]
) -> None:
    token = issue(world, "ada")
    tokens.revoke(world.store, PAT, "ada")
    for text, code in ((token, "token.revoked"), (token[:-1], "token.unknown"), ("x", "token.unknown")):
        for given in ("", "ann", "pat"):
            with refused(code):
                caller(world, environ | {"LINECLEAR_TOKEN": text}, given=given)
    assert world.events("AgentJoined")[1:] == []


def test_an_empty_token_is_none(world: World) -> None:
    assert named(caller(world, {"LINECLEAR_TOKEN": ""})) == ("pat", True)


def test_a_runs_token_is_as_strict_and_ends_with_its_run(world: World) -> None:
    secret, number = start_run(world, "worker-1")
    environ = {"LINECLEAR_TOKEN": secret, "LINECLEAR_AGENT": "worker-1"}
    assert verify(world, secret) == ("worker-1", "agent", f"run-{number}")
    assert named(caller(world, environ | SESSION)) == ("worker-1", False)
    assert named(caller(world, environ, given="worker-1/tests")) == ("worker-1/tests", False)
    with refused("token.other"):
        caller(world, environ, given="anna")
    records.end(world.store, Caller("worker-1"), number, records.Ending("done", result="done"))
    with refused("token.unknown"):
        caller(world, environ)


# -- what is left of it -----------------------------------------------------------------------


def test_no_secret_is_in_the_log_and_the_log_gives_the_tables(world: World) -> None:
    token = issue(world, "ada", note="build", ttl_ms=HOUR_MS)
    issue(world, "kim", is_person=True)
    tokens.revoke(world.store, PAT, token)
    assert token[14:] not in str(world.events())
    assert world.findings() == []
