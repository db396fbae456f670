"""Builds what brings a worktree's branch up to main."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lineclear.app.worktrees.worktree_sync import WorktreeSync
from lineclear.git.layout import find_layout
from lineclear.git.syncing import open_sync_git
from lineclear.host.merge_processes import MERGE_PROCESSES
from lineclear.wiring.lock_making import lock_maker_by_settings
from lineclear.wiring.merging import touches_at
from lineclear.wiring.strays import strays_of
from lineclear.wiring.worktrees import scope_of

if TYPE_CHECKING:
    from lineclear.app.ports import Caller
    from lineclear.wiring.repo import Repo


def sync_in(repo: Repo, caller: Caller, path: str = "") -> WorktreeSync:
    """For the worktree at `path`, or else for the one that the repo was opened in."""
    layout = find_layout(path, {}) if path else repo.layout
    make_maker = partial(lock_maker_by_settings, repo)
    return WorktreeSync(
        store=repo.store,
        caller=caller,
        tree=scope_of(repo) + layout.tree,
        name=layout.tree,
        open_git=partial(open_sync_git, layout, repo.state_directory, strays_of(repo), make_maker),
        touches=touches_at(layout.worktree),
        merge_rules=MERGE_PROCESSES,
    )
