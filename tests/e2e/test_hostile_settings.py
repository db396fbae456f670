"""Hostile lineclear.toml files in a clone: before trust nothing runs, connects or is written outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.boundary import Listener, write_by_hook
from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo, clean_environment

FILES = sorted((Path(__file__).parents[1] / "hostile_settings").glob("*.toml"))
COMMANDS = (("status",), ("init",), ("doctor",), ("trust", "--show"), ("task", "list"))


class Clone:
    """A clone with a bare repository under vendor/ whose hook leaves a mark, and with links that lead out."""

    def __init__(self, place: Path) -> None:
        self.place, self.marker, self.home = place, place / "marker", place / "home"
        self.home.mkdir()
        (self.home / "notes").write_text("mine\n")
        environ = {**clean_environment(self.home), "PGPASSWORD": "hidden", "PGCONNECT_TIMEOUT": "2"}
        self.repo = TemporaryRepo.create(place / "repo", environ)
        self.line = CommandLine(self.repo.path, environ)
        self.line.ok("init")
        vendor = self.repo.path / "vendor"
        self.repo.git("init", "--quiet", "--bare", str(vendor))
        (vendor / "hooks" / "pre-receive").write_text(f"#!/bin/sh\ntouch {self.marker}\n")
        (vendor / "hooks" / "pre-receive").chmod(0o755)
        self.repo.git("remote", "add", "origin", "./vendor")
        for name in ("TASKS.md", ".lineclear", "a.txt.agent-lock"):
            (self.repo.path / name).symlink_to(f"../home/{name.strip('.')}")
        self.repo.commit("Begin", {"a.txt": "a\n", "package.json": "{}\n", "package-lock.json": "{}\n"})
        self.repo.git("add", "TASKS.md", ".lineclear", "a.txt.agent-lock")
        self.repo.git("commit", "--quiet", "--message", "Links")

    def outside(self) -> list[str]:
        """All that lies outside of the repository and of its neighbourhood."""
        found = [path for path in self.place.iterdir() if path.name != "repo" and "repo." not in path.name]
        return sorted(str(inner) for path in found for inner in (path, *path.rglob("*")))


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    return Clone(tmp_path_factory.mktemp("hostile"))


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_nothing_runs_connects_or_is_written_outside_before_trust(clone: Clone, file: Path) -> None:
    repo, line, listener = clone.repo, clone.line, Listener()
    text = file.read_text().replace("MARKER", str(clone.marker)).replace("OUTSIDE", str(clone.home))
    repo.commit(file.stem, {"lineclear.toml": text.replace("PORT", str(listener.port))})
    outside, name = clone.outside(), file.stem
    repo.git("branch", f"work-{name}", repo.git("commit-tree", "-p", "main", "-m", "W", "main^{tree}"))
    answers = [line.run(*words) for words in COMMANDS]
    answers.append(line.run("worktree", "add", name))
    answers.append(write_by_hook(line, repo.path / "a.txt"))
    answers.append(line.run("claim", "a.txt", "--as", name))
    answers.append(line.run("land", f"work-{name}"))
    answers.append(line.run("release", "a.txt", "--as", name))
    assert not clone.marker.exists(), answers
    assert listener.connections() == 0, answers
    assert clone.outside() == outside, answers
    assert (clone.home / "notes").read_text() == "mine\n"
    assert not any("This is a bug" in answer.err for answer in answers), answers
    listener.close()


def test_there_are_at_least_twenty_hostile_files() -> None:
    assert len(FILES) >= 20
