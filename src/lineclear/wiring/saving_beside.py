"""A snapshot that a hook starts beside itself, where neither a supervisor nor a server keeps a worktree safe.

The hook waits for nothing: the snapshot is a process of its own, which may be killed at any instant like any
other. What is imported here is paid for by every call that changed something.
"""

from __future__ import annotations

import sys

from lineclear.git.snapshots.marks import take_mark
from lineclear.wiring.repo import mark_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.wiring.repo import Repo

# What the stub says about one call is nobody else's.
_OF_ONE_CALL = ("LINECLEAR_CALL",)


def save_beside(repo: Repo, agent: str) -> bool:
    """Start a snapshot of this worktree, in which something changed since the last one, if that is older than
    `snapshots.every` and nobody else sees to it. True when one was started."""
    if _is_kept_safe(repo):
        return False
    return start_detached(repo, agent=agent, tree=repo.tree, path=repo.layout.worktree)


def _is_kept_safe(repo: Repo) -> bool:
    from lineclear.host.bonds import SUPERVISOR
    from lineclear.host.server_address import is_held

    if repo.settings.serve_snapshots and is_held(repo.state_directory):
        return True
    if not repo.bonds.is_held(SUPERVISOR):
        return False
    from lineclear.app.runs.records import live_runs

    return repo.tree in [run.tree for run in repo.store.read(live_runs)]


def start_detached(repo: Repo, *, agent: str, tree: str, path: str) -> bool:
    """Start one snapshot when nobody looked at this worktree for `every`. True when one was started; of many
    hooks at one instant one starts it."""
    from lineclear.host import spawning

    if not take_mark(mark_of(repo, tree), repo.settings.snapshots_every_ms):
        return False
    environ = {name: value for name, value in repo.environ.items() if name not in _OF_ONE_CALL}
    # `-P`: nothing that lies in the repository is taken for a module of ours.
    words = ["-P", "-m", "lineclear", "-C", path, "salvage", "take", "--as", agent]
    spawning.start_detached([sys.executable, *words], environ)
    return True
