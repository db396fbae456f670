"""`setup --check` with real clients: the hook fires, or it is said that not.

More of them are in test_hooks_more_clients.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import in_ci
from tests.e2e.commandline import CommandLine
from tests.real_clients import NAMES, ClientsMissing, node_directory, program_of, real_client
from tests.repository import TemporaryRepo

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A HOME for the client."""
    return tmp_path / "somebody"


def client_line(name: str, line: CommandLine, home: Path) -> CommandLine:
    """The command line with the client on its PATH and a HOME in which the client was used before."""
    try:
        client = real_client(name, "http://127.0.0.1:9", home, {**line.environment})
        programs = [str(program_of(name).parent), str(node_directory())]
    except ClientsMissing as missing:
        words = f"NOT TESTED WITH {name}: {missing}"
        if in_ci():
            pytest.fail(words)
        pytest.skip(words)
    path = os.pathsep.join([*programs, line.environment["PATH"]])
    keep: dict[str, str] = {key: client.env[key] for key in ("HOME", "CODEX_HOME") if key in client.env}
    return CommandLine(line.place, {**line.environment, **keep, "PATH": path})


@pytest.mark.parametrize("name", NAMES)
def test_the_installed_hook_really_fires(line: CommandLine, place: Path, name: str) -> None:
    mine = client_line(name, line, place)
    assert mine.run("setup", name, "--check").code == 6
    mine.ok("setup", name)
    result = mine.json("setup", name, "--check")
    assert result["state"] == "fired", result
    mine.ok("setup", name, "--remove")
    assert mine.run("setup", name, "--check").code == 6


@pytest.mark.parametrize("name", ["codex", "gemini", "grok"])
def test_a_folder_that_is_not_to_be_trusted_is_left_so_and_told(
    line: CommandLine, repo: TemporaryRepo, place: Path, name: str
) -> None:
    mine = client_line(name, line, place)
    if name == "codex":
        config = place / ".codex/config.toml"
        config.write_text(config.read_text() + f'[projects."{repo.path}"]\ntrust_level = "untrusted"\n')
    elif name == "grok":
        folders = place / ".grok/trusted_folders.toml"
        folders.write_text(f'[folders."{repo.path}"]\ntrusted = false\n')
    else:
        (place / ".gemini/trustedFolders.json").write_text(f'{{"{repo.path}": "DO_NOT_TRUST"}}')
    assert "set not to trust" in mine.ok("setup", name).err
    told = mine.run("setup", name, "--check")
    assert told.code == 6, told
    assert "did not run the hook" in told.out
    assert "trust" in told.out


def test_codex_fires_in_a_worktree_made_later(line: CommandLine, repo: TemporaryRepo, place: Path) -> None:
    import subprocess

    from lineclear.clients.codex.probe import probe as probe_codex
    from lineclear.clients.probe_model import serving

    mine = client_line("codex", line, place)
    mine.ok("setup", "codex")
    mine.ok("worktree", "add", "ada", "--agent", "ada")
    log = place / "fired"
    with serving() as model:
        probe = probe_codex(model.url)
        subprocess.run(
            probe.argv,
            cwd=repo.path.parent / "repo.worktrees/ada",
            env={**mine.environment, **probe.env, "LINECLEAR_PROBE": str(log)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
    assert "codex PreToolUse" in log.read_text()
