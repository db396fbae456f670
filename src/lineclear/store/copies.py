"""Copies of a store: new stores to fill, and backup files with everything."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from lineclear.app.log import copy_log
from lineclear.core.words.refusals import refuse
from lineclear.host.bell import PipeBell
from lineclear.host.clock import HostClock
from lineclear.store.sqlite.engine import SqliteStore, create

if TYPE_CHECKING:
    from lineclear.app.ports import Store


def new_sqlite(directory: str) -> SqliteStore:
    try:
        create(directory, HostClock().now().wall_ns)
    except OSError as error:
        raise refuse(
            "input.bad", name="directory", given=directory, why=os.strerror(error.errno or 0)
        ) from None
    return SqliteStore(directory, HostClock().now, PipeBell(os.path.join(directory, "bells")))


def new_postgres(url: str, repo_id: str) -> Store:
    # `psycopg` is installed only for teams.
    from lineclear.store.postgres.engine import PostgresStore, create

    create(url, repo_id)
    return PostgresStore(url, repo_id)


def backup(store: Store, path: str) -> dict[str, Any]:
    """Write everything into one SQLite file, whatever the engine. Never overwrites a file."""
    path = os.path.abspath(path)
    if os.path.lexists(path):
        raise refuse(
            "input.bad", name="file", given=path, why="it already exists; a backup overwrites nothing"
        )
    if not os.path.isdir(os.path.dirname(path)):
        raise refuse("input.bad", name="file", given=path, why="its directory does not exist")
    with TemporaryDirectory(dir=os.path.dirname(path), prefix=".lineclear-") as scratch:
        made = os.path.join(scratch, "backup.db")
        if isinstance(store, SqliteStore):
            store.backup(made)
        else:
            replica = new_sqlite(scratch)
            copy_log(store, replica)
            replica.backup(made)
            replica.close()
        os.chmod(made, 0o600)
        try:
            os.link(made, path)
        except OSError as error:
            raise refuse("input.bad", name="file", given=path, why=os.strerror(error.errno or 0)) from None
    return {"path": path, "size_bytes": os.path.getsize(path)}
