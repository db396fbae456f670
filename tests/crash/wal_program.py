"""One process of the WAL test: writes, or moves the WAL into the database, or reads, as fast as it can.

Run as `python tests/crash/wal_program.py KIND ROLE NUMBER DIRECTORY ACKNOWLEDGED`. KIND is `store` (ours),
`plain` (the standard library's sqlite3, nothing around it) or `gated` (the same inside our gate). A writer
numbers what it writes, and notes in ACKNOWLEDGED the highest number whose commit has returned.
"""

from __future__ import annotations

import mmap
import os
import sqlite3
import struct
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from lineclear.app import messages
from lineclear.app.ports import Caller
from lineclear.store.sqlite import engine
from lineclear.store.sqlite.writer_lock import WriterLock
from lineclear.wiring.repo import open_sqlite

# Our store moves its WAL after so many pages here, instead of a thousand: every other commit.
PAGES = 8
FACTS = "CREATE TABLE fact (writer INTEGER, number INTEGER, PRIMARY KEY (writer, number)) WITHOUT ROWID"


class Acknowledged:
    """For each writer the highest number that was committed, readable by everybody."""

    def __init__(self, path: str) -> None:
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(fd, 4096)
        self._map = mmap.mmap(fd, 4096)
        os.close(fd)

    def __getitem__(self, writer: int) -> int:
        number: int = struct.unpack_from("=Q", self._map, writer * 8)[0]
        return number

    def __setitem__(self, writer: int, number: int) -> None:
        struct.pack_into("=Q", self._map, writer * 8, number)


def connect(directory: str) -> sqlite3.Connection:
    """The standard library's SQLite, durable against `kill` only: that is enough, and many times faster."""
    db = sqlite3.connect(os.path.join(directory, "plain.db"), isolation_level=None, timeout=60)
    db.execute("PRAGMA journal_mode = wal")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    db.execute("PRAGMA synchronous = off")
    return db


def plain_role(
    role: str, number: int, directory: str, acknowledged: Acknowledged, is_gated: bool
) -> Callable[[], None]:
    db = connect(directory)
    gate: AbstractContextManager[object] = (
        WriterLock(os.path.join(directory, "gate")) if is_gated else nullcontext()
    )

    def write() -> None:
        following = acknowledged[number] + 1
        with gate:
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO fact VALUES (?, ?)", (number, following))
            db.execute("COMMIT")
        acknowledged[number] = following

    def checkpoint() -> None:
        with gate:
            db.execute("PRAGMA wal_checkpoint(passive)").fetchone()

    return write if role == "writer" else checkpoint


def store_role(role: str, number: int, directory: str, acknowledged: Acknowledged) -> Callable[[], None]:
    engine.CHECKPOINT_PAGES = PAGES
    store = open_sqlite(directory)
    assert isinstance(store, engine.SqliteStore)

    def write() -> None:
        following = acknowledged[number] + 1
        messages.say(store, Caller(f"writer-{number}", op=f"{number}-{following}"), str(following))
        acknowledged[number] = following

    def checkpoint() -> None:
        with store._writer_lock:
            store._checkpoint(store._db)

    def read() -> None:
        store.read(lambda view: messages.inbox(view, "reader"))

    return {"writer": write, "checkpointer": checkpoint, "reader": read}[role]


def main() -> None:
    kind, role, number, directory, path = sys.argv[1:]
    acknowledged = Acknowledged(path)
    if kind == "store":
        act = store_role(role, int(number), directory, acknowledged)
    else:
        act = plain_role(role, int(number), directory, acknowledged, kind == "gated")
    os.write(1, b"ready\n")
    while True:
        act()


if __name__ == "__main__":
    main()
