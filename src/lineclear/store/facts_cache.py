"""The radar's cache, a SQLite file that may be thrown away at any time: facts of files, and answers.

It never raises. A file that is damaged, or locked for too long, is deleted and made again; one that another
version of the program wrote is emptied. Without a usable file the cache works in memory.
"""

from __future__ import annotations

import json
import os
import zlib
from typing import TYPE_CHECKING

import apsw

from lineclear.core.radar.facts import from_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeVar

    from lineclear.core.radar.facts import FileFacts

    T = TypeVar("T")

MOST_BYTES, MOST_BLOBS, MOST_ANSWERS = 64 << 20, 50_000, 50_000
_PATIENCE_MS = 1_000
# A row's time of use is written again only when it is this old: reading must not become writing.
_USED_EVERY_S = 3_600
_TABLES = """
CREATE TABLE facts (blob TEXT, kind TEXT, used INTEGER, size INTEGER, value BLOB, PRIMARY KEY (blob, kind))
WITHOUT ROWID;
CREATE TABLE answers (key TEXT PRIMARY KEY, used INTEGER, size INTEGER, value BLOB) WITHOUT ROWID;
CREATE INDEX facts_used ON facts (used, size);
CREATE INDEX answers_used ON answers (used, size);
"""
_FACTS = "SELECT used, value FROM facts WHERE blob = ? AND kind = ?"
_ANSWER = "SELECT used, value FROM answers WHERE key = ?"
_KEEP_FACTS = "INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?, ?)"
_KEEP_ANSWER = "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)"


class _AnotherVersion(Exception):
    """Another version of the program has taken the file over."""


class SqliteFactsCache:
    """The `FactsCache` of one clone. `version` identifies the code that makes what is kept: a cache of
    another version counts as empty. Not for several threads. Close it."""

    def __init__(self, path: str, version: str, now_s: Callable[[], int]) -> None:
        self._path, self._now_s = path, now_s
        # SQLite keeps a number of 32 bits for us; 0 is that of a new file.
        self._version = zlib.crc32(version.encode()) & 0x7FFF_FFFF or 1
        self._db: apsw.Connection | None = None

    def close(self) -> None:
        """Closing it again has no effect; a later question opens it again."""
        db, self._db = self._db, None
        if db is not None:
            db.close()

    # -- the port -------------------------------------------------------------------------------

    def facts(self, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], FileFacts]:
        pairs = list(wanted)

        def look(db: apsw.Connection) -> dict[tuple[str, str], FileFacts]:
            found, old, now_s = {}, [], self._now_s()
            for blob, kind in pairs:
                for used, value in db.execute(_FACTS, (blob, _text(kind))):
                    found[blob, kind] = from_json(_unpack(value))
                    if now_s - used > _USED_EVERY_S:
                        old.append((now_s, blob, _text(kind)))
            db.executemany("UPDATE facts SET used = ? WHERE blob = ? AND kind = ?", old)
            return found

        return self._do(look, {})

    def keep(self, facts: Mapping[tuple[str, str], FileFacts]) -> None:
        now_s = self._now_s()
        packed = [(blob, _text(kind), _pack(one.to_json())) for (blob, kind), one in facts.items()]
        rows = [(blob, kind, now_s, len(value), value) for blob, kind, value in packed]

        def write(db: apsw.Connection) -> None:
            db.executemany(_KEEP_FACTS, rows)

        self._do(write, None)

    def answer(self, key: str) -> Any | None:
        def look(db: apsw.Connection) -> Any | None:
            for used, value in db.execute(_ANSWER, (_text(key),)):
                if self._now_s() - used > _USED_EVERY_S:
                    db.execute("UPDATE answers SET used = ? WHERE key = ?", (self._now_s(), _text(key)))
                return _unpack(value)
            return None

        return self._do(look, None)

    def keep_answer(self, key: str, value: Any) -> None:
        packed = _pack(value)
        row = (_text(key), self._now_s(), len(packed), packed)

        def write(db: apsw.Connection) -> None:
            db.execute(_KEEP_ANSWER, row)

        self._do(write, None)

    def prune(self) -> None:
        def thin(db: apsw.Connection) -> None:
            _thin(db, "facts", "blob, kind", MOST_BLOBS, MOST_BYTES // 2)
            _thin(db, "answers", "key", MOST_ANSWERS, MOST_BYTES // 4)

        self._do(thin, None)
        try:
            if self._db is not None:
                self._db.execute("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except apsw.Error:
            pass  # another process reads now; the next one does it

    # -- the file -------------------------------------------------------------------------------

    def _do(self, work: Callable[[apsw.Connection], T], otherwise: T) -> T:
        """Work in one transaction. If that fails, try again: after a short wait, with a new file, without a
        file."""
        for turn, place in enumerate((self._path, self._path, self._path, ":memory:")):
            try:
                if self._db is None:
                    self._db = self._open(place)
                return self._in_transaction(self._db, work)
            except _AnotherVersion:
                self.close()
                self._db = self._open(":memory:")
            except (apsw.Error, OSError, ValueError, TypeError, IndexError) as error:
                self._throw_away(keep_file=turn == 0 and isinstance(error, apsw.BusyError))
        return otherwise

    def _in_transaction(self, db: apsw.Connection, work: Callable[[apsw.Connection], T]) -> T:
        db.execute("BEGIN IMMEDIATE")
        try:
            if db.pragma("user_version") != self._version:
                raise _AnotherVersion
            result = work(db)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        return result

    def _open(self, place: str) -> apsw.Connection:
        db = apsw.Connection(place)
        try:
            db.set_busy_timeout(_PATIENCE_MS)
            db.execute(
                "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF"
            )
            if db.pragma("user_version") != self._version:
                db.execute("BEGIN IMMEDIATE")
                if db.pragma("user_version") != self._version:  # another process may have been faster
                    db.execute("DROP TABLE IF EXISTS facts; DROP TABLE IF EXISTS answers")
                    db.execute(_TABLES)
                    db.pragma("user_version", self._version)
                db.execute("COMMIT")
        except BaseException:
            db.close()
            raise
        return db

    def _throw_away(self, *, keep_file: bool) -> None:
        try:
            self.close()
        except apsw.Error:
            self._db = None
        for ending in () if keep_file else ("", "-wal", "-shm"):
            try:
                os.unlink(self._path + ending)
            except OSError:
                pass


def _thin(db: apsw.Connection, table: str, key: str, most: int, most_bytes: int) -> None:
    """Delete the rows that were not used for longest, until at most so many, and so large ones, are left."""
    count, size_bytes = next(iter(db.execute(f"SELECT count(*), total(size) FROM {table}")))
    if count <= most and size_bytes <= most_bytes:
        return
    gone = 0
    # A tenth more goes, so that this is not needed again at once.
    for (size,) in db.execute(f"SELECT size FROM {table} ORDER BY used"):
        if count - gone <= most * 0.9 and size_bytes <= most_bytes * 0.9:
            break
        gone, size_bytes = gone + 1, size_bytes - size
    oldest = f"SELECT {key} FROM {table} ORDER BY used LIMIT ?"
    db.execute(f"DELETE FROM {table} WHERE ({key}) IN ({oldest})", (gone,))


def _pack(value: Any) -> bytes:
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 1)


def _unpack(value: bytes) -> Any:
    try:
        return json.loads(zlib.decompress(value))
    except zlib.error as error:
        raise ValueError(str(error)) from error


def _text(text: str) -> str:
    """A path with bytes that are not UTF-8 holds lone surrogates, which SQLite does not take."""
    return text.encode("utf-8", "backslashreplace").decode()
