"""The work in phases, built; and lock files made by a trusted command in a check tree."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from lineclear.app.ports import Caller
from lineclear.app.queue.phase_work import PhaseTools, PhaseWork
from lineclear.core.queue.checks import Check
from lineclear.core.queue.phases import INTEGRATOR
from lineclear.core.words.computed.queue import git_failed
from lineclear.git.check_trees import file_made_in
from lineclear.git.integration import CloneIntegrationGit
from lineclear.git.run import GitFailed
from lineclear.host.full_check import ShardedFullCheck
from lineclear.host.merge_processes import MERGE_PROCESSES
from lineclear.settings.stated_checks import full_check
from lineclear.wiring.checks import check_pool, check_runner, check_trees, repo_at, require_trusted
from lineclear.wiring.commit_gate import commit_gate_of
from lineclear.wiring.lock_making import lock_maker_by_settings
from lineclear.wiring.queue import landings_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from lineclear.wiring.repo import Repo

_BOND = "phase"


def phase_work_of(repo: Repo) -> PhaseWork:
    integrator = Caller(INTEGRATOR, tree=repo.tree)

    def submit(branch: str, agent: str, priority: int) -> dict[str, Any]:
        return landings_of(repo).submit(integrator, branch=branch, agent=agent, priority=priority)

    tools = PhaseTools(
        hold_bond=lambda: repo.bonds.hold(_BOND),
        open_git=lambda: _open_git(repo),
        full_check=lambda main: _full_check_at(repo, main),
        merge_rules=MERGE_PROCESSES,
        submit=submit,
        remake=lambda commit, path, command: _remake(repo, commit, path, command),
        maker_by=lambda main: lock_maker_by_settings(repo, main),
        may=lambda path: not commit_gate_of(repo).judge_landing(INTEGRATOR, [path]),
    )
    return PhaseWork(repo.store, repo.settings.rules, integrator, tools)


def _full_check_at(repo: Repo, main: str) -> ShardedFullCheck | None:
    at_main = repo_at(repo, main)
    check = full_check(at_main.settings)
    if check is None:
        return None
    return ShardedFullCheck(
        check=check,
        main=main,
        parts=at_main.settings.checks_shards,
        provisioning=check_trees(at_main).provisioning_digest(),
        require_trusted=lambda checks: require_trusted(at_main, checks),
        open_pool=lambda places: check_pool(repo, places, lambda _: at_main.settings),
    )


@contextmanager
def _open_git(repo: Repo) -> Iterator[CloneIntegrationGit]:
    try:
        with closing(CloneIntegrationGit(repo.layout)) as git:
            yield git
    except GitFailed as error:
        raise git_failed(error.command[0], error.stderr) from error


def _remake(repo: Repo, commit: str, path: str, command: str) -> bytes | None:
    """A lock file as its own tool makes it from main's manifests, in a check tree. Only a command that a
    person trusts or has stated in this clone runs, in the very words: as a set-up command, say."""
    at_main = repo_at(repo, commit)
    settings = at_main.settings
    if command not in settings.worktrees_setup:
        return None
    tree = check_trees(repo, at_main).hold_any(settings.queue_workers)
    if tree is None:
        return None
    check = Check(command, timeout_ms=settings.worktrees_setup_timeout_ms, where="worktrees.setup")
    return file_made_in(tree, check_runner(at_main), check, commit, path)
