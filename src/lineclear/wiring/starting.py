"""Builds what puts a repository under coordination, and what plans to take it out again."""

from __future__ import annotations

import os
from functools import partial
from json import dumps
from typing import TYPE_CHECKING

from lineclear.app.setup import starting
from lineclear.app.setup.starting import NewRepo
from lineclear.core import git_versions
from lineclear.git.commits import root_commit
from lineclear.git.layout import find_layout
from lineclear.git.run import GitFailed, git
from lineclear.host.clock import HostClock
from lineclear.host.files import is_network_fs
from lineclear.settings import TEAM_FILE
from lineclear.settings.local_file import write_local_section
from lineclear.settings.team_file import write_repo_id
from lineclear.store.sqlite import engine as sqlite
from lineclear.wiring.checks import warnings_in_force
from lineclear.wiring.repo import (
    bell_in,
    read_settings,
    require_trusted_store,
    settings_root,
    state_directory,
)
from lineclear.wiring.setup import clone_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.git.layout import Layout
    from lineclear.settings import Settings


def find_settings(cwd: str, environ: Mapping[str, str]) -> Settings:
    """As the main worktree states them; a warning names each one that is not in force."""
    layout = find_layout(cwd, environ)
    settings = read_settings(layout, environ)
    layout.landing = settings.queue_branch
    settings.warnings += warnings_in_force(layout, environ, settings)
    return settings


def require_git() -> None:
    """Refuse to start work with a git that cannot land it."""
    try:
        said = git(["--version"], os.sep).decode().strip()
    except GitFailed:
        said = ""
    git_versions.require_git(said)


def init_repo(cwd: str, environ: Mapping[str, str], url: str = "") -> dict[str, object]:
    require_git()
    layout = find_layout(cwd, environ)
    settings = read_settings(layout, environ, {"store.url": url} if url else None)
    require_trusted_store(settings)
    return new_repo(layout, settings).init(url)


def new_repo(layout: Layout, settings: Settings) -> NewRepo:
    root, directory = settings_root(layout), state_directory(layout)

    def create_postgres(repo_id: str) -> bool:
        from lineclear.store.postgres.engine import create  # `psycopg` is installed only for teams

        return create(settings.store_url, repo_id)

    return NewRepo(
        root=root,
        worktree=layout.worktree,
        directory=directory,
        repo_id=settings.repo_id,
        store_url=settings.store_url,
        network_fs=is_network_fs,
        make_directory=partial(os.makedirs, directory, mode=0o700, exist_ok=True),
        create_sqlite=lambda: sqlite.create(directory, HostClock().now().wall_ns),
        make_bells=bell_in(directory).make_directory,
        create_postgres=create_postgres,
        root_commit=partial(root_commit, layout.worktree),
        write_repo_id=partial(write_repo_id, root),
        write_store_url=lambda url: write_local_section(directory, "[store]", [f"url = {dumps(url)}"]),
    )


def plan_uninstall(cwd: str, environ: Mapping[str, str]) -> dict[str, list[str]]:
    layout = find_layout(cwd, environ)
    return starting.plan_uninstall(
        clone_of(layout, environ),
        has_directory=os.path.isdir(state_directory(layout)),
        team_file=os.path.join(settings_root(layout), TEAM_FILE),
        is_team=bool(read_settings(layout, environ).store_url),
    )
