"""Copies of a store: a backup file, or another engine filled by replaying the log."""

from __future__ import annotations

import os

from lineclear.app.log import entries_after
from lineclear.core.words.refusals import refuse
from lineclear.host.bell import PipeBell
from lineclear.host.clock import HostClock
from lineclear.wiring.starting import write_repo_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Store
    from lineclear.store.sqlite.engine import SqliteStore
    from lineclear.wiring.repo import Repo

POSTGRES = ("postgresql://", "postgres://")


def copy_store(repo: Repo, target: str) -> dict[str, Any]:
    """Fill an empty target from this repository's log; both engines stay as they are."""
    if target.startswith(POSTGRES):
        from lineclear.store.postgres.engine import PostgresStore, create

        repo_id = repo.settings.repo_id or write_repo_id(repo.layout)
        create(target, repo_id)
        store: Store = PostgresStore(target, repo_id)
    else:
        store = new_sqlite(os.path.abspath(target))
    try:
        count = repo.store.read(lambda view: store.load(entries_after(view, 0)))
        return {"events": count, "engine": store.kind}
    finally:
        store.close()


def new_sqlite(directory: str) -> SqliteStore:
    from lineclear.store.sqlite.engine import SqliteStore, create

    try:
        create(directory, HostClock().now().wall_ns)
    except OSError as error:
        raise refuse(
            "input.bad", name="directory", given=directory, why=os.strerror(error.errno or 0)
        ) from None
    return SqliteStore(directory, HostClock().now, PipeBell(os.path.join(directory, "bells")))


def backup(repo: Repo, path: str) -> dict[str, Any]:
    """One SQLite file that holds everything, whatever the engine; never over an existing file."""
    from tempfile import TemporaryDirectory

    from lineclear.store.sqlite.engine import SqliteStore

    path = os.path.abspath(path)
    if os.path.lexists(path):
        raise refuse(
            "input.bad", name="file", given=path, why="it exists already; a backup overwrites nothing"
        )
    if not os.path.isdir(os.path.dirname(path)):
        raise refuse("input.bad", name="file", given=path, why="its directory does not exist")
    with TemporaryDirectory(dir=os.path.dirname(path), prefix=".lineclear-") as scratch:
        made = os.path.join(scratch, "backup.db")
        store = repo.store
        if isinstance(store, SqliteStore):
            store.backup(made)
        else:
            replica = new_sqlite(scratch)
            store.read(lambda view: replica.load(entries_after(view, 0)))
            replica.backup(made)
            replica.close()
        os.chmod(made, 0o600)
        try:
            os.link(made, path)
        except OSError as error:
            raise refuse("input.bad", name="file", given=path, why=os.strerror(error.errno or 0)) from None
    return {"path": path, "size_bytes": os.path.getsize(path)}
