"""The next attempt of work that came back from the queue: what tells of it, built, and main brought to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.queue.sending_back import ReturnedWork
from lineclear.core.words.refusals import Refusal
from lineclear.git.returned import ReturnedBranches
from lineclear.wiring.sync import prepare_conflict, repair

if TYPE_CHECKING:
    from lineclear.app.ports import Caller
    from lineclear.wiring.repo import Repo


def returned_work_of(repo: Repo) -> ReturnedWork:
    return ReturnedWork(repo.store, ReturnedBranches(repo.layout))


def bring_main(repo: Repo, caller: Caller, path: str, task: int) -> None:
    """Main merged into the fresh worktree, conflicts left open; the author is told where that cannot be."""
    try:
        prepare_conflict(repo, caller, path, task=task)
    except Refusal:
        pass


def end_sync(repo: Repo, caller: Caller, path: str) -> None:
    """What an agent that was killed amid a sync left half done there."""
    try:
        repair(repo, caller, path)
    except Refusal:
        pass
