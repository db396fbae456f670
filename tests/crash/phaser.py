"""A program that begins the next phase, works in it and dies on the way; its lines are those of lander.py.

A step is a git command, or a transaction of the store: it dies before it, so that what came before is whole.
"""

from __future__ import annotations

import os

from lineclear.app.ports import Caller
from lineclear.app.queue.phases import phase_of
from lineclear.core.queue.phases import MOVES
from lineclear.git import commits, integration, landing, queue, trees
from lineclear.store.sqlite.engine import SqliteStore
from lineclear.wiring.phases import phase_work_of
from lineclear.wiring.repo import open_repo
from tests.crash.lander import Steps, serve


def _go_on(last: int, path: str) -> int:
    steps = Steps(last)
    os.chdir(path)
    steps.count_all(commits, integration, landing, queue, trees)
    SqliteStore.transact = steps.wrap(SqliteStore.transact)  # type: ignore[method-assign]
    repo = open_repo(path, os.environ)
    phase_work_of(repo).begin(Caller("anna", is_person=True), MOVES[repo.store.read(phase_of)][0])
    return steps.count


if __name__ == "__main__":
    serve(_go_on)
