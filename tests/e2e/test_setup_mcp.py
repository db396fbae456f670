"""`lineclear setup` registers the MCP server beside the user's own: in, again, left out, checked, out."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.clients_server import running_model, say, tool
from tests.e2e.agents import WORDS
from tests.e2e.commandline import CommandLine
from tests.e2e.test_setup import everything
from tests.e2e.test_setup_real_clients import client_line
from tests.real_clients import NAMES, real_client
from tests.repository import TemporaryRepo

SERVERS = '{\n  // mine\n  "mcpServers": {\n    "mine": {"command": "./mine.sh"} // first\n  }\n}\n'
STRICT = '{"mcpServers": {"mine": {"command": "./mine.sh", "env": {}}}, "x": [1]}'
# Where each client has its servers (~ is the home directory), and what somebody has there before us.
OWN = {
    "claude": ("~/.claude.json", '{"numStartups": 3, "projects": {"@ROOT@": {"mcpServers": {"mine": {}}}}}'),
    "codex": (".codex/config.toml", '# mine\n[mcp_servers.mine]\ncommand = "./mine.sh"'),
    "gemini": (".gemini/settings.json", SERVERS),
    "qwen": (".qwen/settings.json", SERVERS),
    "opencode": ("opencode.json", '{\n\t"mcp": {"mine": {"type": "local", "command": ["./mine.sh"]}}\n}'),
    "copilot": (".mcp.json", STRICT),
    "cursor": (".cursor/mcp.json", STRICT),
}
KEYS = {"codex": "mcp_servers", "opencode": "mcp"}


@pytest.fixture
def home(repo: TemporaryRepo) -> Path:
    return Path(repo.environment["HOME"])


def file_of(name: str, repo: TemporaryRepo) -> Path:
    place = OWN[name][0]
    if place.startswith("~"):
        return Path(repo.environment["HOME"]) / place[2:]
    return repo.path / place


def give_own(name: str, repo: TemporaryRepo) -> Path:
    file = file_of(name, repo)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(OWN[name][1].replace("@ROOT@", str(repo.path)))
    file.chmod(0o640)
    return file


def servers_in(name: str, repo: TemporaryRepo) -> dict[str, Any]:
    """The client's servers for this repository, by name."""
    text = file_of(name, repo).read_text()
    lines = [line.split(" // ")[0] for line in text.splitlines() if not line.strip().startswith("//")]
    said = tomllib.loads(text) if name == "codex" else json.loads("\n".join(lines))
    if name == "claude":
        said = said["projects"][str(repo.path)]
    found: dict[str, Any] = said[KEYS.get(name, "mcpServers")]
    return found


def words_of(server: dict[str, Any]) -> list[str]:
    command = server["command"]
    return command if isinstance(command, list) else [command, *server["args"]]


@pytest.mark.parametrize("name", OWN)
def test_in_beside_the_users_own_again_and_out(
    line: CommandLine, repo: TemporaryRepo, home: Path, name: str
) -> None:
    give_own(name, repo)
    before = everything(repo.path, home)
    line.ok("setup", name)
    assert list(servers_in(name, repo)) == ["mine", "lineclear"]
    assert line.json("setup", name)["steps"] == []
    line.ok("setup", name, "--remove")
    assert everything(repo.path, home) == before


@pytest.mark.parametrize("name", OWN)
def test_a_file_of_ours_alone_names_the_stub_and_goes_again(
    line: CommandLine, repo: TemporaryRepo, home: Path, name: str
) -> None:
    before = everything(repo.path, home)
    line.ok("setup", name)
    words = words_of(servers_in(name, repo)["lineclear"])
    if name != "claude":  # its file is read in every worktree, and is word for word what the plugin says
        assert words == [f"{repo.path}/.git/lineclear/hook", "mcp"]
    assert repo.git("status", "--porcelain", "--untracked-files=all") == ""
    line.ok("setup", name, "--remove")
    assert everything(repo.path, home) == before


@pytest.mark.parametrize("name", OWN)
def test_a_file_that_may_be_committed_gets_no_path_of_this_machine(
    line: CommandLine, repo: TemporaryRepo, name: str
) -> None:
    give_own(name, repo)
    line.ok("setup", name)
    server = servers_in(name, repo)["lineclear"]
    assert str(repo.path) not in json.dumps(server)
    assert not server.get("required"), "whoever clones it may do without lineclear"


@pytest.mark.parametrize("name", OWN)
def test_it_can_be_left_out_and_taken_out_alone(line: CommandLine, repo: TemporaryRepo, name: str) -> None:
    give_own(name, repo)
    line.ok("setup", name, "--no-mcp")
    assert list(servers_in(name, repo)) == ["mine"]
    assert line.json("setup", name, "--no-mcp")["steps"] == []
    assert f"{name} is set up" in line.ok("doctor").out
    line.ok("setup", name)
    assert list(servers_in(name, repo)) == ["mine", "lineclear"]
    line.ok("setup", name, "--no-mcp")
    assert list(servers_in(name, repo)) == ["mine"]


@pytest.mark.parametrize("name", OWN)
def test_a_server_of_that_name_that_is_the_users_own_stays(
    line: CommandLine, repo: TemporaryRepo, name: str
) -> None:
    file = give_own(name, repo)
    file.write_text(file.read_text().replace("mine]", "lineclear]").replace('"mine": {', '"lineclear": {'))
    own = servers_in(name, repo)
    told = line.ok("setup", name)
    assert "already has a server called lineclear" in told.err
    assert servers_in(name, repo) == own
    line.ok("setup", name, "--remove")
    assert servers_in(name, repo) == own


def test_a_client_that_writes_its_file_again_needs_no_new_set_up(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    """As Claude Code does at every start."""
    line.ok("setup", "claude")
    file = file_of("claude", repo)
    said = json.loads(file.read_text())
    said["projects"][str(repo.path)]["allowedTools"] = []
    file.write_text(json.dumps({"numStartups": 1} | said))
    assert line.json("setup", "claude")["steps"] == []
    line.ok("setup", "claude", "--remove")
    left = {"numStartups": 1, "projects": {str(repo.path): {"allowedTools": []}}}
    assert json.loads(file.read_text()) == left


@pytest.mark.parametrize(("name", "key"), [("opencode", "$schema"), ("qwen", "$version")])
def test_what_a_client_adds_of_itself_does_not_keep_our_file(
    line: CommandLine, repo: TemporaryRepo, home: Path, name: str, key: str
) -> None:
    before = everything(repo.path, home)
    line.ok("setup", name)
    file = file_of(name, repo)
    file.write_text(json.dumps({key: 4} | json.loads(file.read_text()), indent=2))
    assert line.json("setup", name)["steps"] == []
    line.ok("setup", name, "--remove")
    assert everything(repo.path, home) == before


def test_worktrees_have_the_server_of_codex_and_what_is_tracked_stays_untouched(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    repo.commit("Settings", {"opencode.json": "{}\n"})
    tree = repo.add_worktree("ada")
    line.ok("setup", "codex")
    told = line.ok("setup", "opencode")
    line.ok("worktree", "add", "late")
    for place in (tree, repo.path.parent / "repo.worktrees/late"):
        own = (place / ".codex/config.toml").read_text()
        assert tomllib.loads(own)["mcp_servers"]["lineclear"]["required"] is True
    # A tracked file comes with a merge; what is ours alone comes now.
    assert "opencode.json is tracked by git" in told.err
    assert (tree / "opencode.json").read_text() == "{}\n"
    assert (tree / ".opencode/plugin/lineclear.js").exists()
    assert repo.git("status", "--porcelain", at=tree) == ""
    line.ok("setup", "opencode", "--remove")
    assert not (tree / ".opencode").exists()


def test_check_asks_the_server_for_its_tools(line: CommandLine) -> None:
    line.ok("setup", "cursor")
    assert "claim" in line.json("setup", "cursor", "--check")["tools"]
    line.ok("setup", "cursor", "--no-mcp")
    assert line.json("setup", "cursor", "--check")["tools"] == []


def test_check_says_when_the_server_does_not_answer(line: CommandLine, tmp_path: Path) -> None:
    """A module of that name, found before the real one, stands for an installation that is broken."""
    line.ok("setup", "cursor")
    (tmp_path / "mcp.py").write_text("raise SystemExit(1)\n")
    told = line.run("setup", "cursor", "--check", env={"PYTHONPATH": str(tmp_path)})
    assert told.code == 6, told
    assert "did not list its tools" in told.out


# -- with the real programs ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", NAMES)
def test_the_model_is_shown_the_tools_and_can_use_them(
    line: CommandLine, repo: TemporaryRepo, tmp_path: Path, name: str
) -> None:
    repo.commit("Begin", {"login.py": "one = 1\n"})
    # What set-up says for the main worktree holds for Claude Code in linked ones.
    at = repo.add_worktree("ada") if name == "claude" else repo.path
    mine = client_line(name, line, tmp_path / "somebody")
    with running_model({"ada": [tool("lineclear", "claim", resources=["login.py"]), say("Done.")]}) as model:
        client = real_client(name, model.url("ada"), tmp_path / "somebody", mine.environment)
        mine.ok("setup", name)
        result = mine.json("setup", name, "--check")
        assert result["state"] == "fired", result
        assert "claim" in result["tools"]
        assert any("its model" in words for words in result["lines"]), result
        done = subprocess.run(
            [*client.argv, *WORDS[name]], cwd=at, env=client.env | {"IS_SANDBOX": "1", "PWD": str(at)},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert model.heard("ada", "file:login.py"), done.stdout[-3000:] + done.stderr[-1000:]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_client_that_hides_the_tools_is_found_out(line: CommandLine, tmp_path: Path) -> None:
    place = tmp_path / "somebody"
    mine = client_line("gemini", line, place)
    mine.ok("setup", "gemini")
    settings = place / ".gemini/settings.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"mcp": {"excluded": ["lineclear"]}}))
    told = mine.run("setup", "gemini", "--check")
    assert told.code == 6, told
    assert "saw none of them in two attempts" in told.out
