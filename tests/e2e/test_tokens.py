"""Tokens as people and agents use them: real processes, attempts to be another, and what is left behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineclear.app.agents import tokens
from lineclear.app.ports import Caller
from lineclear.core.agents.tokens import write_token
from lineclear.core.log.tables import AGENT
from lineclear.host.tokens import new_id, new_secret
from lineclear.wiring.repo import open_repo
from tests.e2e.commandline import Answer, CommandLine
from tests.e2e.mcp_peer import Peer


def add(line: CommandLine, *words: str) -> str:
    token: str = line.json("token", "add", *words)["secret"]
    return token


def with_token(line: CommandLine, token: str, *words: str, **environ: str) -> Answer:
    return line.run(*words, "--json", env={"LINECLEAR_TOKEN": token, **environ})


def actors(line: CommandLine, kind: str) -> list[str]:
    return [event["actor"] for event in line.json("log", "--kind", kind)["events"]]


def expired(line: CommandLine, name: str) -> str:
    """A token that is over before anybody can show it."""
    id, (secret, kept) = new_id(), new_secret()
    repo = open_repo(str(line.place), line.environment)
    try:
        person = Caller("sam", is_person=True)
        tokens.issue(repo.store, person, name, id=id, secret_hash=kept, ttl_ms=1)
    finally:
        repo.close()
    return write_token(id, secret)


def bond_of(line: CommandLine, name: str) -> str:
    repo = open_repo(str(line.place), line.environment)
    try:
        agent = repo.store.read(lambda view: view.get(AGENT, (name,)))
        return agent.bond if agent is not None else ""
    finally:
        repo.close()


# -- an agent is who its token says -----------------------------------------------------------


def test_an_agent_claims_speaks_and_finishes_under_its_tokens_name_only(line: CommandLine) -> None:
    ada = add(line, "ada")
    line.ok("task", "add", "Login form")
    line.ok("task", "next", "--as", "ben")
    deeds = (("claim", "a.py"), ("say", "hello", "--all"), ("task", "done", "T-1"), ("agent", "leave", "ben"))
    for deed in deeds:
        for words, environ in (((*deed, "--as", "ben"), {}), (deed, {"LINECLEAR_AGENT": "ben"})):
            answer = with_token(line, ada, *words, **environ)
            assert (answer.code, answer.error["code"]) == (4, "token.other"), answer
            assert answer.error["next"] == "lineclear --as ada"
    assert with_token(line, ada, "claim", "a.py").data["claims"][0]["agent"] == "ada"
    assert with_token(line, ada, "say", "hello", "--all").code == 0
    assert with_token(line, ada, "task", "done", "T-1").error["code"] == "task.not_yours"
    assert set(actors(line, "ClaimGranted") + actors(line, "MessageSent")) == {"ada"}
    assert line.json("task", "show", "T-1")["agent"] == "ben"


def test_an_agents_token_cannot_do_what_only_a_person_may(line: CommandLine) -> None:
    ada = add(line, "ada")
    for words in (("token", "add", "ben"), ("token", "revoke", "ada"), ("claim", "x", "--take-over")):
        answer = with_token(line, ada, *words)
        assert (answer.code, answer.error["code"]) == (4, "person.only"), answer
    assert len(line.json("token", "list")["tokens"]) == 1


def test_a_persons_token_is_that_person_and_any_agent(line: CommandLine) -> None:
    kim = add(line, "kim", "--person")
    line.ok("claim", "a.py", "--as", "ada")
    assert with_token(line, kim, "claim", "a.py", "--take-over").code == 0
    assert with_token(line, kim, "release", "--all").code == 0
    assert with_token(line, kim, "claim", "b.py", "--as", "ben").data["claims"][0]["agent"] == "ben"
    answer = with_token(line, kim, "token", "add", "cat")
    assert answer.data["token"]["made_by"] == "kim"
    assert with_token(line, answer.data["secret"], "claim", "c.py").code == 0


def test_an_agent_that_finds_a_persons_token_is_still_an_agent(line: CommandLine) -> None:
    kim = add(line, "kim", "--person")
    line.ok("claim", "a.py", "--as", "ada")
    for mark in ("CLAUDECODE", "GEMINI_CLI", "CLAUDE_CODE_SESSION_ID", "LINECLEAR_CHECK"):
        answer = with_token(line, kim, "claim", "a.py", "--take-over", **{mark: "1"})
        assert (answer.code, answer.error["code"]) == (4, "person.only"), answer


# -- tokens that are not good -----------------------------------------------------------------


def test_a_token_that_is_not_good_acts_as_nobody(line: CommandLine) -> None:
    good, revoked = add(line, "ada"), add(line, "ben")
    line.ok("token", "revoke", "ben")
    attempts = [
        (revoked, "token.revoked"),
        (expired(line, "cat"), "token.expired"),
        (good[:-1], "token.unknown"),
        (good[:14], "token.unknown"),
        (good[:14] + revoked[14:], "token.unknown"),
        (good + "x", "token.unknown"),
        (f" {good}", "token.unknown"),
        ("x" * 100_000, "token.unknown"),
        ("lc_" + "é" * 54, "token.unknown"),
        ("\udcff\udcfe", "token.unknown"),
        ("'; DROP TABLE token; --", "token.unknown"),
    ]
    for token, code in attempts:
        for words in (
            ("claim", "a.py"),
            ("claim", "a.py", "--as", "ada"),
            ("token", "add", "dan"),
            ("inbox",),
        ):
            answer = with_token(line, token, *words)
            assert (answer.code, answer.error["code"]) == (4, code), (token[:60], answer)
            assert token[14:40] not in answer.out + answer.err or len(token) < 20
    assert actors(line, "ClaimGranted") == []
    assert with_token(line, good, "claim", "a.py").code == 0


def test_a_refusal_says_who_revoked_it_and_when(line: CommandLine) -> None:
    ada = add(line, "ada")
    line.ok("token", "revoke", "ada")
    (row,) = line.json("token", "list")["tokens"]
    said = line.run("claim", "a.py", env={"LINECLEAR_TOKEN": ada})
    assert f"{row['revoked_by']} revoked it at {row['revoked_at']}" in said.err


# -- doors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (expired, "The token of the agent ada has expired."),
        (lambda line, name: add(line, name)[:-1], "This token is not valid here."),
    ],
    ids=["expired", "forged"],
)
def test_a_hook_with_a_token_that_is_not_good_lets_the_call_pass_and_says_so(
    line: CommandLine, make: Callable[[CommandLine, str], str], words: str
) -> None:
    token = make(line, "ada")
    call: dict[str, Any] = {"session_id": "s1", "cwd": str(line.place), "tool_name": "Edit"}
    call["tool_input"] = {"file_path": str(line.place / "README.md"), "old_string": "a", "new_string": "b"}
    answer = line.run("hook", "claude", "PreToolUse", stdin=json.dumps(call), env={"LINECLEAR_TOKEN": token})
    assert (answer.code, answer.out) == (0, ""), answer
    log = (line.place / ".git/lineclear/hook-errors.log").read_text()
    assert words in log
    assert token[14:] not in log
    assert actors(line, "ClaimGranted") == []


def test_a_hook_is_the_agent_of_its_token(line: CommandLine) -> None:
    call: dict[str, Any] = {"session_id": "s1", "cwd": str(line.place), "tool_name": "Edit"}
    call["tool_input"] = {"file_path": str(line.place / "README.md"), "old_string": "a", "new_string": "b"}
    env = {"LINECLEAR_TOKEN": add(line, "ada")}
    answer = line.run("hook", "claude", "PreToolUse", stdin=json.dumps(call), env=env)
    assert answer.code == 0, answer
    assert line.holders("README.md") == ["ada"]


def test_a_tool_call_is_refused_as_soon_as_its_token_is_revoked(line: CommandLine) -> None:
    line.environment["LINECLEAR_TOKEN"] = add(line, "ada")
    peer = Peer(line)
    del line.environment["LINECLEAR_TOKEN"]
    try:
        peer.greet()
        first = peer.answer(peer.begin("claim", resources=["a.py"]))["result"]
        assert first["structuredContent"]["data"]["claims"][0]["agent"] == "ada"
        assert bond_of(line, "ada")  # it lives as long as its server, as without a token
        line.ok("token", "revoke", "ada")
        second = peer.answer(peer.begin("claim", resources=["b.py"]))["result"]
        assert second["isError"] is True
        assert second["structuredContent"]["error"]["code"] == "token.revoked"
    finally:
        peer.end()


# -- what is left behind ----------------------------------------------------------------------


def test_a_secret_is_shown_once_and_is_nowhere_afterwards(line: CommandLine) -> None:
    first = line.run("token", "add", "ada", "--note", "build", "--key", "k1")
    token = first.out.strip()
    assert len(token) == 57
    secret = token[14:].encode()
    assert secret not in first.err.encode()
    again = line.ok("token", "add", "ada", "--note", "build", "--key", "k1")
    assert "replayed" in again.out
    assert "cannot be shown again" in again.out
    as_data = line.json("token", "add", "ada", "--note", "build", "--key", "k1")
    assert (as_data["replayed"], as_data["secret"]) == (True, None)
    # What stands in its place is no token, should a script have taken it for one.
    assert with_token(line, again.out.strip(), "claim", "a.py").error["code"] == "token.unknown"

    assert with_token(line, token, "claim", "a.py").code == 0
    line.ok("token", "revoke", token)
    with_token(line, token, "claim", "a.py")
    line.ok("db", "backup", "../backup.db")
    line.ok("db", "copy", "../copied")
    asked = (
        "token list",
        "token list --json",
        "log --json",
        "doctor",
        "db info --json",
        "config show --json",
    )
    said = [line.ok(*words.split()).out.encode() for words in asked]
    places = (line.place / ".git" / "lineclear", line.place.parent / "copied")
    files = [
        line.place.parent / "backup.db",
        *(f for place in places for f in place.rglob("*") if f.is_file()),
    ]
    assert {"backup.db", "state.db", "state.db-wal"} <= {file.name for file in files}
    kept = b"".join(file.read_bytes() for file in files)
    assert token[3:13].encode() in kept  # it would be found there
    assert all(secret not in text for text in (*said, kept))
    assert "the log and the tables agree" in line.ok("audit").out


def test_a_secret_is_in_no_file_of_the_repository_after_its_agent_worked(line: CommandLine) -> None:
    token = add(line, "ada")
    line.ok("task", "add", "Login form")
    for words in (
        ("task", "next"),
        ("claim", "x.py"),
        ("value", "put", "v", "1"),
        ("with", "y", "--", "true"),
    ):
        assert line.run(*words, env={"LINECLEAR_TOKEN": token}).code == 0
    files = [file for file in Path(line.place).rglob("*") if file.is_file()]
    assert not [file for file in files if token[14:].encode() in file.read_bytes()]


def test_tokens_are_listed_and_the_doctor_looks_at_them(line: CommandLine) -> None:
    ada = add(line, "ada", "--ttl", "1d", "--note", "build machine")
    add(line, "kim", "--person")
    text = line.ok("token", "list").out
    assert "build machine" in text
    assert "never" in text
    found = {row["name"]: row for row in line.json("token", "list")["tokens"]}
    assert (found["ada"]["kind"], found["kim"]["kind"]) == ("agent", "person")
    said = line.ok("doctor").out
    assert f"token {ada[3:13]} of the agent ada ends at {found['ada']['expires_at']}" in said
    assert "LINECLEAR_TOKEN" not in said
    assert "LINECLEAR_TOKEN belongs to the agent ada" in line.run("doctor", env={"LINECLEAR_TOKEN": ada}).out
    assert "not valid here" in line.run("doctor", env={"LINECLEAR_TOKEN": ada[:-1]}).out


def test_completion_offers_what_can_be_revoked(line: CommandLine) -> None:
    ada, ben = add(line, "ada"), add(line, "ben")
    line.ok("token", "revoke", "ben")
    words = line.ok("completion", "--words", "--", "token", "revoke", "").out.split()
    assert {"ada", ada[3:13]} <= set(words)
    assert not {"ben", ben[3:13]} & set(words)


@pytest.mark.parametrize(
    "words", [("x" * 65,), ("ada", "--ttl", "1s"), ("ada", "--ttl", "11y"), ("a/b", "--person")]
)
def test_what_cannot_be_made_is_refused_with_a_reason(line: CommandLine, words: tuple[str, ...]) -> None:
    assert line.refused("token", "add", *words, code=2)["code"] == "input.bad"
