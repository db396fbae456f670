"""Main in a clone: whose branch is whose, where somebody stands, and an agent that moved main itself: who it
was, and how main is put back. What brings work to main is the queue.
"""

from __future__ import annotations

from contextlib import closing

from lineclear.core.log.tables import TASK, WORKTREE
from lineclear.core.queue.landing import NeedsYou, Stray
from lineclear.core.tasks.states import HANDED_OVER, MERGED, TAKEN
from lineclear.core.words.queue import git_failed
from lineclear.core.words.refusals import refuse
from lineclear.git.branch_moves import checkouts_of, head_ref
from lineclear.git.landing import LOCK_WAIT_S, CloneGit, commit_of, landing_ref, locked_main
from lineclear.git.leftovers import dirty_paths
from lineclear.git.run import GitFailed
from lineclear.git.strays import Moves, keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.ports import View
    from lineclear.core.log.tables import Task
    from lineclear.git.landing import LockedMain
    from lineclear.wiring.repo import Repo

__all__ = ["NeedsYou", "Stray", "contain_stray", "find_stray", "restore_main", "watch_main", "who_moved"]


def agent_of(repo: Repo, branch: str) -> str:
    """Whose worktree a branch was made for; "" when it is nobody's, and so a person's."""
    return repo.store.read(lambda view: agent_on(view, branch)) if branch else ""


def agent_on(view: View, branch: str) -> str:
    rows = view.scan(WORKTREE, "key")
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


def restore_main(
    repo: Repo, old: str, new: str, agent: str, *, wait_s: float = LOCK_WAIT_S
) -> str | NeedsYou:
    """Main back at `old`, with its files; says under which ref the agent's commits are kept."""
    try:
        with closing(CloneGit(repo.layout)) as git, locked_main(git, repo.state_directory, wait_s) as main:
            main.repair()
            return _put_back(repo, main, Stray(agent, old, new))
    except GitFailed as error:
        raise git_failed(error.command[0], error.stderr) from error


def contain_stray(repo: Repo, main: LockedMain) -> str | NeedsYou:
    """What an agent put on main itself is taken away; says what was done, nothing when nothing was."""
    stray = _moves(repo, main.ref).newest_stray()
    if stray is None or stray.new != main.commit():
        return ""
    kept = _put_back(repo, main, stray)
    if isinstance(kept, NeedsYou):
        return kept
    return f"{stray.agent} had moved {main.branch} itself; it was put back, its commits are at {kept}"


def _put_back(repo: Repo, main: LockedMain, stray: Stray) -> str | NeedsYou:
    kept = keep(repo.layout.worktree, stray.agent, stray.new)
    moved = main.move(stray.new, stray.old, f"lineclear: put back what {stray.agent} moved")
    if moved.how == "moved":
        return kept
    why = moved.why or f"{main.branch} has moved since"
    return NeedsYou(
        f"{stray.agent} moved {main.branch} itself, and it cannot be put back: {why}", moved.files
    )


def _moves(repo: Repo, ref: str) -> Moves:
    def trees() -> dict[str, str]:
        rows = repo.store.read(lambda view: view.scan(WORKTREE, "key"))
        return {row.path: row.agent for row in rows if row.agent}

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
        raise refuse("land.detached", path=layout.worktree)
    return ref.removeprefix("refs/heads/")


def uncommitted(repo: Repo, branch: str) -> list[str]:
    """What is changed and not committed in the worktrees that the branch is checked out in."""
    ref = f"refs/heads/{branch}"
    places = checkouts_of(repo.layout.common_dir, ref)
    return [path for place in places for path in dirty_paths(place.path)]
