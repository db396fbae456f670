"""A program that brings a branch up to main and dies on the way, asked and answering as `lander` is.

A conflict is left in the worktree.
"""

from __future__ import annotations

import os

from lineclear.app.ports import Caller
from lineclear.git import branch_moves, commits, landing, restoring, side_authors, trees, unfinished_merge
from lineclear.wiring.repo import open_repo
from lineclear.wiring.sync import sync_in
from tests.crash.lander import Steps, serve


def _sync(last: int, path: str) -> int:
    steps = Steps(last)
    os.chdir(path)
    steps.count_all(branch_moves, commits, landing, unfinished_merge, restoring, side_authors, trees)
    sync_in(open_repo(path, os.environ), Caller("anna", is_person=True)).sync(keep=True)
    return steps.count


if __name__ == "__main__":
    serve(_sync)
