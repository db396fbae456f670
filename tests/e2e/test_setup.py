"""`lineclear setup` on a repository that has hooks and settings of its own: in, again, checked, out."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lineclear.clients.registry import coding_agents
from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo

AGENTS = [client.name for client, _ in coding_agents()]

GROUPS = '{\n  // mine\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}]}\n}\n'
STRICT = GROUPS.replace("  // mine\n", "")
# What somebody has of each client before us, in the files that we change or beside those that we make.
OWN = {
    ".claude/settings.local.json": GROUPS,
    ".codex/hooks.json": STRICT,
    ".gemini/settings.json": GROUPS,
    ".qwen/settings.json": GROUPS,
    ".opencode/plugin/mine.js": "export const mine = 1\n",
    ".github/hooks/mine.json": '{"version": 1, "hooks": {}, "x": "mine"}',
    ".cursor/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "./mine.sh"}]}}',
    ".factory/hooks.json": STRICT.rstrip("\n"),
    ".grok/hooks/mine.json": STRICT,
    ".clinerules/mine.md": "mine\n",
    ".aider.conf.yml": "# mine\nmodel: x\n",
    ".goosehints": "mine\n",
    ".agents/plugins/mine/plugin.json": '{"name": "mine"}',
    ".kimi-code/mcp.json": '{"mcpServers": {"mine": {"command": "mine"}}}\n',
    ".git/hooks/pre-commit": "#!/bin/sh\necho mine\n",
}
OWN_AT_HOME = {
    ".codex/config.toml": 'model = "x" # mine',
    ".gemini/trustedFolders.json": '{"/mine": "TRUST_FOLDER"}',
    ".copilot/config.json": '// mine\n{"theme": "dark"}\n',
    ".kimi-code/config.toml": '# mine\n[[hooks]]\nevent = "Stop"\ncommand = "./mine.sh"\n',
}


@pytest.fixture
def home(repo: TemporaryRepo) -> Path:
    return Path(repo.environment["HOME"])


def everything(*roots: Path) -> dict[str, tuple[bytes, int]]:
    """Every file with its mode, and links as they are; our own state and git's database left out."""
    found = {}
    for root in roots:
        for path in sorted(root.rglob("*")):
            text = str(path)
            if (
                "/.git/objects" in text
                or "/.git/lineclear" in text
                or path.name in ("index", "COMMIT_EDITMSG")
            ):
                continue
            if path.is_symlink():
                found[text] = (os.readlink(path).encode(), -1)
            elif path.is_file():
                found[text] = (path.read_bytes(), path.stat().st_mode & 0o777)
            elif path.is_dir() and not any(path.iterdir()):
                found[text] = (b"", -2)
    return found


@pytest.mark.parametrize("name", [*AGENTS, "git"])
def test_in_again_and_out_leaves_the_disk_as_it_was(
    line: CommandLine, repo: TemporaryRepo, home: Path, name: str
) -> None:
    own = {repo.path / file: text for file, text in OWN.items()} | {
        home / file: text for file, text in OWN_AT_HOME.items()
    }
    for file, text in own.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o744 if text.startswith("#!") else 0o640)
    before = everything(repo.path, home)
    planned = line.json("setup", name, "--dry-run")["steps"]
    assert everything(repo.path, home) == before
    assert line.json("setup", name)["steps"] == planned
    after = everything(repo.path, home)
    assert after != before
    for file in own:
        assert b"mine" in after[str(file)][0] or f"{file}.kept-by-lineclear" in after, file
    assert line.json("setup", name)["steps"] == []
    assert everything(repo.path, home) == after
    line.ok("setup", name, "--remove")
    assert everything(repo.path, home) == before
    assert line.json("setup", name, "--remove")["steps"] == []


def test_nothing_that_we_make_shows_up_in_git(line: CommandLine, repo: TemporaryRepo) -> None:
    for name in AGENTS:
        line.ok("setup", name)
    assert repo.git("status", "--porcelain", "--untracked-files=all") == ""


def test_a_tracked_file_gets_no_path_of_this_machine(line: CommandLine, repo: TemporaryRepo) -> None:
    repo.commit("Settings", {".gemini/settings.json": "{}\n"})
    tree = repo.add_worktree("ada")
    told = line.ok("setup", "gemini")
    text = (repo.path / ".gemini/settings.json").read_text()
    assert str(repo.path) not in text
    assert "lineclear/hook" in text
    # What another worktree has checked out is not changed under its agent.
    assert repo.git("status", "--porcelain", at=tree) == ""
    assert "other worktrees get this change when you commit it" in told.err


def test_the_command_of_a_shared_file_finds_the_hook_from_anywhere(
    line: CommandLine, repo: TemporaryRepo, tmp_path: Path
) -> None:
    import subprocess

    tree = repo.add_worktree("far away", branch="far")
    (tree / "deep/er").mkdir(parents=True)
    (repo.path / ".gemini").mkdir()
    (repo.path / ".gemini/settings.json").write_text("{}")
    line.ok("setup", "gemini")
    said = json.loads((repo.path / ".gemini/settings.json").read_text())
    command = said["hooks"]["BeforeTool"][0]["hooks"][0]["command"]
    log = tmp_path / "fired"
    for place in (repo.path, tree, tree / "deep/er", tmp_path):
        done = subprocess.run(
            command, shell=True, cwd=place, env={**line.environment, "LINECLEAR_PROBE": str(log)}, check=False
        )
        assert done.returncode == 0
    assert log.read_text().splitlines() == ["gemini BeforeTool"] * 3


def test_worktrees_get_what_their_clients_read(line: CommandLine, repo: TemporaryRepo) -> None:
    early = repo.add_worktree("early")
    line.ok("setup", "codex")
    line.ok("setup", "claude")
    line.ok("worktree", "add", "late")
    late = repo.path.parent / "repo.worktrees/late"
    for place in (early, late):
        assert (place / ".codex/hooks.json").read_bytes() == (repo.path / ".codex/hooks.json").read_bytes()
        assert repo.git("status", "--porcelain", at=place) == ""
        # Claude Code reads the main worktree's local settings in every other one.
        assert not (place / ".claude").exists()
    line.ok("setup", "codex", "--remove")
    assert not (early / ".codex").exists()
    assert not (late / ".codex").exists()


def test_settings_kept_elsewhere_stay_a_link(line: CommandLine, repo: TemporaryRepo, home: Path) -> None:
    (home / "dotfiles").mkdir(parents=True)
    (home / "dotfiles/config.toml").write_text("# mine\n")
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").symlink_to("../dotfiles/config.toml")
    line.ok("setup", "codex")
    assert (home / ".codex/config.toml").is_symlink()
    assert "trusted_hash" in (home / "dotfiles/config.toml").read_text()
    line.ok("setup", "codex", "--remove")
    assert (home / "dotfiles/config.toml").read_text() == "# mine\n"


def test_an_agent_does_not_remove_what_watches_it(line: CommandLine) -> None:
    line.ok("setup", "claude", "--as", "ada")
    for words in (("setup", "claude", "--remove"), ("mirror", "--on"), ("mirror", "--off")):
        assert line.refused(*words, "--as", "ada", code=4)["code"] == "person.only"
    marked = line.run("setup", "claude", "--remove", env={"CLAUDECODE": "1"})
    assert "Only a person may remove what was set up." in marked.err
    line.ok("setup", "claude", "--remove")


@pytest.mark.parametrize("link", [".claude", ".claude/settings.local.json"])
def test_a_link_out_of_the_repository_is_not_written_through(
    line: CommandLine, repo: TemporaryRepo, home: Path, link: str
) -> None:
    (home / "elsewhere").mkdir(parents=True)
    (repo.path / link).parent.mkdir(exist_ok=True)
    (repo.path / link).symlink_to(home / "elsewhere" / ("" if link == ".claude" else "settings.json"))
    assert line.refused("setup", "claude", code=4)["code"] == "setup.link"
    assert line.refused("setup", "claude", "--dry-run", code=4)["code"] == "setup.link"
    assert list((home / "elsewhere").iterdir()) == []


def test_what_cannot_be_read_is_refused_and_left(line: CommandLine, repo: TemporaryRepo) -> None:
    path = repo.path / ".claude/settings.local.json"
    path.parent.mkdir()
    path.write_text('{"hooks": oops}')
    assert line.refused("setup", "claude", code=4)["code"] == "setup.unusable"
    assert path.read_text() == '{"hooks": oops}'
    assert line.refused("setup", "clade", code=5)["code"] == "setup.unknown"


def test_two_at_once_do_not_lose_each_other(line: CommandLine, repo: TemporaryRepo) -> None:
    running = [line.start("setup", name) for name in ("codex", "gemini", "qwen", "cursor")]
    codes = [one.wait() for one in running]
    for name, code in zip(("codex", "gemini", "qwen", "cursor"), codes, strict=True):
        if code:  # the exclude file was changed under it: it says so, and a repeat succeeds
            line.ok("setup", name)
    assert repo.git("status", "--porcelain", "--untracked-files=all") == ""


def test_the_list_says_what_is_set_up(line: CommandLine) -> None:
    line.ok("setup", "claude")
    rows = {row["name"]: row["installed"] for row in line.json("setup", "--list")["clients"]}
    assert rows == {name: name == "claude" for name in AGENTS}
    assert "git-merge" in line.ok("setup").out


def test_check_says_what_it_could_not_try(line: CommandLine) -> None:
    path = {"PATH": "/usr/bin:/bin"}
    assert line.run("setup", "claude", "--check").code == 6
    line.ok("setup", "claude")
    told = line.run("setup", "claude", "--check", env=path)
    assert told.code == 0
    assert "not installed" in told.out
    line.ok("setup", "cursor")
    assert "its hook was not tried" in line.ok("setup", "cursor", "--check").out


def test_the_doctor_sees_what_was_changed_since(line: CommandLine, repo: TemporaryRepo) -> None:
    line.ok("setup", "claude")
    assert "claude is set up" in line.ok("doctor").out
    (repo.path / ".claude/settings.local.json").write_text("{}")
    assert "run `lineclear setup claude`" in line.ok("doctor").out


def test_uninstall_takes_out_what_set_up_put_in(line: CommandLine, repo: TemporaryRepo, home: Path) -> None:
    before = everything(repo.path, home)
    for name in ("claude", "codex", "git"):
        line.ok("setup", name)
    assert "lineclear setup codex" in line.ok("uninstall").out
    line.ok("uninstall", "--yes")
    assert everything(repo.path, home) == before
