"""Real clients on the way to main: what their shell did behind our back is kept out of the commit and out of
the queue, and a client that is started again in its worktree is who it was."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients_server import Asked, delegate, delegate_both, edit, running_model, say, shell, tool
from tests.e2e.agents import Office, until_asked
from tests.repository import TemporaryRepo
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.slow

CLIENTS = ["claude", "codex", "gemini"]


@pytest.fixture
def office(repo: TemporaryRepo, tmp_path: Path) -> Iterator[Office]:
    repo.commit("Begin", {"login.py": "one = 1\n", "logo.svg": "<svg/>\n"})
    (repo.path / "lineclear.toml").write_text('[[strategy]]\nmatch = "logo.svg"\nstrategy = "locked"\n')
    repo.git("add", "lineclear.toml")
    repo.git("commit", "--quiet", "--message=strategies")
    office = Office(repo, tmp_path)
    yield office
    office.close()
    office.no_errors()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_shell_edit_of_a_locked_file_passes_neither_the_commit_nor_the_queue(
    office: Office, client: str
) -> None:
    office.line.ok("setup", "git")
    tree, main = office.repo.add_worktree("own"), office.repo.git("rev-parse", "main")
    steps = {
        "ada": [
            shell("echo mine >> logo.svg"),
            shell("git commit --quiet -am logo"),
            # As one does who wants to get round it. Gemini CLI switches git's hooks off by itself.
            shell("git commit --quiet --no-verify -am logo; git log --oneline -1"),
            shell(f"{office.program} land"),
            say("Done."),
        ]
    }
    with running_model(steps) as model:
        office.run(client, "ada", model, tree)
        assert model.heard("ada", "your command changed files that you may not change"), office.output("ada")
        if client != "gemini":
            assert model.heard("ada", "lineclear claim file:logo.svg --mode exclusive"), office.output("ada")
        assert model.heard("ada", f"it changes files that {client}-1 may not change"), office.output("ada")
    assert office.repo.git("log", "--format=%s", "-1", at=tree) == "logo"
    assert office.repo.git("rev-parse", "main") == main
    (candidate,) = office.line.json("queue", "list", "--all")["ended"]
    assert (candidate["state"], candidate["agent"]) == ("sent back", f"{client}-1")


@pytest.mark.parametrize("client", CLIENTS)
def test_started_again_in_its_worktree_a_client_is_who_it_was_and_its_landing_ends_what_it_announced(
    office: Office, client: str
) -> None:
    tree = office.repo.add_worktree("own")
    steps = {
        "ada": [edit("login.py", "one = 1", "one = 2"), say("Done.")],
        "again": [shell("git commit --quiet -am two"), shell(f"{office.program} land"), say("Done.")],
    }
    with running_model(steps) as model:
        office.run(client, "ada", model, tree)
        assert office.line.holders("login.py") == [f"{client}-1"], office.output("ada")
        office.run(client, "again", model, tree)
        assert model.heard("again", f"You are {client}-1"), office.output("again")
    assert office.repo.git("show", "main:login.py") == "one = 2", office.output("again")
    assert office.line.holders("login.py") == []
    found = office.line.json("agent", "list")["agents"]
    assert [agent["name"] for agent in found if agent["kind"] == "agent"] == [f"{client}-1"]


def test_two_live_sessions_of_one_client_in_one_worktree_are_two_agents(
    office: Office, tmp_path: Path
) -> None:
    marker, tree = tmp_path / "go", office.repo.add_worktree("own")
    steps = {
        "ada": [
            shell(f"{office.program} claim login.py --mode exclusive --ttl 10m"),
            shell(f"until [ -e {marker} ]; do sleep 0.1; done"),
            say("Done."),
        ],
        "bob": [edit("login.py", "one = 1", "one = 7"), say("Done.")],
    }
    with running_model(steps) as model:
        ada = office.start("claude", "ada", model, tree)
        until_asked(model, "ada", 1)
        office.run("claude", "bob", model, tree)
        marker.touch()
        assert ada.wait(90) == 0, office.output("ada")
        assert model.heard("ada", "You are claude-1"), office.output("ada")
        assert model.heard("bob", "You are claude-2"), office.output("bob")
        assert model.heard("bob", "claude-1 holds file:login.py (exclusive)"), office.output("bob")
    assert (tree / "login.py").read_text() == "one = 1\n"


@pytest.mark.parametrize("client", CLIENTS)
def test_an_urgent_message_that_comes_while_the_model_says_its_last_word_is_read_all_the_same(
    office: Office, client: str
) -> None:
    """There is no next call of a tool that could carry it: the stop does."""

    def send(asked: Asked) -> None:
        if asked.step == 1:
            words = ("--to", f"{client}-1", "--urgent", "main is red")
            office.line.ok("say", *words, "--as", "ben", "--key", "once")

    with running_model({"ada": [shell("echo on"), say("Done."), say("Seen.")]}) as model:
        model.on_asked = send
        office.run(client, "ada", model)
        told = [asked.step for asked in model.asked if asked.holds("main is red")]
        assert told, office.output("ada")
        assert min(told) > 1
    # Said once: it was held back, and then it stopped.
    assert office.output("ada").count("Seen.") >= 1


def test_a_sub_agent_edits_what_its_parent_holds_and_hears_of_its_sibling(office: Office) -> None:
    tree = office.repo.add_worktree("own")
    (tree / "b.py").write_text("b = 1\n")
    claim = f"{office.program} claim login.py --mode exclusive --ttl 10m"
    steps = {
        "ada": [shell(claim), delegate("one"), delegate("two"), say("Done.")],
        "one": [edit("login.py", "one = 1", "one = 2"), edit("b.py", "b = 1", "b = 2"), say("One.")],
        "two": [edit("b.py", "b = 2", "b = 3"), shell("echo on"), say("Two.")],
    }
    with running_model(steps) as model:
        office.run("claude", "ada", model, tree)
        assert model.heard("one", "a sub-agent of claude-1, and share its claims"), office.output("ada")
        assert model.heard("two", "is changing file:b.py"), office.output("ada")
    assert (tree / "login.py").read_text() == "one = 2\n"
    assert (tree / "b.py").read_text() == "b = 3\n"
    names = [agent["name"] for agent in office.line.json("agent", "list")["agents"]]
    assert len([name for name in names if name.startswith("claude-1/")]) == 2, names


def test_a_session_that_is_resumed_is_the_same_agent(office: Office) -> None:
    tree = office.repo.add_worktree("own")
    steps = {
        "ada": [edit("login.py", "one = 1", "one = 2"), say("I wait."), shell("echo on"), say("Done.")],
    }
    with running_model(steps) as model:
        office.run("claude", "ada", model, tree)
        office.run("claude", "ada", model, tree, words=["--continue"])
        assert [asked.step for asked in model.asked if asked.holds("I wait.")], office.output("ada")
    found = office.line.json("agent", "list")["agents"]
    assert [agent["name"] for agent in found if agent["kind"] == "agent"] == ["claude-1"]


@pytest.mark.parametrize("way", ["shell", "tool"])
def test_an_exclusive_claim_of_a_sub_agent_keeps_its_sibling_out_until_it_ends(
    office: Office, way: str
) -> None:
    tree = office.repo.add_worktree("own")
    (tree / "b.py").write_text("b = 1\n")
    office.offer_tools("claude", tree)
    claim = {
        "shell": shell(f"{office.program} claim b.py --mode exclusive --as $(cat {tree}/me)"),
        "tool": tool("lineclear", "claim", resources=["b.py"], mode="exclusive"),
    }
    steps = {
        "ada": [delegate_both("one", "two"), say("Unused."), say("Done.")],
        "one": [claim[way], say("One.")],
        "two": [edit("b.py", "b = 1", "b = 2"), say("Two.")],
    }
    claimed, refused = threading.Event(), threading.Event()
    holders = []

    def order(asked: Asked) -> None:
        """The model reads its name in what it was told at its start."""
        if (asked.agent, asked.step) == ("one", 0):
            told = json.dumps(asked.body)
            (tree / "me").write_text(told.partition("claim PATH --mode exclusive --as ")[2].partition("`")[0])
        if (asked.agent, asked.step) == ("two", 0):
            assert claimed.wait(PATIENCE_S)
        if (asked.agent, asked.step) == ("two", 1):
            holders.extend(office.line.holders("b.py"))
            refused.set()
        if (asked.agent, asked.step) == ("one", 1):
            claimed.set()
            assert refused.wait(PATIENCE_S)

    with running_model(steps) as model:
        model.on_asked = order
        office.run("claude", "ada", model, tree)
        me = (tree / "me").read_text()
        assert me.startswith("claude-1/"), office.output("ada")
        assert holders == [me]
        assert model.heard("two", f"{me} holds file:b.py (exclusive)"), office.output("ada")
    assert (tree / "b.py").read_text() == "b = 1\n"
    assert office.line.holders("b.py") == []
    assert not list((office.repo.path / ".git/lineclear/sessions").glob("call-*"))


@pytest.mark.parametrize("client", CLIENTS)
def test_git_in_the_main_tree_is_stopped_before_it_destroys_anything(office: Office, client: str) -> None:
    """Without git's hooks, as Gemini CLI runs git; a hard reset asks no hook before it writes files."""
    tree, main = office.repo.add_worktree("own"), office.repo.git("rev-parse", "main")
    office.repo.commit("Mine", {"new.py": "x = 1\n"}, at=tree)
    (office.repo.path / "login.py").write_text("uncommitted\n")
    git = f"git -C {office.repo.path} -c core.hooksPath="
    steps = {"ada": [shell(f"{git} merge own"), shell(f"{git} reset --hard HEAD~1"), say("Done.")]}
    with running_model(steps) as model:
        office.run(client, "ada", model, tree)
        for verb in ("merge", "reset"):
            words = f"Cannot run `git {verb}` in the main worktree"
            assert model.heard("ada", words), office.output("ada")
    assert office.repo.git("rev-parse", "main") == main
    assert (office.repo.path / "login.py").read_text() == "uncommitted\n"
