"""Real git repositories for tests: pinned author and dates, nothing of the developer's own settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

# What a test may see of the developer's environment. Everything else (git's variables, the marks of
# coding agents, our own settings) would change what is tested.
KEPT_VARIABLES = ("CI", "LANG", "LD_LIBRARY_PATH", "PATH", "TERM", "TMPDIR", "VIRTUAL_ENV")
KEPT_PREFIXES = ("COVERAGE_", "HYPOTHESIS_", "LC_", "PYTEST_", "PYTHON")

PINNED_AT = "2026-01-01T12:00:00+00:00"


def clean_environment(home: Path) -> dict[str, str]:
    """The environment in which tests run git and our own commands."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in KEPT_VARIABLES or name.startswith(KEPT_PREFIXES)
    }
    return kept | {
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "Test Author",
        "GIT_AUTHOR_EMAIL": "author@example.invalid",
        "GIT_AUTHOR_DATE": PINNED_AT,
        "GIT_COMMITTER_NAME": "Test Author",
        "GIT_COMMITTER_EMAIL": "author@example.invalid",
        "GIT_COMMITTER_DATE": PINNED_AT,
    }


class TemporaryRepo:
    """A repository at `path`, on branch main; its linked worktrees lie beside it."""

    def __init__(self, path: Path, environment: dict[str, str]) -> None:
        self.path = path
        self.environment = environment

    @classmethod
    def create(cls, path: Path, environment: dict[str, str]) -> TemporaryRepo:
        """Make one with a single commit, the same one every time."""
        path.mkdir(parents=True)
        repo = cls(path, environment)
        repo.git("init", "--quiet", "--initial-branch=main")
        repo.commit("Begin", {"README.md": "# Sample\n"})
        return repo

    def git(self, *arguments: str, at: Path | None = None, stdin: str | None = None) -> str:
        """Run git here (or in a worktree) and return what it printed, without the last newline."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=at or self.path,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise AssertionError(f"git {' '.join(arguments)} exited {done.returncode}: {done.stderr}")
        return done.stdout.removesuffix("\n")

    def commit(self, message: str, files: dict[str, str], *, at: Path | None = None) -> str:
        """Write the files, commit them, and return the commit's id."""
        tree = at or self.path
        for name, text in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        self.git("add", "--", *files, at=tree)
        self.git("commit", "--quiet", f"--message={message}", at=tree)
        return self.git("rev-parse", "HEAD", at=tree)

    def add_worktree(self, name: str, *, branch: str | None = None) -> Path:
        """Add a linked worktree on a new branch and return where it is."""
        path = self.path.parent / f"{self.path.name}.worktrees" / name
        self.git("worktree", "add", "--quiet", "-b", branch or name, str(path))
        return path
