"""Builds what takes lineclear out of a repository, and finds what still runs there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.app.worktrees.uninstalling import Uninstalling
from lineclear.git.uninstall import CloneUninstallGit
from lineclear.host import server_address
from lineclear.host.bonds import SUPERVISOR
from lineclear.host.files import remove_if_empty
from lineclear.host.locks import is_locked
from lineclear.host.supervision import StatusFile
from lineclear.wiring.checks import check_trees
from lineclear.wiring.queue import QUEUE_LOCK
from lineclear.wiring.worktrees import clone_branches, clone_worktrees, saved_work_in, worktrees_in

if TYPE_CHECKING:
    from lineclear.wiring.repo import Repo


def uninstalling_in(repo: Repo) -> Uninstalling:
    site = clone_worktrees(repo)
    return Uninstalling(
        store=repo.store,
        worktrees=worktrees_in(repo),
        saved=saved_work_in(repo),
        git=CloneUninstallGit(site.root, clone_branches(repo).main_commit),
        check_trees=check_trees(repo),
        branch_prefix=repo.settings.worktrees_branches,
        remove_home=lambda: remove_if_empty(site.directory),
    )


def running_in(repo: Repo) -> list[tuple[str, str]]:
    """What runs in this clone now, each with the command that ends it or shows it."""
    found, state = [], repo.state_directory
    if repo.bonds.is_held(SUPERVISOR):
        status = StatusFile(os.path.join(state, "supervisor.json")).read() or {}
        pid = status.get("pid")
        found.append(("a supervisor (`lineclear run`)", f"kill -INT {pid}" if pid else "lineclear status"))
    if is_served(repo):
        found.append(("a server", "lineclear serve --stop"))
    if is_locked(os.path.join(state, QUEUE_LOCK)):
        found.append(("the queue", "lineclear queue list"))
    return found


def is_served(repo: Repo) -> bool:
    return server_address.is_held(repo.state_directory)
