"""Putting a repository under coordination, and taking it out again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.core.words.refusals import refuse
from lineclear.git.layout import find_layout
from lineclear.host.clock import HostClock
from lineclear.wiring.repo import read_settings, settings_root, state_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.git.layout import Layout
    from lineclear.settings import Settings


def find_settings(cwd: str, environ: Mapping[str, str]) -> Settings:
    return read_settings(find_layout(cwd, environ), environ)


def init_repo(cwd: str, environ: Mapping[str, str], url: str = "") -> dict[str, object]:
    """Make the store (or bring it to the newest schema); for a team also note where it is."""
    layout = find_layout(cwd, environ)
    directory = state_directory(layout)
    settings = read_settings(layout, environ, {"store.url": url} if url else None)
    if settings.repo_id and not settings.store_url:
        raise refuse("store.team", repo_id=settings.repo_id)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    if settings.store_url:
        created = _init_postgres(layout, settings, url)
    else:
        from lineclear.host.files import is_network_fs
        from lineclear.store.sqlite.engine import create

        network = is_network_fs(directory)
        if network:
            raise refuse("store.network", path=directory, file_system=network)
        created = create(directory, HostClock().now().wall_ns)
        os.makedirs(os.path.join(directory, "bells"), mode=0o700, exist_ok=True)
    engine = "postgres" if settings.store_url else "sqlite"
    return {"repo": layout.worktree, "engine": engine, "created": created, "directory": directory}


def _init_postgres(layout: Layout, settings: Settings, url: str) -> bool:
    from lineclear.store.postgres.engine import create

    repo_id = settings.repo_id or write_repo_id(layout)
    created = create(settings.store_url, repo_id)
    if url:
        _write_store_url(state_directory(layout), url)
    return created


def write_repo_id(layout: Layout) -> str:
    """A name that every clone shares, written where the team commits it."""
    from lineclear.git.run import git
    from lineclear.host.files import write_atomically

    roots = git(["rev-list", "--max-parents=0", "HEAD"], layout.worktree, check=False).decode().split()
    if not roots:
        raise refuse("repo.empty", path=layout.worktree)
    root = settings_root(layout)
    repo_id = f"{os.path.basename(root)}-{roots[-1][:10]}"
    path = os.path.join(root, "lineclear.toml")
    before = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            before = file.read()
    addition = f'[repo]\nid = "{repo_id}"\n'
    write_atomically(path, (addition + "\n" + before if before else addition).encode())
    return repo_id


def _write_store_url(directory: str, url: str) -> None:
    from json import dumps

    from lineclear.settings.local_file import write_local_section

    write_local_section(directory, "[store]", [f"url = {dumps(url)}"])


def plan_uninstall(cwd: str, environ: Mapping[str, str]) -> dict[str, list[str]]:
    """What lineclear put into this clone; what the team shares is named and kept."""
    layout = find_layout(cwd, environ)
    directory = state_directory(layout)
    shared = os.path.join(settings_root(layout), "lineclear.toml")
    kept = [f"{shared} (yours)"] if os.path.exists(shared) else []
    settings = read_settings(layout, environ)
    if settings.store_url:
        kept.append("the team's PostgreSQL store")
    from lineclear.wiring.setup import clone_of

    paths = [directory] if os.path.isdir(directory) else []
    return {"paths": paths, "kept": kept, "clients": clone_of(layout, environ).installed()}


def remove_all(paths: list[str]) -> None:
    from shutil import rmtree

    for path in paths:
        rmtree(path)
