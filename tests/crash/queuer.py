"""A program that runs the queue and dies on the way: as lander.py, with every transaction a step, too."""

from __future__ import annotations

import os
from typing import Any

from lineclear.app.ports import Caller
from lineclear.git import branch_moves, commits, detached_worktrees, landing, restoring, trees
from lineclear.store.sqlite.engine import SqliteStore
from lineclear.wiring.queue import landings_of
from lineclear.wiring.repo import open_repo
from tests.crash.lander import Steps, serve

PERSON = Caller("anna", is_person=True)


def _run(last: int, path: str) -> int:
    steps = Steps(last)
    os.chdir(path)
    steps.count_all(branch_moves, commits, detached_worktrees, landing, restoring, trees)
    transact = SqliteStore.transact

    def counted(self: SqliteStore, caller: Caller, work: Any, near: Any = (), /) -> Any:
        steps.wrap(lambda: None)()
        result = transact(self, caller, work, near)
        steps.wrap(lambda: None)()
        return result

    SqliteStore.transact = counted  # type: ignore[method-assign]
    repo = open_repo(path, os.environ)
    landings_of(repo).run_once(PERSON)
    repo.close()
    return steps.count


if __name__ == "__main__":
    serve(_run)
