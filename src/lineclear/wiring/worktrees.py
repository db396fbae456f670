"""Builds the stories about worktrees from an opened repository."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING

from lineclear.app.setup.applying import equip_worktree
from lineclear.app.worktrees.lifecycle import WorktreeRules, Worktrees
from lineclear.app.worktrees.salvage import Salvage
from lineclear.app.worktrees.saved_work import SavedWork
from lineclear.app.worktrees.work import AgentWork
from lineclear.core.worktrees.snapshots import SnapshotLimits
from lineclear.git.clone_worktrees import CloneBranches, CloneWorktrees
from lineclear.git.landing import landing_ref
from lineclear.git.layout import find_layout, linked_git_dir, worktrees
from lineclear.git.snapshots.clone import CloneCommits, CloneSnapshots, SnapshotRefs
from lineclear.git.uncommitted_work import GitWorkplace
from lineclear.git.worktree_files import CloneFiles
from lineclear.host import sandbox
from lineclear.host.files import write_new
from lineclear.wiring.ports import check_ports
from lineclear.wiring.repo import SNAPSHOTS, mark_of, settings_root
from lineclear.wiring.setup import clone_of
from lineclear.wiring.trust import trust_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lineclear.wiring.repo import Repo


def worktrees_in(repo: Repo) -> Worktrees:
    settings, git = repo.settings, clone_worktrees(repo)
    return Worktrees(
        store=repo.store,
        locks=repo.bonds,
        git=git,
        reader=git,
        branches=clone_branches(repo),
        files=worktree_files(repo),
        rules=WorktreeRules(
            copy=settings.worktrees_copy,
            link=settings.worktrees_link,
            env=settings.worktrees_env,
            setup=settings.worktrees_setup,
            branches=settings.worktrees_branches,
            base=settings.worktrees_base,
            ports=settings.worktrees_ports,
            ports_from=settings.worktrees_ports_from,
            ports_to=settings.worktrees_ports_to,
        ),
        scope=scope_of(repo),
        codex_home=os.path.realpath(repo.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")),
        free_ports=lambda: check_ports(repo).free_for_agents(),
        is_saved=saved_work_in(repo).is_saved,
        require_trust=lambda places: trust_of(repo).require(places),
    )


def scope_of(repo: Repo) -> str:
    """The clone's part of a worktree's name: "" but in a team's store."""
    return repo.tree.removesuffix(repo.layout.tree)


def clone_worktrees(repo: Repo) -> CloneWorktrees:
    settings = repo.settings
    return CloneWorktrees(
        repo.layout,
        settings_root(repo.layout),
        scope=scope_of(repo),
        directory=settings.worktrees_directory,
        branch_prefix=settings.worktrees_branches,
    )


def clone_branches(repo: Repo) -> CloneBranches:
    return CloneBranches(repo.layout, settings_root(repo.layout))


def worktree_files(repo: Repo) -> CloneFiles:
    settings, git = repo.settings, clone_worktrees(repo)
    return CloneFiles(
        root=git.root,
        common_dir=git.common_dir,
        directory=git.directory,
        reserve_bytes=settings.worktrees_disk_reserve_bytes,
        copy=settings.worktrees_copy,
        link=settings.worktrees_link,
        setup=settings.worktrees_setup,
        setup_timeout_ms=settings.worktrees_setup_timeout_ms,
        environ=repo.environ,
        equip=lambda path: equip_worktree(clone_of(repo.layout, repo.environ), path),
    )


def saved_work_in(repo: Repo) -> SavedWork:
    settings = repo.settings
    return SavedWork(
        git=CloneSnapshots(
            repo.layout.common_dir,
            os.path.join(repo.state_directory, SNAPSHOTS),
            scope=scope_of(repo),
            mark_of=lambda tree: mark_of(repo, tree),
            main_commit=lambda: clone_branches(repo).main_commit(),
        ),
        now_s=lambda: int(time.time()),
        limits=SnapshotLimits(
            largest_file_bytes=settings.snapshots_largest_file_bytes,
            secret_names=settings.snapshots_secret_names,
            has_secrets=settings.snapshots_secrets,
        ),
        keep=settings.snapshots_keep,
        keep_for_s=settings.snapshots_keep_for_ms // 1_000,
    )


def workplace_of(repo: Repo, path: str) -> GitWorkplace:
    """A worktree at the end of somebody's work, with the limits on what is committed from it."""
    settings = repo.settings
    is_sandboxed = "bwrap" in (settings.worktrees_sandbox, *(worker.sandbox for worker in settings.workers))

    def wrap(words: list[str], tmp: str) -> list[str]:
        return sandboxed(repo, path, words, tmp=tmp)

    limits = saved_work_in(repo).limits
    return GitWorkplace(path, landing_ref(repo.layout), limits, wrap if is_sandboxed else None)


def agent_work_in(repo: Repo) -> AgentWork:
    common_dir = repo.layout.common_dir
    return AgentWork(
        store=repo.store,
        worktrees=worktrees_in(repo),
        saved=saved_work_in(repo),
        commits=CloneCommits(common_dir, lambda: clone_branches(repo).main_commit()),
        places=lambda: dict(worktrees(common_dir)),
    )


def salvage_at(cwd: str, environ: Mapping[str, str]) -> Salvage:
    """Of the repository around a directory; opens no store."""
    common_dir = find_layout(cwd, environ).common_dir
    return Salvage(
        git=SnapshotRefs(common_dir),
        commits=CloneCommits(common_dir),
        write_new=partial(write_new, is_durable=False),
    )


def sandboxed(
    repo: Repo, path: str, argv: Sequence[str], *, tmp: str, writable: Sequence[str] = ()
) -> list[str]:
    """The command line inside a sandbox that can write to the worktree at `path`, what git needs for it, what
    the settings and `writable` name, and `tmp` as its /tmp. A client's own directories are for the caller to
    state."""
    sandbox.require()
    stated = repo.settings.worktrees_writable
    if stated:
        trust_of(repo).require(["worktrees.writable"])
    common_dir, git_dir = repo.layout.common_dir, linked_git_dir(path + "/.git") or ""
    return sandbox.wrap(
        argv,
        worktree=path,
        common_dir=common_dir,
        git_dir=git_dir if os.path.dirname(git_dir) == f"{common_dir}/worktrees" else "",
        main_ref=landing_ref(repo.layout),
        tmp=tmp,
        writable=[*(os.path.join(path, os.path.expanduser(place)) for place in stated), *writable],
    )
