"""The SQLite engine: one lock for writers, FULL durability, snapshots for readers.

Checkpoints happen only under the lock (`wal_autocheckpoint` is off). The WAL file stays between uses, so that
reading works on a full disk and in a read-only sandbox. Every commit rings the bell.
"""

from __future__ import annotations

import os

import apsw

from lineclear.core.instants import Instant
from lineclear.core.log.codec import encode_body, event_of
from lineclear.core.log.epochs import begin_epoch, last_boot
from lineclear.core.log.events import Event
from lineclear.core.log.fold import fold
from lineclear.core.log.tables import LOG, LogEntry
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.store.migrations import Migration, check_schema, read_migrations
from lineclear.store.sql import Statements, scan_values, search_words
from lineclear.store.sqlite.writer_lock import WriterLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Protocol, TypeVar

    from lineclear.app.ports import Caller, Listener, Tx, View
    from lineclear.core.log.events import Draft
    from lineclear.core.log.queries import Question
    from lineclear.core.log.tables import Table, TableRow

    R = TypeVar("R", bound=TableRow)
    T = TypeVar("T")
    Key = tuple[int | str, ...]

    class Bell(Protocol):
        def ring(self) -> None: ...
        def listen(self) -> Listener: ...


DATABASE, LOCK = "state.db", "state.lock"
APPLICATION_ID = 0x4C434C52  # "LCLR"
BACKUP_ID = 0x4C434C42  # "LCLB": a backup; once restored, it begins a new epoch
CHECKPOINT_PAGES = 1_000
FOREIGN_LOCK_MS = 2_000
FAR_FUTURE_NS = 1 << 62

_sql = Statements("?")
_LOG_INSERT = (
    'INSERT INTO "log" ("position", "at_ns", "actor", "kind", "subject", "seen", "op", "body")'
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


class SqliteView:
    """Reads inside one transaction of one connection."""

    __slots__ = ("_db", "head", "now")

    def __init__(self, db: apsw.Connection, now: Instant) -> None:
        self._db = db
        self.now = now
        self.head: int = db.execute('SELECT max("position") FROM "log"').get or 0

    def get(self, table: Table[R], key: Key, /) -> R | None:
        for values in self._db.execute(_sql.get(table), key):
            return table.row(*values)
        return None

    def pick(self, table: Table[R], index: str, values: Iterable[int | str], /) -> list[R]:
        wanted = tuple(values)
        row = table.row
        return [row(*found) for found in self._db.execute(_sql.pick(table, index, len(wanted)), wanted)]

    def scan(
        self,
        table: Table[R],
        index: str,
        prefix: Key = (),
        *,
        low: int | str | None = None,
        high: int | str | None = None,
        limit: int = 0,
        reverse: bool = False,
    ) -> list[R]:
        has_low, has_high = low is not None, high is not None
        text = _sql.scan(table, index, len(prefix), has_low, has_high, limit > 0, reverse)
        row = table.row
        return [row(*found) for found in self._db.execute(text, scan_values(prefix, low, high, limit))]

    def count(self, table: Table[Any], index: str, prefix: Key = (), /) -> int:
        found: int = self._db.execute(_sql.count(table, index, len(prefix)), prefix).get
        return found

    def sift(
        self,
        table: Table[R],
        index: str,
        values: Iterable[int | str],
        low: int | str,
        high: int | str,
        keep: Callable[[Any], bool],
        /,
    ) -> list[R]:
        picked = tuple(values)
        entries = self._db.execute(_sql.entries(table, index, len(picked)), (*picked, low, high))
        skip = len(table.indexes[index])
        kept = [entry[skip:] for entry in entries if keep(entry)]
        found = [self.get(table, key) for key in kept]
        return [row for row in found if row is not None]

    def search_tasks(self, text: str, limit: int, /) -> list[int]:
        words = search_words(text)
        if not words:
            return []
        query = " OR ".join(f'"{word}"' for word in words)
        select = 'SELECT rowid FROM "task_words" WHERE "task_words" MATCH ? ORDER BY rank, rowid LIMIT ?'
        found = self._db.execute(select, (query, limit))
        return [row[0] for row in found]

    def prefetch(self, *questions: Question) -> None:
        """Has no effect: reading costs no round trip here."""


class SqliteTx(SqliteView):
    """The one writer. Rows change through `fold`, or without an event where the port allows it."""

    __slots__ = ("_caller",)

    def __init__(self, db: apsw.Connection, now: Instant, caller: Caller | None) -> None:
        super().__init__(db, now)
        self._caller = caller

    def put(self, table: Table[R], row: R, /) -> None:
        self._db.execute(_sql.put(table), table.values(row))

    def delete(self, table: Table[R], key: Key, /) -> None:
        self._db.execute(_sql.delete(table), key)

    def append(self, draft: Draft, /) -> Event:
        caller = self._caller
        if caller is None:
            raise RuntimeError("an event needs an actor")
        self.head += 1
        at_ns = self.now.wall_ns
        facts = (self.head, at_ns, caller.name, draft.kind, draft.subject, caller.seen, caller.op)
        event = Event(*facts, draft.body)
        self._db.execute(_LOG_INSERT, (*facts, encode_body(draft.body)))
        fold(self, event)
        return event


class SqliteStore:
    kind = "sqlite"

    def __init__(
        self,
        directory: str,
        clock: Callable[[], Instant],
        bell: Bell,
        vfs: str | None = None,
    ) -> None:
        self.directory = directory
        self._path = os.path.join(directory, DATABASE)
        self._clock, self._bell, self._vfs = clock, bell, vfs
        self._writer_lock = WriterLock(os.path.join(directory, LOCK))
        self._pid = os.getpid()
        self._wal_pages = 0
        self._epoch_is_current = False
        self._db = self._connect()

    # -- the port ---------------------------------------------------------------------------

    def transact(self, caller: Caller, work: Callable[[Tx], T], _near: Iterable[Question] = (), /) -> T:
        db = self._connection()
        try:
            with self._writer_lock:
                db.execute("BEGIN IMMEDIATE")
                try:
                    # Read the clock under the lock: a lease may have ended while we waited for it.
                    tx = SqliteTx(db, self._clock(), caller)
                    if not self._epoch_is_current:
                        self._begin_epoch(db, tx)
                    result = work(tx)
                    db.execute("COMMIT")
                except BaseException:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                    raise
                self._epoch_is_current = True
                if self._wal_pages >= CHECKPOINT_PAGES:
                    self._checkpoint(db)
        except apsw.Error as error:
            raise self._refusal(error) from error
        self._bell.ring()
        return result

    def read(self, work: Callable[[View], T], /) -> T:
        db = self._connection()
        try:
            db.execute("BEGIN")
            try:
                view = SqliteView(db, self._clock())
                if not self._epoch_is_current:
                    view.now = self._now_for_reader(view)
                return work(view)
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
        except apsw.Error as error:
            raise self._refusal(error) from error

    def listen(self) -> Listener:
        return self._bell.listen()

    def load(self, entries: Iterable[LogEntry], /) -> int:
        db = self._connection()
        count = 0
        try:
            with self._writer_lock:
                with db:
                    tx = SqliteTx(db, self._clock(), None)
                    if tx.head:
                        raise refuse("store.not_empty", path=self._path)
                    for entry in entries:
                        tx.put(LOG, entry)
                        fold(tx, event_of(entry))
                        count += 1
                self._checkpoint(db)
        except apsw.Error as error:
            raise self._refusal(error) from error
        return count

    def info(self) -> dict[str, Any]:
        db = self._connection()
        version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
        return {
            "kind": self.kind,
            "path": self._path,
            "size_bytes": os.path.getsize(self._path),
            "schema": db.pragma("user_version"),
            "library": apsw.sqlite_lib_version(),
            "library_is_safe_alone": version >= (3, 51, 3),
            "journal": db.pragma("journal_mode"),
            "events": db.execute('SELECT count(*) FROM "log"').get,
            "head": db.execute('SELECT max("position") FROM "log"').get or 0,
        }

    def close(self) -> None:
        if self._pid == os.getpid():
            self._db.close()
        self._writer_lock.close()

    # -- care of the file -------------------------------------------------------------------

    def check(self) -> list[str]:
        """Report damage that SQLite itself can find, and migrations that differ from ours."""
        try:
            db = self._connection()
            found = [row[0] for row in db.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
            applied = dict(db.execute('SELECT "number", "checksum" FROM "migration"'))
        except apsw.Error as error:
            raise self._refusal(error) from error
        for migration in _migrations():
            if applied.get(migration.number) != migration.checksum:
                found.append(
                    f"migration {migration.name} is missing, or differs from the one this program knows"
                )
        return found

    def backup(self, target: str) -> None:
        """Make a consistent copy with SQLite's own backup, while others go on working."""
        try:
            copy = apsw.Connection(target)
            try:
                with copy.backup("main", self._connection(), "main") as backup:
                    backup.step()
                copy.pragma("application_id", BACKUP_ID)
            finally:
                copy.close()
        except apsw.Error as error:
            raise self._refusal(error) from error

    def _connection(self) -> apsw.Connection:
        if self._pid != os.getpid():
            # A connection must not cross a fork, and we must not close the parent's.
            self._pid = os.getpid()
            self._db = self._connect()
        return self._db

    def _connect(self) -> apsw.Connection:
        try:
            try:
                db = apsw.Connection(self._path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=self._vfs)
            except apsw.CantOpenError:
                db = apsw.Connection(self._path, flags=apsw.SQLITE_OPEN_READONLY, vfs=self._vfs)
            # For locks of other tools that have opened our file; our own processes use the writer lock.
            db.set_busy_timeout(FOREIGN_LOCK_MS)
            db.set_wal_hook(self._note_wal)  # replaces SQLite's own automatic checkpoint
            # Otherwise the last connection to close would checkpoint without the lock, which every command
            # would pay for, and remove the WAL.
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            db.pragma("synchronous", 2)
            check_schema(db.pragma("user_version"), self._path, known=SCHEMA_NUMBER)
        except apsw.Error as error:
            raise self._refusal(error) from error
        return db

    def _begin_epoch(self, db: apsw.Connection, tx: SqliteTx) -> None:
        is_restored = db.pragma("application_id") == BACKUP_ID
        begin_epoch(tx, is_restored=is_restored)
        if is_restored:
            db.pragma("application_id", APPLICATION_ID)

    def _note_wal(self, _db: apsw.Connection, _name: str, pages: int) -> int:
        self._wal_pages = pages
        return apsw.SQLITE_OK

    def _checkpoint(self, db: apsw.Connection) -> None:
        """Move the WAL into the database and empty it: every process that opens the store reads all of it.

        Commits are durable before and after. So a reader in the way, or a full disk, only postpones this to
        the next commit.
        """
        db.set_busy_timeout(0)
        try:
            db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.Error:
            return
        finally:
            db.set_busy_timeout(FOREIGN_LOCK_MS)
        self._wal_pages = 0

    def _now_for_reader(self, view: SqliteView) -> Instant:
        """After a reboot, before the first write, count every lease as over: it belongs to an old clock."""
        now = view.now
        if last_boot(view) == now.boot:
            self._epoch_is_current = True
            return now
        return Instant(FAR_FUTURE_NS, now.boot, now.wall_ns)

    def _refusal(self, error: apsw.Error) -> Refusal:
        return _refusal_at(self._path, error)


_REFUSALS: tuple[tuple[type[Exception], str], ...] = (
    (apsw.FullError, "store.full"),
    (apsw.ReadOnlyError, "store.read_only"),
    (apsw.CorruptError, "store.damaged"),
    (apsw.NotADBError, "store.damaged"),
    (apsw.BusyError, "store.locked"),
    (apsw.LockedError, "store.locked"),
    (apsw.CantOpenError, "store.unreadable"),
    (apsw.PermissionsError, "store.read_only"),
)


def _refusal_at(path: str, error: apsw.Error) -> Refusal:
    for kind, code in _REFUSALS:
        if isinstance(error, kind):
            return refuse(code, path=path, reason=str(error))
    return refuse("store.failed", path=path, reason=f"{type(error).__name__}: {error}")


def _migrations() -> list[Migration]:
    from importlib.resources import files

    return read_migrations(files("lineclear.store.sqlite") / "migrations")


# The newest migration; a test compares it with the folder, so that opening a store lists no files.
SCHEMA_NUMBER = 5


def create(directory: str, now_ns: int, vfs: str | None = None) -> bool:
    """Make the store, or bring it to this program's schema. True if there was none before."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    path = os.path.join(directory, DATABASE)
    try:
        with WriterLock(os.path.join(directory, LOCK)):
            db = apsw.Connection(path, vfs=vfs)
            try:
                db.set_busy_timeout(FOREIGN_LOCK_MS)
                return _migrate(db, path, now_ns)
            finally:
                db.close()
    except apsw.Error as error:
        raise _refusal_at(path, error) from error


def _migrate(db: apsw.Connection, path: str, now_ns: int) -> bool:
    before = db.pragma("user_version")
    if before > SCHEMA_NUMBER:
        raise refuse("store.newer", path=path, found=before, known=SCHEMA_NUMBER)
    if before == SCHEMA_NUMBER:
        return False
    from array import array  # loads `collections`, which a hook would feel

    is_on = array("i", [1])
    db.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, is_on.buffer_info()[0])
    db.pragma("journal_mode", "wal")
    db.wal_autocheckpoint(0)
    db.pragma("synchronous", 2)
    with db:
        if before == 0:
            db.pragma("application_id", APPLICATION_ID)
            db.execute(
                'CREATE TABLE "migration" ("number" INTEGER PRIMARY KEY, "name" TEXT NOT NULL,'
                ' "checksum" TEXT NOT NULL, "at_ns" INTEGER NOT NULL) STRICT'
            )
        for migration in _migrations():
            if migration.number > before:
                db.execute(migration.sql)
                row = (migration.number, migration.name, migration.checksum, now_ns)
                db.execute('INSERT INTO "migration" VALUES (?, ?, ?, ?)', row)
        db.pragma("user_version", SCHEMA_NUMBER)
    return bool(before == 0)
