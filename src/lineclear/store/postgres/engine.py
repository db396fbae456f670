"""PostgreSQL behind the store port: one writer at a time for each repo, one round trip when all goes well.

A write is speculated (see speculation.py); after a few wrong guesses it is decided under the lock.
Reads are snapshots. The server's clock is the only clock. A commit is announced by NOTIFY outside of
its transaction and only so often: inside, it would cost every other writer its turn.
"""

from __future__ import annotations

import os
import threading
from functools import partial
from itertools import islice

from lineclear.core import refusals_store
from lineclear.core.codec import event_of
from lineclear.core.epochs import begin_epoch
from lineclear.core.fold import fold
from lineclear.core.state import State
from lineclear.core.tables import LOG, PROJECTED
from lineclear.store.postgres.bundle import Bundle, Settled
from lineclear.store.postgres.failures import FAILURES, refusal_of
from lineclear.store.postgres.listening import MOST_RINGS_PER_S, Allowance, PostgresListener, ring
from lineclear.store.postgres.positions import NeedsLock
from lineclear.store.postgres.schema import create, known_migrations
from lineclear.store.postgres.session import Session, text_of
from lineclear.store.postgres.shelf import Shelf
from lineclear.store.postgres.speculation import NOBODY, GuessingView, Known, LockedTx, SpeculativeTx
from lineclear.store.postgres.statements import (
    BEGIN,
    BEGIN_READING,
    BEGIN_WRITING,
    END,
    FLUSH,
    PUT,
    encode_rows,
)
from lineclear.store.postgres.view import WORTH_KNOWING_ROWS, PostgresView
from lineclear.store.postgres.wire import PATIENCE_S, LostError, show_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn, TypeVar

    from psycopg.pq.abc import PGresult

    from lineclear.app.ports import Caller, Listener, Store, Tx, View
    from lineclear.core.instants import Instant
    from lineclear.core.tables import Entry, Table
    from lineclear.store.postgres.statements import Read
    from lineclear.store.postgres.wire import Command

    R = TypeVar("R")
    T = TypeVar("T")

__all__ = ["PATIENCE_S", "PostgresStore", "Shelf", "create"]

# So many wrong guesses in a row, then the lock: each one cost a round trip, the lock costs two.
GUESSES = 4
_BATCH = 2_000
# As for a write: a time that is taken for now may be so old (see lineclear_begin).
_MOST_BEHIND_NS = 2_000_000_000

_INFO = """SELECT current_setting('server_version'), pg_database_size(current_database()),
(SELECT max("number") FROM "migration"), (SELECT count(*) FROM "log" WHERE "repo" = $1),
(SELECT "head" FROM "repo" WHERE "repo" = $1), current_setting('fsync') = 'on'"""
_CHECKSUMS = 'SELECT "number", "checksum" FROM "migration"'
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
        shelf: Shelf | None = None,
    ) -> None:
        """`clock` is for tests: it takes the place of the server's. A server that says nothing for
        `patience_s` is taken to be out of reach. Connections come from the `shelf` and go back there."""
        self._url, self._path, self._repo = url, show_url(url), repo_id
        self._clock_name, self._clock, self._patience_s = clock_name, clock, patience_s
        self._turn = threading.Lock()
        self._known, self._shelf = Known(), shelf
        self._key = url, repo_id, clock_name, patience_s
        self._allowance = Allowance()
        self._late_ring: threading.Timer | None = None
        self._trips_before = 0
        self._pid = os.getpid()
        # Has something been sent that the server may have committed?
        self._is_writing = False
        self._session: Session | None = None
        kept = shelf.take(self._key) if shelf is not None else None
        if kept is not None:
            self._session, self._known = kept
            self._trips_before = -self._session.round_trips
        with self._taking_turn():
            self._connection()

    @property
    def round_trips(self) -> int:
        """How often this process has waited for the server, greetings included."""
        return self._trips_before + (self._session.round_trips if self._session is not None else 0)

    # -- the port ---------------------------------------------------------------------------

    def transact(self, caller: Caller, work: Callable[[Tx], T], /) -> T:
        with self._taking_turn():
            session = self._connection()
            self._is_writing = False
            try:
                return self._speculate(session, caller, work)
            except FAILURES as error:
                raise refusal_of(error, self._path, unknown=self._is_writing) from error

    def read(self, work: Callable[[View], T], /) -> T:
        with self._taking_turn():
            session = self._connection()
            was_idle = not session.is_fresh()
            try:
                return self._read(session, work)
            except LostError as error:
                if not was_idle:
                    raise refusal_of(error, self._path, unknown=False) from error
            except FAILURES as error:
                raise refusal_of(error, self._path, unknown=False) from error
            # The line had gone dead unnoticed; reading does no harm twice.
            try:
                return self._read(self._connection(), work)
            except FAILURES as error:
                raise refusal_of(error, self._path, unknown=False) from error

    def together(self, work: Callable[[Store], T], done: Callable[[T, Settled], R], /) -> tuple[R] | None:
        """Run `work` on a store whose reads and writes become one transaction, in one round trip when all
        goes well; then `done` with what it gave. None, and nothing written, when that cannot be.

        `work` may be run again from the start, with other facts; it has no effect but through its store.
        """
        with self._taking_turn():
            session = self._connection()
            self._is_writing = False
            try:
                return self._bundle(session, work, done)
            except FAILURES as error:
                raise refusal_of(error, self._path, unknown=self._is_writing) from error

    def listen(self) -> Listener:
        try:
            return PostgresListener(self._url, self._repo)
        except FAILURES as error:
            raise refusal_of(error, self._path, unknown=False) from error

    def load(self, entries: Iterable[Entry], /) -> int:
        with self._taking_turn():
            session = self._connection()
            try:
                count = self._load(session, entries)
            except FAILURES as error:
                raise refusal_of(error, self._path, unknown=True) from error
            finally:
                self._roll_back(session)
            self._ring(session)
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
            if self._shelf is not None:
                if session.wire.is_in_transaction:
                    session.wire.settle()  # a rollback that nobody waited for
                if self._shelf.put(self._key, session, self._known):
                    self._known = Known()
                    return
            # Whoever hangs up with answers unread may take what was sent last with it.
            if session.wire.is_open():
                session.wire.settle()
            session.wire.close()

    # -- care of the database ---------------------------------------------------------------

    def check(self) -> list[str]:
        """Migrations that are not the ones we know, and a head that is not the end of the log."""
        applied = self._ask_once(_CHECKSUMS, ())
        checksums = {applied.get_value(n, 0): applied.get_value(n, 1) for n in range(applied.ntuples)}
        found = [
            f"migration {migration.name} was not applied as this program knows it"
            for migration in known_migrations()
            if checksums.get(b"%d" % migration.number) != migration.checksum.encode()
        ]
        if text_of(self._ask_once(_HEADS, (self._repo,))) != "t":
            found.append("the head of the log is not its last position")
        return found

    def _ask_once(self, sql: str, parameters: tuple[str, ...]) -> PGresult:
        with self._taking_turn():
            try:
                return self._connection().ask((sql, parameters))[0]
            except FAILURES as error:
                raise refusal_of(error, self._path, unknown=False) from error

    # -- the connection ---------------------------------------------------------------------

    def _taking_turn(self) -> threading.Lock:
        """The lock of this process's threads. Neither it nor a connection may cross a fork."""
        if self._pid != os.getpid():
            _of_parents.append(self._session)  # left alone: to close it would end the parent's
            self._pid, self._turn = os.getpid(), threading.Lock()
            self._session = self._late_ring = None
        return self._turn

    def _connection(self) -> Session:
        session = self._session
        if session is not None and not session.is_usable():
            session.wire.close()
            self._trips_before += session.round_trips
            self._session = session = None
            if self._shelf is not None:
                self._shelf.clear(self._key)
        if session is None:
            try:
                session = Session(self._url, self._repo, self._clock_name, self._patience_s)
            except FAILURES as error:
                raise refusal_of(error, self._path, unknown=False) from error
            self._session = session
        return session

    def _roll_back(self, session: Session) -> None:
        """End a transaction that may be open, without waiting for the server to say so."""
        if session.wire.is_in_transaction and session.wire.is_open():
            try:
                session.wire.post(("ROLLBACK", ()))
            except LostError:
                session.wire.close()

    # -- reading on guesses -----------------------------------------------------------------

    def _read(self, session: Session, work: Callable[[View], T]) -> T:
        """All questions of a run in one round trip. The answers are of one snapshot: where the guesses were
        wrong, a second run on them needs no second trip, unless it asks something new."""
        view = GuessingView(self._known, self._now(session), session.head, {})
        for _ in range(GUESSES if session.epoch == view.now.boot else 0):
            try:
                outcome = _outcome(work, view)
                heard, is_right = self._hear_all(session, view)
                if not is_right:
                    now = self._clock() if self._clock is not None else session.server_now()
                    view = GuessingView(self._known, now, session.head, heard)
                    outcome = _outcome(work, view)
            except NeedsLock:
                break
            if is_right or view.is_all_heard:
                return outcome()
        direct = PostgresView(session, self._repo, self._known, self._clock)
        try:
            return work(direct)
        finally:
            self._roll_back(session)

    def _hear_all(self, session: Session, view: GuessingView) -> tuple[dict[Any, list[Any]], bool]:
        """The true answers to all that a run asked, at one moment; and were they what it took them for?"""
        start = (BEGIN, (self._repo, None, "false"))
        questions = self._comparisons(view)
        _, moment, *answers, _ = session.ask((BEGIN_READING, ()), start, *questions, ("COMMIT", ()))
        self._hear(session, moment)
        heard, is_right = {}, not view.is_head_used or session.head == view.head
        if self._clock is None:
            is_right = is_right and 0 <= session.server_now().tick_ns - view.now.tick_ns <= _MOST_BEHIND_NS
        for (identity, (read, guess)), answer in zip(view.guesses.items(), answers, strict=True):
            text = answer.get_value(0, 0)
            heard[identity] = guess if text is None else read.of_text(text)
            if text is not None:
                is_right = False
                if len(heard[identity]) <= WORTH_KNOWING_ROWS:
                    self._known.learn(read, heard[identity])
        return heard, is_right

    # -- writing on guesses -----------------------------------------------------------------

    def _now(self, session: Session) -> Instant:
        return self._clock() if self._clock is not None else session.guess_now()

    def _speculate(self, session: Session, caller: Caller, work: Callable[[Tx], T]) -> T:
        reads: list[Read] = []
        for _ in range(GUESSES):
            now = self._now(session)
            if session.epoch != now.boot:
                break
            tx = SpeculativeTx(self._known, now, caller, floor=session.head)
            try:
                result = work(tx)
            except NeedsLock:
                reads = tx.reads()
                break
            except Exception:
                reads = tx.reads()
                if not self._verify(session, tx):
                    continue
                if not tx.window.is_used:
                    raise
            else:
                reads = tx.reads()
                head = self._commit(session, tx)
                if head is None:
                    continue
                settled: T = tx.window.settled(result, head)
                return settled
            # A refusal in which stand-ins may be quoted: the same again, with the true numbers.
            self._refuse_exactly(session, tx, caller, work)
            break
        return self._decide_locked(session, caller, work, reads)

    def _refuse_exactly(
        self, session: Session, before: SpeculativeTx, caller: Caller, work: Callable[[Tx], T]
    ) -> None:
        """Run `work` again on facts that were just verified; returns only if it no longer refuses."""
        tx = SpeculativeTx(self._known, before.now, caller, floor=session.head, head=session.head)
        try:
            work(tx)
        except NeedsLock:
            return
        except Exception:
            if tx.guesses.keys() <= before.guesses.keys():
                raise

    def _commit(self, session: Session, tx: SpeculativeTx) -> int | None:
        """Write if every guess was right, and return the head before; else None, and better guesses."""
        if not tx.written:
            # What it answers from may be somebody's who has not been promised it yet: flush it, too.
            return session.head if self._verify(session, tx, then=(FLUSH, ())) else None
        start = (BEGIN, (self._repo, self._believed_ns(tx), "true"))
        end = (END, (self._repo, tx.appended, "true"))
        writes = tx.commands(self._repo, tx.window)
        self._is_writing = True
        answers = session.ask(start, *self._comparisons(tx), *writes, end, then=(FLUSH, ()))
        head = self._hear(session, answers[0])
        if answers[-1].get_value(0, 0) is None:
            self._is_writing = False
            self._learn(tx, answers[1:])
            return None
        session.head = head + tx.appended
        self._known.keep(tx.written, lambda value: tx.window.settled(value, head))
        if tx.appended:
            self._ring(session)
        return head

    def _verify(self, session: Session, tx: SpeculativeTx, then: Command | None = None) -> bool:
        """Were the guesses right, all at one moment? Waits for no writer."""
        if not tx.guesses and not tx.window.is_used:
            return True
        start = (BEGIN, (self._repo, self._believed_ns(tx), "false"))
        commands = [
            (BEGIN_READING, ()),
            start,
            *self._comparisons(tx),
            (END, (self._repo, 0, "false")),
            ("COMMIT", ()),
        ]
        _, moment, *answers, end, _ = session.ask(*commands, then=then)
        self._hear(session, moment)
        if end.get_value(0, 0) is not None:
            return True
        self._learn(tx, answers)
        return False

    def _believed_ns(self, tx: SpeculativeTx) -> int | None:
        return tx.now.tick_ns if self._clock is None else None

    def _comparisons(self, tx: SpeculativeTx) -> list[tuple[str, list[int | str]]]:
        return [read.compared(self._repo, guess) for read, guess in tx.guesses.values()]

    def _hear(self, session: Session, moment: PGresult) -> int:
        head, now_ns = moment.get_value(0, 0), moment.get_value(0, 1)
        if head is None or now_ns is None:
            raise refusals_store.store_missing(self._path)
        session.hear(int(head), int(now_ns))
        return session.head

    def _learn(self, tx: SpeculativeTx, answers: Iterable[PGresult]) -> None:
        for (read, _), answer in zip(tx.guesses.values(), answers, strict=False):
            text = answer.get_value(0, 0)
            if text is not None:
                self._known.learn(read, read.of_text(text))

    def _bundle(
        self, session: Session, work: Callable[[Store], T], done: Callable[[T, Settled], R]
    ) -> tuple[R] | None:
        for _ in range(GUESSES):
            now = self._now(session)
            if session.epoch != now.boot:
                return None
            tx = SpeculativeTx(self._known, now, NOBODY, floor=session.head)
            try:
                result = work(Bundle(tx))
            except NeedsLock:
                return None
            except Exception:
                if not self._verify(session, tx):
                    continue
                if tx.window.is_used:
                    return None  # its words may quote stand-ins
                raise
            head = self._commit(session, tx)
            if head is not None:
                return (done(result, Settled(tx, head)),)
        return None

    # -- writing under the lock -------------------------------------------------------------

    def _decide_locked(
        self, session: Session, caller: Caller, work: Callable[[Tx], T], reads: list[Read]
    ) -> T:
        """Always succeeds: nobody else writes until we are done. What was asked before comes at once."""
        try:
            tx = self._begin_locked(session, caller, reads)
            before = session.head
            if session.epoch != tx.now.boot:
                begin_epoch(tx)
            result = work(tx)
            if tx.written:
                end = (END, (self._repo, tx.head - before, "false"))
                self._is_writing = True
                session.ask(*tx.commands(self._repo, None), end, ("COMMIT", ()))
        finally:
            self._roll_back(session)
        session.head, session.epoch = tx.head, tx.now.boot
        if tx.written:
            self._known.keep(tx.written, lambda value: value)
            if tx.head > before:
                self._ring(session)
        return result

    def _begin_locked(self, session: Session, caller: Caller, reads: list[Read]) -> LockedTx:
        start = (BEGIN, (self._repo, None, "true"))
        questions = [read.plain(self._repo) for read in reads]
        moment, *answers = session.begin(BEGIN_WRITING, start, *questions)
        head = self._hear(session, moment)

        def heard(read: Read, result: PGresult) -> list[Any]:
            answer = read.of_result(result)
            self._known.learn(read, answer)
            return answer

        def fetch(read: Read) -> list[Any]:
            return heard(read, session.ask(read.plain(self._repo))[0])

        known = {read.identity: heard(read, result) for read, result in zip(reads, answers, strict=True)}
        now = self._clock() if self._clock is not None else session.server_now()
        return LockedTx(now, caller, head, known, fetch)

    def _load(self, session: Session, entries: Iterable[Entry]) -> int:
        """The log goes out as it comes in; the tables are folded here and follow at the end."""
        moment = session.begin(BEGIN_WRITING, (BEGIN, (self._repo, None, "true")))[0]
        if self._hear(session, moment):
            raise refusals_store.store_not_empty(self._path)
        state, count, head, waiting = State(), 0, 0, iter(entries)
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
        session.hear(head, session.server_now().tick_ns)
        session.epoch = None  # whatever the log says, the next write looks
        return count

    def _put_rows(self, session: Session, table: Table[Any], rows: list[Any]) -> None:
        text = encode_rows([table.values(row) for row in rows])
        session.ask((PUT[table.name], (self._repo, text, 0, "{}")))

    # -- the bell ---------------------------------------------------------------------------

    def _ring(self, session: Session) -> None:
        """Now if we may, else a little later for all commits until then."""
        if self._late_ring is not None:
            return
        if self._allowance.take():
            self._post_ring(session)
            return
        self._late_ring = threading.Timer(1 / MOST_RINGS_PER_S, self._ring_late)
        self._late_ring.daemon = True
        self._late_ring.start()

    def _ring_late(self) -> None:
        with self._turn:
            if self._late_ring is not None and self._session is not None:
                self._late_ring = None
                self._post_ring(self._session)

    def _post_ring(self, session: Session) -> None:
        try:
            session.wire.post(ring(self._repo))
        except LostError:
            session.wire.close()  # the commit stands; the next call finds the connection gone


def _outcome(work: Callable[[View], T], view: View) -> Callable[[], T]:
    """What a run on guesses came to, to be given or raised when the guesses turn out to be right."""
    try:
        result = work(view)
    except Exception as error:  # noqa: BLE001  it may come from a wrong guess
        return partial(_raise, error)
    return lambda: result


def _raise(error: Exception) -> NoReturn:
    raise error


_of_parents: list[Session | None] = []
