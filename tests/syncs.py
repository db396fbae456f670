"""An agent's worktree that is brought up to main, for tests; and all of its state, to compare."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lineclear.app.ports import Caller
from lineclear.core.words.refusals import Refusal
from lineclear.core.worktrees.syncing import Conflicted, Synced
from lineclear.wiring.repo import open_repo
from lineclear.wiring.sync import sync_in
from tests.landings import Team
from tests.repository import TemporaryRepo

BASE = {
    "login.py": "def login(user):\n    check(user)\n    return True\n\n\ndef other():\n    return 1\n",
    "a.txt": "one\ntwo\nthree\nfour\nfive\n",
    "b.txt": "b\n",
    "gone.txt": "x\n",
}


def sync(team: Team, agent: str = "ada", *, keep: bool = False, task: int = 0) -> Synced | Conflicted:
    """As the agent itself would, standing in its worktree."""
    repo = open_repo(str(team.tree_of(agent)), team.git.environment)
    try:
        return sync_in(repo, Caller(agent, tree=agent)).sync(keep=keep, task=task)
    finally:
        repo.close()


def refusal_of(act: Callable[[], object]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        act()
    return caught.value


def files_of(root: Path) -> dict[str, bytes]:
    found = [path for path in root.rglob("*") if path.is_file() or path.is_symlink()]
    return {
        str(path.relative_to(root)): str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        for path in found
        if path.name != ".git" and ".git" not in path.relative_to(root).parts
    }


def state_of(git: TemporaryRepo, root: Path) -> dict[str, object]:
    """Everything that somebody who works there could notice."""
    return {
        "head": git.git("rev-parse", "HEAD", at=root),
        "branch": git.git("symbolic-ref", "--quiet", "HEAD", at=root),
        "index": git.git("ls-files", "--stage", "-t", at=root),
        "status": git.git("status", "--porcelain=v2", "--untracked-files=all", at=root),
        "files": files_of(root),
        "merge": sorted(path.name for path in git_dir(git, root).glob("MERGE_*")),
    }


def git_dir(git: TemporaryRepo, root: Path) -> Path:
    return Path(git.git("rev-parse", "--absolute-git-dir", at=root))


def leftovers(git: TemporaryRepo, root: Path) -> list[str]:
    """Files of an unfinished sync in the worktree's git directory."""
    found = git_dir(git, root).iterdir()
    return sorted(
        path.name
        for path in found
        if path.name.startswith("lineclear.") or path.suffix in (".lock", ".mark", ".new")
    )
