"""Builds what reserves the names of migrations."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lineclear.app.queue.migrations import Migrations
from lineclear.git.migrations import GitMigrations
from lineclear.wiring.repo import folds_case

if TYPE_CHECKING:
    from lineclear.wiring.repo import Repo


def migrations_of(repo: Repo) -> Migrations:
    return Migrations(
        store=repo.store,
        liveness=repo.liveness,
        files=GitMigrations(repo.layout),
        at=time.strftime("%Y%m%d%H%M%S", time.gmtime()),
        ttl_ms=repo.settings.claims_ttl_ms,
        fold_case=folds_case(repo.layout, repo.settings),
        nfc=repo.settings.paths_nfc,
    )
