"""A git that cannot merge without a worktree is refused before anybody works, not after."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.e2e.commandline import CommandLine

FAKE = '#!/bin/sh\n[ "$1" = --version ] && {{ echo "git version {version}"; exit 0; }}\nexec {git} "$@"\n'


def with_git(line: CommandLine, place: Path, version: str) -> None:
    """From now on the command line finds a git that calls itself by this version."""
    place.mkdir(exist_ok=True)
    (place / "git").write_text(FAKE.format(version=version, git=shutil.which("git")))
    (place / "git").chmod(0o755)
    line.environment["PATH"] = f"{place}:{line.environment['PATH']}"


@pytest.mark.parametrize("words", [("init",), ("run", "--", "true"), ("setup", "claude")])
def test_an_old_git_is_refused_at_the_start(
    line: CommandLine, tmp_path: Path, words: tuple[str, ...]
) -> None:
    line.ok("task", "add", "Something")
    with_git(line, tmp_path / "bin", "2.37.9")
    answer = line.run("--json", *words)
    assert answer.code == 1, answer
    refused = answer.error
    assert refused["code"] == "git.old"
    assert refused["message"].startswith("git version 2.37.9 is too old: lineclear needs git 2.38 or newer.")
    assert line.json("task", "show", "T-1")["state"] == "open"
    assert not (line.place / ".claude").exists()
    with_git(line, tmp_path / "bin", "2.38.0.windows")
    line.ok("init")
