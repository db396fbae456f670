"""Builds what prepares the next attempt of work that came back from the queue."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lineclear.app.queue.returned_work import ReturnedWork
from lineclear.git.returned_work import ReturnedBranches
from lineclear.wiring.sync import sync_in

if TYPE_CHECKING:
    from lineclear.wiring.repo import Repo


def returned_work_of(repo: Repo) -> ReturnedWork:
    return ReturnedWork(repo.store, ReturnedBranches(repo.layout), partial(sync_in, repo))
