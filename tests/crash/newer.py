"""A schema that is one migration ahead of this program's, for this process: what an upgrade leads to."""

from __future__ import annotations

import sys

from lineclear.store.migrations import Migration

SQL = """
CREATE TABLE "later" ("key" {text} NOT NULL, PRIMARY KEY ("key"));
ALTER TABLE "task" ADD COLUMN "later" {number} NOT NULL DEFAULT 0;
CREATE INDEX "log_kind" ON "log" ("kind");
"""


def know_it(engine: str) -> None:
    """From now on this process is the newer program."""
    if engine == "sqlite":
        from lineclear.store.sqlite import engine as sqlite

        _add(sqlite.__name__, "_migrations", SQL.format(text="TEXT", number="INTEGER"))
    else:
        from lineclear.store.postgres import schema

        _add(schema.__name__, "known_migrations", SQL.format(text="text", number="bigint"))


def _add(module_name: str, function: str, sql: str) -> None:
    module = sys.modules[module_name]
    number = module.__dict__["SCHEMA_NUMBER"] + 1
    known = [*getattr(module, function)(), Migration(number, f"{number:04}_later.sql", sql, "sum")]
    setattr(module, function, lambda: known)
    module.__dict__["SCHEMA_NUMBER"] = number
