"""Which function reads each table whose keys a file chooses itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.settings.checks import CHECK_PATHS, take_check_paths
from lineclear.settings.env_tables import take_worktree_variables
from lineclear.settings.prices import take_prices
from lineclear.settings.strategies import STRATEGY, take_rules
from lineclear.settings.workers import take_workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.settings.table import Settings

_READERS: dict[str, Callable[[Settings, str, object, bool], None]] = {
    STRATEGY: take_rules,
    "workers": take_workers,
    "prices": take_prices,
    "worktrees.env": take_worktree_variables,
    CHECK_PATHS: take_check_paths,
}


def take_nested(settings: Settings, nested: list[tuple[str, str, object]], folds_case: bool) -> None:
    """`nested` holds (table, file, content), with the team's file first."""
    for name, origin, given in nested:
        _READERS[name](settings, origin, given, folds_case)
