"""The PostgreSQL engine: one writer at a time for each repo, two round trips for a write.

The first round trip of a write takes the repo's lock and fetches facts, the second one sends all writes and
the commit (see transaction.py). Reads are snapshots. The server's clock is the only clock. We announce
commits by NOTIFY after the transaction, and only a limited number per second: inside the transaction, NOTIFY
would hold up every other writer.
"""

from __future__ import annotations

import os
import threading
from itertools import islice
from typing import TYPE_CHECKING

from lineclear.core.log.codec import event_of
from lineclear.core.log.fold import fold
from lineclear.core.log.state import FoldedState
from lineclear.core.log.tables import ALL, LOG, PROJECTED
from lineclear.core.words.refusals import refuse
from lineclear.store.postgres.failures import FAILURES, refusal_of
from lineclear.store.postgres.listening import MOST_RINGS_PER_S, PostgresListener, RingLimit, ring
from lineclear.store.postgres.pool import ConnectionPool
from lineclear.store.postgres.schema import create, known_migrations
from lineclear.store.postgres.session import PostgresSession, text_of
from lineclear.store.postgres.statements import BEGIN, BEGIN_WRITING, END, PUT, encode_rows
from lineclear.store.postgres.transaction import PostgresTx
from lineclear.store.postgres.view import PostgresView
from lineclear.store.postgres.wire import PATIENCE_S, LostError, SilentError, show_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    from psycopg.pq.abc import PGresult

    from lineclear.app.ports import Caller, Listener, Tx, View
    from lineclear.core.instants import Instant
    from lineclear.core.log.queries import Question
    from lineclear.core.log.tables import LogEntry, Table
    from lineclear.core.words.refusals import Refusal
    from lineclear.host.store_outages import Outage

    T = TypeVar("T")

__all__ = ["PATIENCE_S", "ConnectionPool", "PostgresStore", "create"]

_BATCH = 2_000

_INFO = """SELECT current_setting('server_version'), pg_database_size(current_database()),
(SELECT max("number") FROM "migration"), (SELECT count(*) FROM "log" WHERE "repo" = $1),
(SELECT "head" FROM "repo" WHERE "repo" = $1), current_setting('fsync') = 'on'"""
_CHECKSUMS = 'SELECT "number", "checksum" FROM "migration"'
# One row for each table on which our role lacks a right. The log only grows, and `init` makes the repo's row.
_MISSING_RIGHTS = f"""SELECT current_user, t.name, string_agg(p.verb, ', ' ORDER BY p.verb)
FROM unnest(ARRAY{[*(table.name for table in ALL), "repo"]}) AS t(name),
unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS p(verb)
WHERE (t.name, p.verb) NOT IN (('log', 'UPDATE'), ('log', 'DELETE'), ('repo', 'INSERT'), ('repo', 'DELETE'))
AND NOT has_table_privilege(quote_ident(t.name), p.verb) GROUP BY t.name ORDER BY t.name"""
_TRY_WRITE = 'UPDATE "repo" SET "head" = "head" WHERE "repo" = $1'
_HEADS = """SELECT r."head" = coalesce((SELECT max(l."position") FROM "log" l WHERE l."repo" = $1), 0)
FROM "repo" r WHERE r."repo" = $1"""


class PostgresStore:
    kind = "postgres"

    def __init__(
        self,
        url: str,
        repo_id: str,
        *,
        clock_name: str = "postgres",
        clock: Callable[[], Instant] | None = None,
        patience_s: float = PATIENCE_S,
        pool: ConnectionPool | None = None,
        outage: Outage | None = None,
    ) -> None:
        """`clock` replaces the server's clock in tests. A server that does not answer for `patience_s` counts
        as out of reach, which is noted in `outage`. Connections come from the `pool` and return to it."""
        self._url, self._path, self._repo = url, show_url(url), repo_id
        self._clock_name, self._clock, self._patience_s = clock_name, clock, patience_s
        self._turn = threading.Lock()
        self._pool, self._outage = pool, outage
        self._key = url, repo_id, clock_name, patience_s
        self._ring_limit = RingLimit()
        self._late_ring: threading.Timer | None = None
        self._trips_before = 0
        self._pid = os.getpid()
        self._session = pool.take(self._key) if pool is not None else None
        if self._session is not None:
            self._trips_before = -self._session.round_trips
        with self._taking_turn():
            self._connection()

    @property
    def round_trips(self) -> int:
        """How often this store has waited for the server, including connecting."""
        return self._trips_before + (self._session.round_trips if self._session is not None else 0)

    # -- the port ---------------------------------------------------------------------------

    def transact(self, caller: Caller, work: Callable[[Tx], T], near: Iterable[Question] = (), /) -> T:
        with self._taking_turn():
            is_writing = False  # may the server have committed something?
            try:
                tx = self._begin(caller, near)
                result = work(tx)
                is_writing = tx.has_written
                is_news = tx.commit()
            except FAILURES as error:
                raise self._refusal_of(error, unknown=is_writing) from error
            finally:
                self._roll_back()
            self._note_answer()
            if is_news:
                self._ring()
            return result

    def read(self, work: Callable[[View], T], /) -> T:
        with self._taking_turn():
            try:
                result = self._on_good_connection(
                    lambda session: work(PostgresView(session, self._repo, self._clock))
                )
                self._note_answer()
                return result
            except FAILURES as error:
                raise self._refusal_of(error, unknown=False) from error
            finally:
                self._roll_back()

    def _begin(self, caller: Caller, near: Iterable[Question]) -> PostgresTx:
        near = list(near)

        def begin(session: PostgresSession) -> PostgresTx:
            tx = PostgresTx(session, self._repo, self._clock, caller)
            tx.begin(near)
            return tx

        return self._on_good_connection(begin)

    def _on_good_connection(self, act: Callable[[PostgresSession], T]) -> T:
        """Call `act`, which must have no effect on the store. Call it again if the connection was idle and
        turns out to be dead."""
        session = self._connection()
        was_idle = not session.is_fresh()
        try:
            return act(session)
        except SilentError:
            raise
        except LostError:
            if not was_idle:
                raise
        return act(self._connection())

    def listen(self) -> Listener:
        try:
            return PostgresListener(self._url, self._repo)
        except FAILURES as error:
            raise self._refusal_of(error, unknown=False) from error

    def load(self, entries: Iterable[LogEntry], /) -> int:
        with self._taking_turn():
            session = self._connection()
            try:
                count = self._load(session, entries)
            except FAILURES as error:
                raise self._refusal_of(error, unknown=True) from error
            finally:
                self._roll_back()
            self._ring()
            return count

    def info(self) -> dict[str, Any]:
        answer = self._ask_once(_INFO, (self._repo,))
        version, size, schema, events, head, is_durable = (text_of(answer, column) for column in range(6))
        return {
            "kind": self.kind,
            "path": self._path,
            "repo": self._repo,
            "size_bytes": int(size),
            "schema": int(schema),
            "server": version,
            "clock": self._session.boot if self._session is not None else "",
            "is_durable": is_durable == "t",
            "events": int(events),
            "head": int(head),
        }

    def close(self) -> None:
        with self._taking_turn():
            session, self._session = self._session, None
            late, self._late_ring = self._late_ring, None
            if session is None:
                return
            self._trips_before += session.round_trips
            if late is not None:
                late.cancel()
                self._post_ring(session)
            if self._pool is not None:
                if session.wire.is_in_transaction:
                    session.wire.settle()  # a rollback that nobody waited for
                if self._pool.put(self._key, session):
                    return
            # Closing with unread answers could lose what we sent last.
            if session.wire.is_open():
                session.wire.settle()
            session.wire.close()

    # -- care of the database ---------------------------------------------------------------

    def check(self) -> list[str]:
        """Report migrations that differ from ours, and a head that is not the end of the log."""
        applied = self._ask_once(_CHECKSUMS, ())
        checksums = {applied.get_value(n, 0): applied.get_value(n, 1) for n in range(applied.ntuples)}
        found = [
            f"migration {migration.name} is missing, or differs from the one this program knows"
            for migration in known_migrations()
            if checksums.get(b"%d" % migration.number) != migration.checksum.encode()
        ]
        if text_of(self._ask_once(_HEADS, (self._repo,))) != "t":
            found.append("the head of the log is not its last position")
        return found

    def why_unwritable(self) -> str:
        """Which rights our role lacks, or why the server refuses a write that we roll back; "" if neither."""
        missing = self._ask_once(_MISSING_RIGHTS, ())
        if missing.ntuples:
            role, table, rights = (text_of(missing, column) for column in range(3))
            more = f" and on {missing.ntuples - 1} more tables" if missing.ntuples > 1 else ""
            return f"the role {role} lacks {rights} on the table {table}{more}; the owner can GRANT it"
        with self._taking_turn():
            try:
                self._connection().begin(BEGIN_WRITING, (_TRY_WRITE, (self._repo,)))
            except FAILURES as error:
                return str(error)
            finally:
                self._roll_back()
        return ""

    def _ask_once(self, sql: str, parameters: tuple[str, ...]) -> PGresult:
        with self._taking_turn():
            try:
                return self._connection().ask((sql, parameters))[0]
            except FAILURES as error:
                raise self._refusal_of(error, unknown=False) from error

    # -- the connection ---------------------------------------------------------------------

    def _taking_turn(self) -> threading.Lock:
        """The lock for this process's threads. Neither it nor a connection may cross a fork."""
        if self._pid != os.getpid():
            _parent_sessions.append(self._session)  # kept: closing it would end the parent's connection
            self._pid, self._turn = os.getpid(), threading.Lock()
            self._session = self._late_ring = None
        return self._turn

    def _connection(self) -> PostgresSession:
        session = self._session
        if session is not None and not session.is_usable():
            session.wire.close()
            self._trips_before += session.round_trips
            self._session = session = None
            if self._pool is not None:
                self._pool.clear(self._key)
        if session is None:
            try:
                session = PostgresSession(self._url, self._repo, self._clock_name, self._patience_s)
            except FAILURES as error:
                raise self._refusal_of(error, unknown=False) from error
            self._session = session
        return session

    def _refusal_of(self, error: Exception, *, unknown: bool) -> Refusal:
        note = self._outage.note if self._outage is not None else lambda: 0
        return refusal_of(error, self._path, unknown=unknown, note=note)

    def _note_answer(self) -> None:
        if self._outage is not None:
            self._outage.clear()

    def _roll_back(self) -> None:
        """End a transaction that may be open, without waiting for the answer."""
        session = self._session
        if session is not None and session.wire.is_in_transaction and session.wire.is_open():
            try:
                session.wire.post(("ROLLBACK", ()))
            except LostError:
                session.wire.close()

    def _load(self, session: PostgresSession, entries: Iterable[LogEntry]) -> int:
        """Send the log in batches while folding it here, and the resulting tables at the end."""
        moment = session.begin(BEGIN_WRITING, (BEGIN, (self._repo, None, "true")))[0]
        if text_of(moment) != "0":
            raise refuse("store.not_empty", path=self._path)
        state, count, head, waiting = FoldedState(), 0, 0, iter(entries)
        while batch := list(islice(waiting, _BATCH)):
            self._put_rows(session, LOG, batch)
            for entry in batch:
                fold(state, event_of(entry))
            count, head = count + len(batch), batch[-1].position
        for table in PROJECTED:
            rows = iter(state.all_rows(table))
            while found := list(islice(rows, _BATCH)):
                self._put_rows(session, table, found)
        session.ask((END, (self._repo, head, "false")), ("COMMIT", ()))
        session.note_answer(head, int(text_of(moment, 1)))
        session.epoch = None  # unknown: the next write reads it from the log
        return count

    def _put_rows(self, session: PostgresSession, table: Table[Any], rows: list[Any]) -> None:
        text = encode_rows([table.values(row) for row in rows])
        session.ask((PUT[table.name], (self._repo, text)))

    # -- the bell ---------------------------------------------------------------------------

    def _ring(self) -> None:
        """Ring now if the limit allows it, else a little later for all commits until then."""
        if self._late_ring is not None:
            return
        if self._ring_limit.take():
            self._post_ring(self._session)
            return
        self._late_ring = threading.Timer(1 / MOST_RINGS_PER_S, self._ring_late)
        self._late_ring.daemon = True
        self._late_ring.start()

    def _ring_late(self) -> None:
        with self._turn:
            if self._late_ring is not None:
                self._late_ring = None
                self._post_ring(self._session)

    def _post_ring(self, session: PostgresSession | None) -> None:
        if session is None:
            return
        try:
            session.wire.post(ring(self._repo))
        except LostError:
            session.wire.close()  # the commit stands, and the next call connects again


_parent_sessions: list[PostgresSession | None] = []
