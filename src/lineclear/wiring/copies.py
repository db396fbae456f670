"""Builds copies of a repository's store: a backup file, or another engine filled by replaying the log."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

from lineclear.app.log import copy_log
from lineclear.store import copies
from lineclear.wiring.starting import new_repo

if TYPE_CHECKING:
    from lineclear.app.ports import Store
    from lineclear.wiring.repo import Repo

POSTGRES = ("postgresql://", "postgres://")


def copy_store(repo: Repo, target: str) -> dict[str, Any]:
    """Fill an empty target from this repository's log; both engines stay as they are."""
    with closing(_new_store(repo, target)) as store:
        return {"events": copy_log(repo.store, store), "engine": store.kind}


def _new_store(repo: Repo, target: str) -> Store:
    if target.startswith(POSTGRES):
        return copies.new_postgres(target, new_repo(repo.layout, repo.settings).shared_id())
    return copies.new_sqlite(os.path.abspath(target))


def backup(repo: Repo, path: str) -> dict[str, Any]:
    return copies.backup(repo.store, path)
