"""Hooks in the real Claude Code, Codex and Gemini CLI: what models are told, and what is kept from them.

What a model received is read from the scripted server's log of requests, never from the hook's own output.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients_server import edit, read, running_model, say, shell, write
from tests.e2e.agents import Office, until_asked
from tests.repository import TemporaryRepo

pytestmark = pytest.mark.slow

PAIRS = [("claude", "codex"), ("codex", "gemini"), ("gemini", "claude")]
LOGIN = "class Login:\n    def check(self):\n        return 1\n\n    def leave(self):\n        return 2\n"


@pytest.fixture
def office(repo: TemporaryRepo, tmp_path: Path) -> Iterator[Office]:
    repo.commit("Begin", {"login.py": LOGIN, "logo.svg": "<svg/>\n"})
    (repo.path / "lineclear.toml").write_text('[[strategy]]\nmatch = "logo.svg"\nstrategy = "locked"\n')
    repo.git("add", "lineclear.toml")
    repo.git("commit", "--quiet", "--message=strategies")
    office = Office(repo, tmp_path)
    yield office
    office.close()
    office.no_errors()


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_of_two_in_one_tree_one_is_denied_and_its_model_reads_why(
    office: Office, first: str, second: str
) -> None:
    steps = {
        "ada": [shell(f"{office.program} claim login.py --mode exclusive --ttl 10m"), say("Done.")],
        "bob": [edit("login.py", "        return 1", "        return 7"), say("Done.")],
    }
    with running_model(steps) as model:
        office.run(first, "ada", model)
        office.run(second, "bob", model)
        assert model.heard("ada", "is yours"), office.output("ada")
        assert model.heard("bob", "Cannot claim file:login.py"), office.output("bob")
        assert model.heard("bob", f"{first}-1 holds file:login.py (exclusive)")
        # Said once, when it wanted to stop.
        assert model.heard("ada", "you still hold file:login.py exclusively")
    assert (office.repo.path / "login.py").read_text() == LOGIN


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_two_worktrees_and_the_same_function_both_are_told(
    office: Office, tmp_path: Path, first: str, second: str
) -> None:
    marker = tmp_path / "go"
    steps = {
        "ada": [
            edit("login.py", "        return 1", "        return 7"),
            shell(f"until [ -e {marker} ]; do sleep 0.1; done"),
            shell("echo on"),
            say("Done."),
        ],
        "bob": [edit("login.py", "        return 1", "        return 8"), shell("echo on"), say("Done.")],
    }
    one, two = office.repo.add_worktree("one"), office.repo.add_worktree("two")
    with running_model(steps) as model:
        ada = office.start(first, "ada", model, one)
        until_asked(model, "ada", 1)
        office.run(second, "bob", model, two)
        marker.touch()
        assert ada.wait(90) == 0, office.output("ada")
        assert model.heard("bob", f"{first}-1 is changing file:login.py"), office.output("bob")
        assert model.heard("bob", "in Login.check")
        assert model.heard("ada", f"{second}-1 is now changing file:login.py too"), office.output("ada")
    assert "return 7" in (one / "login.py").read_text()
    assert "return 8" in (two / "login.py").read_text()


@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
def test_a_shell_edit_of_a_locked_file_is_noticed_and_can_be_undone(office: Office, client: str) -> None:
    steps = {"ada": [shell("echo mine >> logo.svg"), shell("git status --short"), say("Done.")]}
    with running_model(steps) as model:
        office.run(client, "ada", model)
        assert model.heard("ada", "your command changed files that you may not change"), office.output("ada")
        assert model.heard("ada", "logo.svg is locked: only one agent at a time")
        undo = next(
            line.partition("Undo: run `")[2].partition("`")[0]
            for asked in model.asked
            for line in str(asked.body).replace("\\n", "\n").split("\n")
            if "Undo: run `" in line
        )
    assert (office.repo.path / "logo.svg").read_text() == "<svg/>\nmine\n"
    office.repo.git("-c", f"alias.undo=!{undo}", "undo")
    assert (office.repo.path / "logo.svg").read_text() == "<svg/>\n"


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_message_of_one_is_read_by_the_other_at_its_next_call(
    office: Office, tmp_path: Path, first: str, second: str
) -> None:
    marker = tmp_path / "go"
    steps = {
        "ada": [shell(f"until [ -e {marker} ]; do sleep 0.1; done"), shell("echo on"), say("Done.")],
        "bob": [shell(f"{office.program} say --to {first}-1 'the port is 4711'"), say("Done.")],
    }
    with running_model(steps) as model:
        ada = office.start(first, "ada", model)
        until_asked(model, "ada", 0)
        office.run(second, "bob", model)
        marker.touch()
        assert ada.wait(90) == 0, office.output("ada")
        # Quoted with ">", which Gemini CLI writes as an entity.
        quote = "&gt;" if first == "gemini" else ">"
        assert model.heard("ada", f"{quote} the port is 4711"), office.output("ada")
        assert model.heard("ada", f"{second}-1 (message")
    assert office.line.json("inbox", "--as", f"{first}-1")["messages"] == []


@pytest.mark.parametrize(("first", "second"), [("claude", "codex"), ("gemini", "claude")])
def test_a_whole_write_over_what_was_not_read_since_another_changed_it_is_refused(
    office: Office, tmp_path: Path, first: str, second: str
) -> None:
    marker = tmp_path / "go"
    steps = {
        "ada": [
            # Claude Code itself refuses after a stale reading, but not without any.
            shell("echo on") if first == "claude" else read("login.py"),
            shell(f"until [ -e {marker} ]; do sleep 0.1; done"),
            write("login.py", "mine\n"),
            read("login.py"),
            write("login.py", "mine now\n"),
            say("Done."),
        ],
        "bob": [edit("login.py", "        return 1", "        return 7"), say("Done.")],
    }
    with running_model(steps) as model:
        ada = office.start(first, "ada", model)
        until_asked(model, "ada", 1)
        office.run(second, "bob", model)
        assert "return 7" in (office.repo.path / "login.py").read_text()
        marker.touch()
        assert ada.wait(90) == 0, office.output("ada")
        assert model.heard("ada", "Re-read it, then write again"), office.output("ada")
        assert model.heard("ada", f"{second}-1 wrote it last")
    assert (office.repo.path / "login.py").read_text() == "mine now\n"
