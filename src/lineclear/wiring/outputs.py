"""Taking over a run's work, wired: its worktree, the settings' limits, the trusted checks."""

from __future__ import annotations

import os

from lineclear.app.runs import outputs
from lineclear.core.queue.checks import checks_for
from lineclear.core.runs.outputs import OutputCheck
from lineclear.core.worktrees.snapshots import SnapshotLimits
from lineclear.git.branch_moves import checkouts_of
from lineclear.git.landing import landing_ref
from lineclear.git.leftovers import GitWorkplace
from lineclear.host.commands import run_to_end
from lineclear.wiring.check_settings import stated_checks
from lineclear.wiring.repo import settings_root
from lineclear.wiring.trust import require_trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lineclear.app.runs.outputs import Delivered
    from lineclear.core.log.tables import Task
    from lineclear.wiring.repo import Repo

_GATE, _PATHS = "checks.gate", "checks.paths"


def deliver(
    repo: Repo,
    task: Task,
    *,
    agent: str,
    path: str,
    branch: str,
    since: int = 0,
    env: Mapping[str, str] | None = None,
    has_queue: bool = False,
) -> Delivered:
    """Commit what the agent left in its worktree at `path`, and hold it against what the task asks for.

    With a queue that checks what main would become, the checks are not run here, too. Refused (exit
    code 4) before anything is touched when the repository's checks are not trusted yet.
    """
    require_checks(repo)

    def check(changed: Sequence[str]) -> list[OutputCheck]:
        return [] if has_queue else run_checks(repo, path, changed, env or {})

    scope = repo.settings.run_scope
    return outputs.deliver(
        repo.store, workplace(repo, path), check, task, agent=agent, branch=branch, scope=scope, since=since
    )


def examine(repo: Repo, task: Task, *, agent: str, branch: str) -> Delivered | None:
    """Hold what is committed against what the task asks for; None where its branch is checked out nowhere."""
    places = checkouts_of(repo.layout.common_dir, f"refs/heads/{branch}")
    if not places:
        return None
    require_checks(repo)
    path = places[0].path

    def check(changed: Sequence[str]) -> list[OutputCheck]:
        return run_checks(repo, path, changed, {})

    scope = repo.settings.run_scope
    return outputs.examine(repo.store, workplace(repo, path), check, task, agent=agent, scope=scope)


def workplace(repo: Repo, path: str) -> GitWorkplace:
    """A worktree at the end of somebody's work, with the limits on what is committed from it."""
    settings = repo.settings
    limits = SnapshotLimits(
        largest_file_bytes=settings.snapshots_largest_file_bytes,
        secret_names=() if settings.snapshots_secrets else settings.snapshots_secret_names,
    )
    return GitWorkplace(path, landing_ref(repo.layout), limits.reason)


def deliver_without_tree(repo: Repo, task: Task, *, agent: str, since: int) -> Delivered:
    """The result of a run without a worktree: values, messages, files of the main tree."""
    root = settings_root(repo.layout)
    return outputs.deliver_without_tree(
        repo.store, lambda name: os.path.lexists(os.path.join(root, name)), task, agent=agent, since=since
    )


def require_checks(repo: Repo) -> None:
    require_trust(repo, (_GATE, _PATHS))


def run_checks(repo: Repo, path: str, changed: Sequence[str], env: Mapping[str, str]) -> list[OutputCheck]:
    """The gate, then the checks for these paths, up to the first that fails. Only after `require_checks`."""
    found: list[OutputCheck] = []
    for check in checks_for(stated_checks(repo.settings), changed):
        timeout_s = check.timeout_ms / 1_000
        ended = run_to_end(check.command, cwd=path, env={**repo.environ, **env}, timeout_s=timeout_s)
        found.append(OutputCheck(check.command, ended.code, ended.tail))
        if ended.code != 0:
            break
    return found
