"""Landing, wired: one landing at a time in a clone, with git and the merge engine behind the use cases.

Also what an agent that moved main itself leaves behind: who it was, and how main is put back.
"""

from __future__ import annotations

from contextlib import contextmanager

from lineclear.app import landing
from lineclear.core import refusals_landing
from lineclear.core.landing import Landed, NeedsYou, SentBack, Stray
from lineclear.core.refusals import Refusal
from lineclear.core.tables import TASK, WORKTREE
from lineclear.core.tasks import HANDED_OVER, MERGED, TAKEN, show_id
from lineclear.git.checkouts import checkouts_of, head_ref
from lineclear.git.landing import GitGround, LandingLock, commit_of, landing_ref
from lineclear.git.leftovers import dirty_paths
from lineclear.git.run import GitFailed
from lineclear.git.strays import Moves, keep
from lineclear.wiring.gate import judge_landing
from lineclear.wiring.merging import spread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lineclear.app.landing import Result
    from lineclear.app.ports import Caller
    from lineclear.core.gate import Finding
    from lineclear.core.tables import Task
    from lineclear.wiring.repo import Repo

__all__ = ["Landed", "NeedsYou", "SentBack", "Stray", "land", "land_pending", "preview", "settle"]

# A landing takes moments; one that takes this long waits for something.
WAIT_S = 120.0


def land(
    repo: Repo, caller: Caller, *, task: int = 0, branch: str = "", agent: str = "", wait_s: float = WAIT_S
) -> Result:
    """Hand over (when the task is taken) and land now; what is on main already only ends its task.

    Bad input is a Refusal. `SentBack`: the task went back with the reason. `NeedsYou`: nothing moved, the
    task stays handed over, and `land_pending` tries again.
    """
    with _ground(repo, wait_s) as ground:
        return _land(repo, caller, ground, task, branch, agent)


def _land(
    repo: Repo, caller: Caller, ground: GitGround, task: int, branch: str = "", agent: str = ""
) -> Result:
    """What an agent put on main itself is taken away first: nothing may be built upon it."""
    ground.repair()
    moved_back = _contain(repo, ground)
    if isinstance(moved_back, NeedsYou):
        return moved_back
    result = landing.land(
        repo.store, caller, ground, spread, task=task, branch=branch, agent=agent or agent_of(repo, branch),
        judge=_judge(repo),
    )  # fmt: skip
    if moved_back and isinstance(result, Landed):
        result.notes.append(moved_back)
    return result


def preview(repo: Repo, *, task: int = 0, branch: str = "", wait_s: float = WAIT_S) -> Result:
    """What landing would come to. Nothing moves, no task changes."""
    with _ground(repo, wait_s) as ground:
        return landing.preview(
            repo.store, ground, spread, task=task, branch=branch, agent=agent_of(repo, branch),
            judge=_judge(repo),
        )  # fmt: skip


def _judge(repo: Repo) -> Callable[[str, Sequence[str]], list[Finding]]:
    return lambda agent, paths: judge_landing(repo, agent, paths)


def agent_of(repo: Repo, branch: str) -> str:
    """Whose worktree a branch was made for; "" when it is nobody's, and so a person's."""
    rows = repo.store.read(lambda view: view.scan(WORKTREE, "key")) if branch else []
    return next((row.agent for row in rows if row.branch == branch and row.agent), "")


def land_pending(repo: Repo, caller: Caller, *, wait_s: float = WAIT_S) -> dict[str, Result]:
    """Every task that was handed over, one after another: {"T-1": what it came to}."""
    results: dict[str, Result] = {}
    for task in repo.store.read(landing.pending):
        with _ground(repo, wait_s) as ground:
            try:
                results[show_id(task.id)] = _land(repo, caller, ground, task.id)
            except Refusal as refusal:  # its branch is gone, or it ended meanwhile: the others go on
                results[show_id(task.id)] = NeedsYou(refusal.what)
    return results


def settle(repo: Repo, caller: Caller, *, wait_s: float = WAIT_S) -> list[str]:
    """After a death: repairs a half-moved tree, and ends tasks whose branch is on main already."""
    with _ground(repo, wait_s) as ground:
        return landing.settle(repo.store, caller, ground)


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


def _contain(repo: Repo, ground: GitGround) -> str | NeedsYou:
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
        yield GitGround(repo.layout, repo.state_directory, lock)
    except GitFailed as error:
        raise refusals_landing.git_failed(error.command[0], error.stderr) from error
    finally:
        lock.free()
