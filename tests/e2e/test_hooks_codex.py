"""The real Codex with its sandbox on, where what the model runs cannot write to `.git`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients_server import edit, running_model, say, shell
from tests.e2e import agents
from tests.e2e.agents import Office
from tests.real_clients import sandbox_works
from tests.repository import TemporaryRepo

pytestmark = pytest.mark.slow

SANDBOXED = ["exec", "--json", "--sandbox", "workspace-write", "--config", 'approval_policy="never"',
             "--dangerously-bypass-hook-trust"]  # fmt: skip


@pytest.fixture
def office(repo: TemporaryRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    repo.commit("Begin", {"login.py": "one = 1\n", "logo.svg": "<svg/>\n"})
    repo.commit("Strategies", {"lineclear.toml": '[[strategy]]\nmatch = "logo.svg"\nstrategy = "locked"\n'})
    office = Office(repo, tmp_path)
    office.line.ok("setup", "git")
    with running_model({}) as model:
        if not sandbox_works(office.client("codex", "ada", model)):
            pytest.skip("NOT TESTED WITH CODEX'S SANDBOX: there can be none in here")
    monkeypatch.setitem(agents.WORDS, "codex", [*SANDBOXED, "go"])
    yield office
    office.close()
    office.no_errors()


def test_hooks_work_and_what_the_model_runs_cannot_write_to_git(office: Office) -> None:
    steps = {
        "ada": [
            edit("login.py", "one = 1", "one = 2"),
            edit("logo.svg", "<svg/>", "<b/>"),
            shell("echo more >> logo.svg"),
            shell(f"{office.program} claim login.py --mode intent"),
            shell("git commit -qam mine"),
            say("Done."),
        ]
    }
    before = office.repo.git("rev-parse", "HEAD")
    with running_model(steps) as model:
        office.run("codex", "ada", model)
        assert model.heard("ada", "logo.svg is locked: only one agent at a time"), office.output("ada")
        assert model.heard("ada", "your command changed files that you may not change")
        assert model.heard("ada", "The store cannot be written from here; nothing was changed.")
        assert model.heard("ada", "index.lock': Read-only file system")
    assert (office.repo.path / "login.py").read_text() == "one = 2\n"
    assert office.repo.git("rev-parse", "HEAD") == before
    kinds = [event["kind"] for event in office.line.json("log")["events"]]
    assert "ClaimGranted" in kinds


def test_with_the_writable_root_that_set_up_offers_commands_work_and_the_gate_holds(office: Office) -> None:
    steps = {
        "ada": [
            shell(f"{office.program} claim login.py --mode exclusive --ttl 5m"),
            edit("login.py", "one = 1", "one = 2"),
            shell("git commit -qm mine login.py"),
            shell("echo more >> logo.svg"),
            shell("git commit -qm forbidden logo.svg"),
            say("Done."),
        ]
    }
    offer = next(
        note for note in office.line.ok("setup", "codex", "--dry-run").err.split("\n") if "--add-dir" in note
    )
    root = offer.partition("--add-dir ")[2].partition("`")[0]
    assert root == str(office.repo.path / ".git")
    agents.WORDS["codex"][-1:-1] = ["--add-dir", root]
    with running_model(steps) as model:
        office.run("codex", "ada", model)
        assert model.heard("ada", "file:login.py is yours"), office.output("ada")
        assert model.heard("ada", "logo.svg is locked")
    assert office.repo.git("log", "-1", "--format=%s") == "mine", office.output("ada")
    assert office.repo.git("show", "HEAD:logo.svg") == "<svg/>"
