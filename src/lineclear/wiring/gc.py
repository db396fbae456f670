"""Builds what clears away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.worktrees.clearing import Cleanup
from lineclear.git.cleanup import CloneCleanupGit
from lineclear.git.layout import CHECKS
from lineclear.host.cleanup_files import ClearableFiles
from lineclear.settings.stated_checks import has_checks
from lineclear.wiring.checks import check_trees
from lineclear.wiring.worktrees import clone_branches, clone_worktrees, saved_work_in, worktrees_in

if TYPE_CHECKING:
    from lineclear.wiring.repo import Repo


def cleanup_in(repo: Repo) -> Cleanup:
    settings, site = repo.settings, clone_worktrees(repo)
    return Cleanup(
        store=repo.store,
        presence=repo.presence,
        liveness=repo.liveness,
        worktrees=worktrees_in(repo),
        saved=saved_work_in(repo),
        git=CloneCleanupGit(site.common_dir, site.root, clone_branches(repo).main_commit),
        files=ClearableFiles(
            repo.state_directory, repo.bonds, repo.clock, home=site.directory, skipped=CHECKS
        ),
        check_trees=check_trees(repo),
        branch_prefix=settings.worktrees_branches,
        has_checks=has_checks(settings),
        silence_ms=settings.agents_silence_ms,
    )
