"""What git and the settings say of a branch on its way to main, and of a candidate as it would land. Moves
nothing, and takes no lock.
"""

from __future__ import annotations

from contextlib import closing

from lineclear.app.queue import candidates as queue
from lineclear.app.queue import overview as queue_overview
from lineclear.core.log.tables import TASK, Candidate
from lineclear.core.queue.candidates import LANDED, WAITING
from lineclear.core.tasks.states import DEFAULT_PRIORITY, HANDED_OVER, MERGED, TAKEN, show_id
from lineclear.core.words.refusals import not_found, refuse
from lineclear.git.landing import LandingLock, commit_of, landing_ref
from lineclear.git.run import show_on_terminal
from lineclear.git.snapshots.refs import diff
from lineclear.wiring.check_settings import stated_checks
from lineclear.wiring.queue_git import CloneQueueGit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.core.log.tables import Task
    from lineclear.wiring.repo import Repo

QUEUE_LOCK = "queue.lock"


def main_name(repo: Repo) -> str:
    return landing_ref(repo.layout).removeprefix("refs/heads/")


def main_commit(repo: Repo) -> str:
    """Main as it is known here: with a remote that one's, as far as it was fetched; "" where is none."""
    cwd, remote = repo.layout.worktree, repo.settings.queue_remote
    there = commit_of(cwd, f"refs/remotes/{remote}/{main_name(repo)}") if remote else ""
    return there or commit_of(cwd, landing_ref(repo.layout))


def tip_of(repo: Repo, branch: str) -> str:
    """The branch's newest commit; "" if there is no such branch here."""
    return commit_of(repo.layout.worktree, f"refs/heads/{branch}")


def require_task(repo: Repo, number: int) -> None:
    """Refuse a task that is not there, or whose work nobody can land now."""
    check_task(repo.store.read(lambda view: view.get(TASK, (number,))), number)


def check_task(row: Task | None, number: int) -> None:
    """Refuse a task that is not there, or whose work nobody can land now."""
    if row is None:
        raise not_found("task", show_id(number), "lineclear task list")
    if row.state not in (TAKEN, HANDED_OVER, MERGED):
        raise refuse("task.state", task=show_id(number), state=row.state, verb="land")


def commands(repo: Repo) -> list[str]:
    """The checks that every candidate has to pass, whatever it changes, by main's own settings."""
    with closing(CloneQueueGit(repo)) as git:
        main = git.known_main()
        stated = stated_checks(git.settings.at(main) if main else repo.settings)
    return [check.command for check, place in stated if place is None]


def overview(repo: Repo, *, ended: int = 0) -> dict[str, Any]:
    """The queue as people want to see it, with the time that is left by what checks took so far."""
    settings, gate = repo.settings, commands(repo)
    return repo.store.read(
        lambda view: queue_overview.overview(
            view, review=settings.queue_review, commands=gate,
            at_once=settings.queue_batch * settings.queue_workers, ended=ended,
        )
    )  # fmt: skip


def is_running(repo: Repo) -> bool:
    """Does a process of this clone run the queue now?"""
    lock = LandingLock(repo.state_directory, QUEUE_LOCK)
    if not lock.take(0.0):
        return True
    lock.free()
    return False


def unsubmitted(branch: str, tip: str, base: str, *, task: int, agent: str) -> Candidate:
    """A branch as the candidate that it would be; it has no number."""
    return Candidate(
        0,
        branch,
        tip,
        base,
        agent,
        task,
        0,
        DEFAULT_PRIORITY,
        0,
        "",
        WAITING,
        "",
        "",
        "",
        "",
        "",
        "",
        0,
        0,
        0,
    )


def task_of(repo: Repo, row: Candidate) -> Task | None:
    return repo.store.read(lambda view: view.get(TASK, (row.task,))) if row.task else None


class Change:
    """What a candidate does to main: of a landed one what it did. `conflicts`: where it does not fit; then
    the difference is that of its own branch."""

    __slots__ = ("base", "conflicts", "result")

    def __init__(self, base: str, result: str, conflicts: list[dict[str, Any]]) -> None:
        self.base, self.result, self.conflicts = base, result, conflicts


def change_of(repo: Repo, number: int) -> Change:
    row = repo.store.read(lambda view: queue.known(view, number))
    if row.state == LANDED:
        below = repo.store.read(lambda view: queue_overview.below_of(view, row))
        return Change(below or row.commit, row.commit, [])
    with closing(CloneQueueGit(repo)) as git:
        main = git.known_main()
        level = git.level(main, row, task_of(repo, row))
        if level.fits:
            return Change(main, level.commit, [])
        return Change(git.chain(row, main)[0], row.tip, level.conflicts)


def patch_of(repo: Repo, change: Change) -> str:
    return diff(repo.layout.common_dir, change.base, change.result, [])


def show_change(repo: Repo, change: Change) -> int:
    """As git shows it to a person: in colour and through the pager that they chose."""
    return show_on_terminal(["diff", change.base, change.result, "--"], repo.layout.common_dir)
