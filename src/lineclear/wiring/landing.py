"""Main in a clone: whose branch is whose, where somebody stands, and an agent that moved main itself: who it
was, and how main is put back. What brings work to main is the queue.
"""

from __future__ import annotations

from contextlib import closing, contextmanager

from lineclear.core import refusals_landing
from lineclear.core.landing import NeedsYou, Stray
from lineclear.core.tables import TASK, WORKTREE
from lineclear.core.tasks import HANDED_OVER, MERGED, TAKEN
from lineclear.git.checkouts import checkouts_of, head_ref
from lineclear.git.landing import GitGround, LandingLock, commit_of, landing_ref
from lineclear.git.leftovers import dirty_paths
from lineclear.git.run import GitFailed
from lineclear.git.strays import Moves, keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.core.tables import Task
    from lineclear.wiring.repo import Repo

__all__ = ["NeedsYou", "Stray", "contain_stray", "find_stray", "restore_main", "watch_main", "who_moved"]

# A landing takes moments; one that takes this long waits for something.
WAIT_S = 120.0


def agent_of(repo: Repo, branch: str) -> str:
    """Whose worktree a branch was made for; "" when it is nobody's, and so a person's."""
    rows = repo.store.read(lambda view: view.scan(WORKTREE, "key")) if branch else []
    return next((row.agent for row in rows if row.branch == branch and row.agent), "")


# -- main moved by an agent itself ----------------------------------------------------------------


def watch_main(repo: Repo) -> tuple[str, str]:
    """(full ref, commit) of the branch that work lands on."""
    ref = landing_ref(repo.layout)
    return ref, commit_of(repo.layout.worktree, ref)


def find_stray(repo: Repo) -> Stray | None:
    """The agent that moved main last, from where to where; None when a person or a landing did.

    Agents run with GIT_REFLOG_ACTION="lineclear:AGENT", which git writes into main's own log.
    """
    return _moves(repo, landing_ref(repo.layout)).newest_stray()


def who_moved(repo: Repo, old: str, new: str) -> str:
    """The agent that moved main from one commit to the other; "" for a person, who may."""
    stray = find_stray(repo)
    return stray.agent if stray is not None and (stray.old, stray.new) == (old, new) else ""


def restore_main(repo: Repo, old: str, new: str, agent: str, *, wait_s: float = WAIT_S) -> str | NeedsYou:
    """Main back at `old`, with its files; says under which ref the agent's commits are kept."""
    with _ground(repo, wait_s) as ground:
        ground.repair()
        return _put_back(repo, ground, Stray(agent, old, new))


def contain_stray(repo: Repo, ground: GitGround) -> str | NeedsYou:
    """What an agent put on main itself is taken away; says what was done, nothing when nothing was."""
    stray = _moves(repo, ground.ref).newest_stray()
    if stray is None or stray.new != ground.main():
        return ""
    kept = _put_back(repo, ground, stray)
    if isinstance(kept, NeedsYou):
        return kept
    return f"{stray.agent} had moved {ground.branch} itself; it was put back, its commits are at {kept}"


def _put_back(repo: Repo, ground: GitGround, stray: Stray) -> str | NeedsYou:
    kept = keep(repo.layout.worktree, stray.agent, stray.new)
    moved = ground.move(stray.new, stray.old, f"lineclear: put back what {stray.agent} moved")
    if moved.how == "moved":
        return kept
    why = moved.why or f"{ground.branch} has moved on since"
    return NeedsYou(
        f"{stray.agent} moved {ground.branch} itself, and it cannot be put back: {why}", moved.files
    )


def _moves(repo: Repo, ref: str) -> Moves:
    rows = repo.store.read(lambda view: view.scan(WORKTREE, "key"))
    trees = {row.path: row.agent for row in rows if row.agent}
    return Moves(repo.layout.worktree, repo.layout.common_dir, ref, trees)


# -- where somebody stands ------------------------------------------------------------------------


def taken_task(repo: Repo, task: int) -> Task | None:
    """The task if somebody works on it now."""
    row = repo.store.read(lambda view: view.get(TASK, (task,)))
    return row if row is not None and row.state == TAKEN else None


def branch_of_task(repo: Repo, task: int) -> str:
    """The branch that a task was handed over with; "" when it was not, or went back since."""
    row = repo.store.read(lambda view: view.get(TASK, (task,))) if task else None
    return row.branch if row is not None and row.state in (HANDED_OVER, MERGED) else ""


def branch_here(repo: Repo) -> str:
    """The branch of the worktree that one stands in."""
    layout = repo.layout
    ref = head_ref(layout.worktree, layout.common_dir, layout.git_dir)
    if not ref:
        raise refusals_landing.no_branch(layout.worktree)
    return ref.removeprefix("refs/heads/")


def uncommitted(repo: Repo, branch: str) -> list[str]:
    """What is changed and not committed in the worktrees that the branch is checked out in."""
    ref = f"refs/heads/{branch}"
    places = checkouts_of(repo.layout.common_dir, ref)
    return [path for place in places for path in dirty_paths(place.path)]


@contextmanager
def _ground(repo: Repo, wait_s: float) -> Iterator[GitGround]:
    lock = LandingLock(repo.state_directory)
    if not lock.take(wait_s):
        raise refusals_landing.landing_busy(int(wait_s))
    try:
        with closing(GitGround(repo.layout, repo.state_directory, lock)) as ground:
            yield ground
    except GitFailed as error:
        raise refusals_landing.git_failed(error.command[0], error.stderr) from error
    finally:
        lock.free()
