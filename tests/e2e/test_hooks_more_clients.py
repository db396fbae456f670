"""Hooks in the real Factory droid, Grok Build, Kimi Code, Cline and goose, put in by `setup`: what their
models are told.

What a model received is read from the scripted server's log of requests. One run shows several things at
once: a start of a client costs seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients_server import Step, delegate, edit, read, running_model, say, shell, write
from tests.e2e.agents import Studio, until_asked
from tests.repository import TemporaryRepo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

CLIENTS = ["droid", "grok", "kimi", "cline", "goose"]
# Nothing in the environment of their commands says whose they are.
NAMELESS = ("kimi",)
# A call of theirs is held back to tell something, and has to be made again.
HELD_BACK = ("kimi",)
# Nobody asks us when they want to stop.
UNSTOPPABLE = ("cline",)
LOGIN = "class Login:\n    def check(self):\n        return 1\n"


@pytest.fixture(params=CLIENTS)
def studio(request: pytest.FixtureRequest, repo: TemporaryRepo, tmp_path: Path) -> Iterator[Studio]:
    repo.commit("Begin", {"login.py": LOGIN, "logo.svg": "<svg/>\n"})
    (repo.path / "lineclear.toml").write_text('[[strategy]]\nmatch = "logo.svg"\nstrategy = "locked"\n')
    repo.git("add", "lineclear.toml")
    repo.git("commit", "--quiet", "--message=strategies")
    studio = Studio(repo, tmp_path, request.param)
    yield studio
    studio.close()
    studio.no_errors()


def thinking(studio: Studio, remembered: str) -> list[Step]:
    """A model thinks for a while. This one does not, and some clients wait for no hook after a tool."""
    sessions = f"{studio.repo.path}/.git/lineclear/sessions/{studio.name}-*"
    command = f"until grep -qs ^{remembered} {sessions}; do sleep 0.1; done"
    return [shell(command)] if studio.name in HELD_BACK else []


def only(client: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("studio", [client], indirect=True)


def test_two_in_one_tree_a_denial_a_message_and_a_command_that_went_too_far(
    studio: Studio, tmp_path: Path
) -> None:
    marker, client = tmp_path / "go", studio.name
    root = studio.repo.path
    as_ada, as_bob = (f" --as {client}-{n}" if client in NAMELESS else "" for n in (1, 2))
    again = [shell("echo on")] if client in HELD_BACK else []
    steps = {
        "ada": [
            shell(f"{studio.program} claim login.py --mode exclusive --ttl 10m{as_ada}"),
            shell(f"until [ -e {marker} ]; do sleep 0.1; done"),
            *again,
            shell("echo mine >> logo.svg"),
            *thinking(studio, "grave"),
            say("Done."),
        ],
        "bob": [
            edit(f"{root}/login.py", "        return 1", "        return 7"),
            shell(f"{studio.program} say --to {client}-1 'the port is 4711'{as_bob}"),
            say("Done."),
        ],
    }
    with running_model(steps) as model:
        ada = studio.start(client, "ada", model)
        until_asked(model, "ada", 1)
        studio.run(client, "bob", model)
        marker.touch()
        assert ada.wait(90) == 0, studio.output("ada")
        # The claim was made in the shell, the edit seen by the hook: one agent.
        assert model.heard("bob", f"{client}-1 holds file:login.py (exclusive)"), studio.output("bob")
        assert model.heard("bob", "Cannot claim file:login.py")
        assert model.heard("ada", "your command changed files that you may not change")
        assert model.heard("ada", "Undo: run `")
        assert model.heard("ada", "> the port is 4711"), studio.output("ada")
        assert model.heard("ada", f"{client}-2 (message")
        # Said once, when it wanted to stop.
        assert client in UNSTOPPABLE or model.heard("ada", "you still hold file:login.py exclusively")
        assert model.heard("ada", f"You are {client}-1")
    assert (root / "login.py").read_text() == LOGIN
    assert studio.line.json("inbox", "--as", f"{client}-1")["messages"] == []


# Cline's tool makes new files only.
@pytest.mark.parametrize("studio", [name for name in CLIENTS if name != "cline"], indirect=True)
def test_a_whole_write_over_what_was_not_read_is_refused_and_reading_helps(studio: Studio) -> None:
    path = f"{studio.repo.path}/login.py"
    looked = [read(path), *thinking(studio, "version")]
    steps = {"ada": [write(path, "mine\n"), *looked, write(path, "mine now\n"), say("Done.")]}
    with running_model(steps) as model:
        studio.run(studio.name, "ada", model)
        assert model.heard("ada", "Re-read it, then write again"), studio.output("ada")
    assert (studio.repo.path / "login.py").read_text() == "mine now\n"


@only("droid")
def test_a_command_that_fails_is_looked_at_all_the_same(studio: Studio) -> None:
    """droid tells no end of it: its model hears at the next call, or when it wants to stop."""
    steps = {
        "ada": [
            shell("echo one >> logo.svg; false"),
            shell("true"),
            shell("echo two >> logo.svg; false"),
            say("Done."),
        ]
    }
    with running_model(steps) as model:
        studio.run("droid", "ada", model)
        asked = {request.step: json.dumps(request.body) for request in model.asked}
    told = "your command changed files that you may not change"
    assert [asked[step].count(told) for step in sorted(asked)] == [0, 0, 1, 1, 2], studio.output("ada")


@pytest.mark.parametrize("studio", ["grok", "cline"], indirect=True)
def test_a_sub_agent_shares_the_claims_of_its_parent(studio: Studio) -> None:
    path = f"{studio.repo.path}/login.py"
    steps = {
        "ada": [
            shell(f"{studio.program} claim login.py --mode exclusive --ttl 10m"),
            delegate("bob"),
            say("Done."),
        ],
        "bob": [
            edit(path, "        return 1", "        return 7"),
            shell(f"{studio.program} claim logo.svg --mode exclusive; {studio.program} who logo.svg"),
            say("Done."),
        ],
    }
    with running_model(steps) as model:
        studio.run(studio.name, "ada", model)
        assert model.heard("bob", f"{studio.name}-1/"), studio.output("ada")
    assert "return 7" in (studio.repo.path / "login.py").read_text()


@only("goose")
def test_what_a_sub_agent_of_goose_changed_is_told_to_its_parent(studio: Studio) -> None:
    steps = {
        "ada": [delegate("bob"), say("Done.")],
        "bob": [shell("echo mine >> logo.svg"), say("Done.")],
    }
    with running_model(steps) as model:
        studio.run("goose", "ada", model)
        assert model.heard("ada", "your command changed files that you may not change"), studio.output("ada")
        assert model.heard("ada", "Undo: run `")


def test_the_check_fires_and_removal_leaves_every_byte(studio: Studio) -> None:
    line = studio.line
    assert line.json("setup", studio.name, "--check")["state"] == "fired"
    line.ok("setup", studio.name, "--remove")
    assert line.run("setup", studio.name, "--check").code == 6
    assert studio.repo.git("status", "--porcelain", "--ignored") == ""
