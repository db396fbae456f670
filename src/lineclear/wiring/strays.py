"""Main in this clone, and the agents that moved it themselves, built."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lineclear.app.worktrees.rows import agents_by_path
from lineclear.git.stray_moves import Strays

if TYPE_CHECKING:
    from lineclear.wiring.repo import Repo


def strays_of(repo: Repo) -> Strays:
    return Strays(repo.layout, repo.state_directory, partial(repo.store.read, agents_by_path))
