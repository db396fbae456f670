"""Makes this engine's schema, brings it up to date, and checks its number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from lineclear.core.words.refusals import refuse
from lineclear.store.migrations import Migration, check_schema, read_migrations
from lineclear.store.postgres.failures import refusal_of
from lineclear.store.postgres.wire import LostError, ServerError, connect_text, show_url

if TYPE_CHECKING:
    from typing import Any

# The newest migration; a test compares it with the folder, so that opening a store lists no files.
SCHEMA_NUMBER = 5

_CREATORS_LOCK = 0x4C434C52  # "LCLR": held while a process makes or changes a schema in this database
_MIGRATION_TABLE = """CREATE TABLE IF NOT EXISTS "migration" ("number" bigint PRIMARY KEY,
 "name" text NOT NULL, "checksum" text NOT NULL, "at_ns" bigint NOT NULL)"""
_NOW_NS = "(extract(epoch FROM clock_timestamp()) * 1000000000)::bigint"


def create(url: str, repo: str) -> bool:
    """Make the schema or bring it up to date, and add the repo. True if the repo is new."""
    try:
        with psycopg.connect(connect_text(url)) as connection:
            return _create(connection, url, repo)
    except psycopg.Error as error:
        raise refusal_of(_as_ours(error), show_url(url), unknown=False) from error
    except LostError as error:
        raise refusal_of(error, show_url(url), unknown=False) from error


def known_migrations() -> list[Migration]:
    from importlib.resources import files

    return read_migrations(files("lineclear.store.postgres") / "migrations")


def check_number(found: int, path: str) -> None:
    check_schema(found, path, known=SCHEMA_NUMBER)


def _create(connection: psycopg.Connection[Any], url: str, repo: str) -> bool:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise refuse(
            "store.unreadable", path=show_url(url), reason=f"its encoding is {encoding}; it must be UTF8"
        )
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_CREATORS_LOCK,))
    connection.execute(_MIGRATION_TABLE)
    before = _one(connection, 'SELECT coalesce(max("number"), 0) FROM "migration"')
    if before > SCHEMA_NUMBER:
        raise refuse("store.newer", path=show_url(url), found=before, known=SCHEMA_NUMBER)
    for migration in known_migrations():
        if migration.number > before:
            connection.execute(migration.sql.encode())
            row = (migration.number, migration.name, migration.checksum)
            connection.execute(f'INSERT INTO "migration" VALUES (%s, %s, %s, {_NOW_NS})'.encode(), row)
    added = connection.execute(
        f'INSERT INTO "repo" VALUES (%s, 0, {_NOW_NS}) ON CONFLICT DO NOTHING'.encode(), (repo,)
    )
    return added.rowcount == 1


def _one(connection: psycopg.Connection[Any], sql: str) -> int:
    row = connection.execute(sql.encode()).fetchone()
    return int(row[0]) if row is not None else 0


def _as_ours(error: psycopg.Error) -> Exception:
    message = " ".join((error.diag.message_primary or str(error)).split())
    if error.sqlstate in ("42P07", "42723"):
        message += "; give lineclear a schema of its own: add ?options=-csearch_path%3DSCHEMA to the URL"
    return ServerError(error.sqlstate, message) if error.sqlstate else LostError(message)
