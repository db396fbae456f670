"""The plugins as people install them: Claude Code's with hooks, tools and skill, Gemini CLI's extension.

The script behind Claude Code's hooks is started as Claude Code starts it; then the real clients load the
plugins from this repository, and the scripted model sees what reaches it.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients_server import edit, running_model, say, tool
from tests.e2e.agents import Office
from tests.e2e.commandline import CommandLine
from tests.e2e.test_setup_real_clients import client_line
from tests.repository import TemporaryRepo

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugin"
SKILL = "Share a repository with other agents"


# -- the script behind the hooks -----------------------------------------------------------------


def call_hook(line: CommandLine, at: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """As hooks.json has it."""
    hooks = json.loads((PLUGIN / "hooks/hooks.json").read_text())["hooks"]
    command = hooks["SessionStart"][0]["hooks"][0]["command"]
    said = {"session_id": "s-1", "cwd": str(at), "hook_event_name": "SessionStart", "source": "startup"}
    return subprocess.run(
        ["sh", "-c", command],
        cwd=at,
        env={"PATH": "/usr/bin:/bin", "HOME": line.environment["HOME"], "CLAUDE_PLUGIN_ROOT": str(PLUGIN),
             "CLAUDECODE": "1", **env},
        input=json.dumps(said), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def program(tmp_path: Path) -> str:
    """A PATH with a `lineclear` that only says how it was called."""
    scripts = tmp_path / "bin"
    scripts.mkdir()
    (scripts / "lineclear").write_text('#!/bin/sh\necho "called: $*"\n')
    (scripts / "lineclear").chmod(0o755)
    return f"{scripts}{os.pathsep}/usr/bin:/bin"


def test_outside_of_git_and_without_coordination_nothing_is_started(
    bare_line: CommandLine, repo: TemporaryRepo, tmp_path: Path
) -> None:
    path = program(tmp_path)
    for place in (repo.path, tmp_path):
        done = call_hook(bare_line, place, PATH=path)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_sibling_directory_of_our_name_is_not_taken_for_a_state(
    bare_line: CommandLine, repo: TemporaryRepo, tmp_path: Path
) -> None:
    (repo.path.parent / "lineclear").mkdir()
    assert call_hook(bare_line, repo.path, PATH=program(tmp_path)).stdout == ""


def test_where_no_client_is_set_up_lineclear_of_the_path_answers(
    line: CommandLine, repo: TemporaryRepo, tmp_path: Path
) -> None:
    path, tree = program(tmp_path), repo.add_worktree("ada")
    (tree / "deep").mkdir()
    for place in (repo.path, tree, tree / "deep"):
        assert call_hook(line, place, PATH=path).stdout == "called: hook claude SessionStart\n"


def test_without_lineclear_nothing_breaks(line: CommandLine, repo: TemporaryRepo) -> None:
    done = call_hook(line, repo.path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_stub_of_another_client_is_used(line: CommandLine, repo: TemporaryRepo, tmp_path: Path) -> None:
    line.ok("setup", "codex")
    log, tree = tmp_path / "fired", repo.add_worktree("ada")
    for place in (repo.path, tree):
        assert call_hook(line, place, LINECLEAR_PROBE=str(log)).returncode == 0
    assert log.read_text().splitlines() == ["claude SessionStart"] * 2


def test_the_plugin_stands_back_where_claude_is_set_up(
    line: CommandLine, repo: TemporaryRepo, tmp_path: Path
) -> None:
    line.ok("setup", "claude")
    log, path, tree = tmp_path / "fired", program(tmp_path), repo.add_worktree("ada")
    for place in (repo.path, tree):
        assert call_hook(line, place, LINECLEAR_PROBE=str(log), PATH=path).stdout == ""
    assert not log.exists()
    line.ok("setup", "claude", "--remove")
    assert "called" in call_hook(line, repo.path, PATH=path).stdout


# -- with the real programs ----------------------------------------------------------------------


class Bare(Office):
    """Without hooks of its own: the plugin brings them."""

    def _install(self) -> None:
        pass


@pytest.fixture
def office(repo: TemporaryRepo, tmp_path: Path) -> Iterator[Office]:
    repo.commit("Begin", {"login.py": "one = 1\n", "pay.py": "two = 2\n"})
    office = Bare(repo, tmp_path)
    yield office
    office.close()
    office.no_errors()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_claude_with_the_plugin_has_hooks_tools_and_skill(office: Office) -> None:
    office.line.ok("claim", "pay.py", "--as", "bob", "--mode", "exclusive", "--note", "new prices")
    steps = [
        tool("plugin_lineclear_lineclear", "claim", resources=["login.py"], note="login"),
        edit("pay.py", "two = 2", "two = 3"),
        say("Done."),
    ]
    with running_model({"ada": steps}) as model:
        office.run("claude", "ada", model, words=["--plugin-dir", str(PLUGIN)])
        assert model.heard("ada", "file:login.py"), office.output("ada")
        assert model.heard("ada", "bob holds file:pay.py"), office.output("ada")
        assert "lineclear:lineclear" in json.dumps(model.asked[0].body), "the skill is not offered"
    assert office.line.holders("login.py") == ["claude-1"]
    assert (office.repo.path / "pay.py").read_text() == "two = 2\n"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_with_plugin_and_set_up_a_call_is_answered_once(office: Office, tmp_path: Path) -> None:
    """The plugin's hook stands back; of two servers that are started by the same words Claude starts one."""
    home = str(tmp_path / "homes" / "ada")
    line = CommandLine(office.repo.path, office.line.environment | {"HOME": home})
    line.ok("setup", "claude")
    steps = [edit("pay.py", "two = 2", "two = 3"), edit("pay.py", "two = 3", "two = 4"), say("Done.")]
    with running_model({"ada": steps}) as model:
        office.run("claude", "ada", model, words=["--plugin-dir", str(PLUGIN)])
        last = model.asked[-1].body
        names = [offered["name"] for offered in last["tools"] if offered["name"].endswith("__claim")]
        assert names == ["mcp__lineclear__claim"]
        assert json.dumps(last).count("lineclear coordinates the agents of this repository") == 1
    assert (office.repo.path / "pay.py").read_text() == "two = 4\n"
    assert office.line.ok("log").out.count("ClaimGranted") == 2


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_claude_with_the_plugin_and_no_lineclear_works_as_ever(
    repo: TemporaryRepo, office: Office, tmp_path: Path
) -> None:
    office.line.environment["PATH"] = repo.environment["PATH"]
    office.program.unlink()
    with running_model({"ada": [edit("pay.py", "two = 2", "two = 3"), say("Done.")]}) as model:
        office.run("claude", "ada", model, words=["--plugin-dir", str(PLUGIN)])
        assert not model.heard("ada", "hook error")
    assert (office.repo.path / "pay.py").read_text() == "two = 3\n"


def run_client(line: CommandLine, command: str) -> str:
    done = subprocess.run(
        shlex.split(command), cwd=line.place, env=line.environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_claude_accepts_and_installs_what_the_marketplace_offers(line: CommandLine, tmp_path: Path) -> None:
    mine = client_line("claude", line, tmp_path / "somebody")
    for manifest in (PLUGIN, ROOT):
        assert "Validation passed" in run_client(mine, f"claude plugin validate --strict {manifest}")
    run_client(mine, f"claude plugin marketplace add {ROOT}")
    run_client(mine, "claude plugin install lineclear@lineclear")
    (found,) = json.loads(run_client(mine, "claude plugin list --json"))
    assert (found["id"], found["enabled"]) == ("lineclear@lineclear", True)
    for name in ("hook.sh", ".mcp.json", "hooks/hooks.json", "skills/lineclear/SKILL.md"):
        assert (Path(found["installPath"]) / name).read_bytes() == (PLUGIN / name).read_bytes()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_gemini_with_the_extension_has_tools_and_context(office: Office, tmp_path: Path) -> None:
    with running_model({"ada": [tool("lineclear", "claim", resources=["login.py"]), say("Done.")]}) as model:
        client = office.client("gemini", "ada", model)
        mine = CommandLine(office.repo.path, client.env)
        gemini = shlex.join(client.argv)
        assert "successfully validated" in run_client(mine, f"{gemini} extensions validate {ROOT}")
        run_client(mine, f"{gemini} extensions link --consent {ROOT}")
        office.run("gemini", "ada", model)
        assert model.heard("ada", "file:login.py"), office.output("ada")
        assert any(asked.holds(SKILL) for asked in model.asked)
    assert office.line.holders("login.py") == ["gemini-1"]
