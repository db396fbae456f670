"""The queue, built: its landings with store, git, checks and settings."""

from __future__ import annotations

import time
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from lineclear.app.ports import Caller
from lineclear.app.queue.after_landing import after_landing
from lineclear.app.queue.conflict_sides import SideEnd, add_sides
from lineclear.app.queue.landings import Landings
from lineclear.app.queue.pull_requests import PullRequests
from lineclear.app.queue.runner import QueueRules
from lineclear.app.queue.runner_turns import Turns
from lineclear.core.queue.checks import Check
from lineclear.core.queue.phases import INTEGRATOR
from lineclear.core.words.computed.queue import git_failed
from lineclear.git import queue as git_queue
from lineclear.git.integrator import SETTING, IntegratorWorktree
from lineclear.git.landing import CloneGit, LandingLock
from lineclear.git.main_files import CloneMainFiles
from lineclear.git.pull_requests import PullRequestBranches
from lineclear.git.queue import CloneQueueGit, KeptCommits
from lineclear.git.remotes import require_remote
from lineclear.git.reviewer import CommandReviewer
from lineclear.git.run import GitFailed, show_on_terminal, unbound
from lineclear.git.snapshots.refs import diff
from lineclear.git.undo import CloneUndoGit
from lineclear.host.check_pool import ThreadedCheckPool
from lineclear.host.forges import ForgeCommand
from lineclear.host.merge_processes import MERGE_PROCESSES
from lineclear.settings.stated_checks import stated_checks
from lineclear.wiring.checks import (
    check_logs,
    check_pool,
    check_runner,
    check_trees,
    committed_settings,
    repo_by,
    settings_in_force,
)
from lineclear.wiring.commit_gate import commit_gate_of
from lineclear.wiring.lock_making import lock_maker_by_settings
from lineclear.wiring.merging import merging_at, touches_at
from lineclear.wiring.strays import strays_of
from lineclear.wiring.trust import trust_at, trust_of
from lineclear.wiring.worktrees import sandboxed, workplace_of, worktrees_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from lineclear.app.queue.landings import CandidateChange
    from lineclear.core.claims.resources import Resource
    from lineclear.core.queue.conflict_sides import Owner
    from lineclear.settings import Settings
    from lineclear.wiring.repo import Repo


QUEUE_LOCK = "queue.lock"


def landings_of(repo: Repo) -> Landings:
    turns = Turns(
        repo.store, repo.liveness, Caller(f"queue@{repo.tree.partition('/')[0]}", tree=repo.tree),
        new_lock=lambda: LandingLock(repo.state_directory, QUEUE_LOCK),
        hold_bond=(lambda: repo.hold_bond("queue")) if repo.settings.store_url else None,
        clock=time.monotonic,
    )  # fmt: skip
    return Landings(repo.store, turns, lambda: open_tools(repo), tree=repo.tree, clock=time.monotonic)


@contextmanager
def open_tools(repo: Repo) -> Iterator[RepoQueueTools]:
    try:
        with closing(CloneGit(repo.layout)) as clone:
            yield RepoQueueTools(repo, clone)
    except GitFailed as error:
        raise git_failed(error.command[0], error.stderr) from error


class RepoQueueTools:
    """The `QueueTools` of app/queue/ports.py."""

    def __init__(self, repo: Repo, clone: CloneGit) -> None:
        self._repo, self._settings = repo, committed_settings(repo, clone.objects)
        settings = self._settings_at(clone.commit_of(clone.ref))
        remote = _remote_of(repo, settings)
        self.git = _queue_git(repo, clone, settings, remote)
        self.kept = KeptCommits(repo.layout.worktree, remote)

    def _settings_at(self, main: str) -> Settings:
        return self._settings.at(main) if main else self._repo.settings

    def rules(self, main: str) -> QueueRules:
        settings = self._settings_at(main)
        return QueueRules(
            batch=settings.queue_batch, workers=settings.queue_workers, review=settings.queue_review,
            reviewer=settings.queue_reviewer,
        )  # fmt: skip

    def open_checks(self, places: int) -> AbstractContextManager[ThreadedCheckPool]:
        return closing(check_pool(self._repo, places, self._settings.at))

    def stated_checks(self, main: str) -> list[tuple[Check, Resource | None]]:
        return stated_checks(self._settings_at(main))

    def reviewer(self, main: str) -> CommandReviewer | None:
        at_main = repo_by(self._repo, self._settings.at(main))
        return _reviewer(self._repo, at_main) if at_main.settings.queue_reviewer else None

    def follow_up(self, caller: Caller, landed: list[dict[str, Any]]) -> dict[str, Any] | None:
        main = self.git.clone.commit_of(self.git.clone.ref)
        at_main = repo_by(self._repo, self._settings_at(main))
        place = _integrator(at_main, main)

        def submit(branch: str) -> str:
            by = Caller(INTEGRATOR, tree=at_main.tree)
            return str(landings_of(at_main).submit(by, branch=branch, agent=INTEGRATOR)["candidate"])

        return after_landing(self._repo.store, place, submit, caller, landed, tree=self._repo.tree)


def _reviewer(repo: Repo, at_main: Repo) -> CommandReviewer:
    settings, trees = at_main.settings, check_trees(repo, at_main)
    return CommandReviewer(
        check=Check(
            settings.queue_reviewer, timeout_ms=settings.checks_gate_timeout_ms, name="review",
            where="queue.reviewer",
        ),
        runner=check_runner(at_main), common_dir=repo.layout.common_dir, logs=check_logs(repo),
        hold_tree=partial(trees.hold_any, settings.queue_workers + 1),
    )  # fmt: skip


def _integrator(at_main: Repo, main: str) -> IntegratorWorktree:
    """`at_main` goes by the settings of `main`, a commit."""
    settings = at_main.settings

    def wrap(path: str, words: list[str], tmp: str) -> list[str]:
        return sandboxed(at_main, path, words, tmp=tmp)

    return IntegratorWorktree(
        layout=at_main.layout, state_directory=at_main.state_directory, environ=at_main.environ, main=main,
        command=settings.queue_integrator, timeout_s=settings.budgets_run_time_ms / 1_000,
        worktrees=worktrees_in(at_main), require_trust=lambda: trust_of(at_main).require([SETTING]),
        hold_bond=lambda: at_main.bonds.hold(INTEGRATOR), workplace=partial(workplace_of, at_main),
        wrap=wrap if settings.worktrees_sandbox == "bwrap" else None,
    )  # fmt: skip


def _remote_of(repo: Repo, settings: Settings) -> str:
    """The remote that landings are pushed to, by the settings in force; "" for none. Git takes any word as a
    path, and a repository at that path runs its own hooks: so it has to be known here, and trusted."""
    if settings.queue_remote:
        require_remote(repo.layout.worktree, settings.queue_remote)
        trust_at(repo.layout, settings).require(["queue.remote"])
    return settings.queue_remote


def _queue_git(repo: Repo, clone: CloneGit, settings: Settings, remote: str) -> CloneQueueGit:
    """`settings`: those in force."""

    def sides(
        conflicts: list[dict[str, Any]], main: str, tip: str, branch: str, owner: Owner
    ) -> list[dict[str, Any]]:
        ends = SideEnd(commit=main), SideEnd(commit=tip, branch=branch, owner=owner)
        return add_sides(touches_at(repo.layout.worktree), repo.store, conflicts, *ends)

    return CloneQueueGit(
        clone, repo.state_directory, style=settings.queue_history,
        remote=remote, strays=strays_of(repo), gate=commit_gate_of(repo),
        merge_rules=MERGE_PROCESSES, add_sides=sides,
        maker_by=lambda main: lock_maker_by_settings(repo, main),
    )  # fmt: skip


def undo_git_of(repo: Repo) -> CloneUndoGit:
    cwd = repo.layout.worktree

    def merge_by(main: Callable[[], str]) -> Callable[[str, str, str], dict[str, Any]]:
        maker = lock_maker_by_settings(repo, main)
        return lambda base, left, right: merging_at(cwd).merge_tree(base, left, right, maker)

    return CloneUndoGit(
        repo.layout, _remote_of(repo, settings_in_force(repo)), merge_by=merge_by,
        sides=lambda found, left, right: add_sides(
            touches_at(cwd), repo.store, found, SideEnd(commit=left), SideEnd(commit=right)
        ),
    )  # fmt: skip


def main_files_of(repo: Repo) -> CloneMainFiles:
    return CloneMainFiles(repo.layout)


def pull_requests_of(repo: Repo) -> PullRequests:
    git = PullRequestBranches(repo.layout, _remote_of(repo, settings_in_force(repo)))
    tool = ForgeCommand(repo.layout.worktree, unbound(repo.environ))
    return PullRequests(repo.store, git, tool)


# -- what git says of branches, for commands ------------------------------------------------------


def branch_here(repo: Repo) -> str:
    return git_queue.branch_here(repo.layout)


def tip_of(repo: Repo, branch: str) -> str:
    return git_queue.tip_of(repo.layout, branch)


def uncommitted(repo: Repo, branch: str) -> list[str]:
    return git_queue.uncommitted(repo.layout, branch)


def patch_of(repo: Repo, change: CandidateChange) -> str:
    return diff(repo.layout.common_dir, change.base, change.result, [])


def show_change(repo: Repo, change: CandidateChange) -> int:
    """As git shows it to a person: in colour and through the pager that they chose."""
    return show_on_terminal(["diff", change.base, change.result, "--"], repo.layout.common_dir)
