"""A write transaction in two round trips: first begin, lock and facts; then all writes and the commit.

Between the two our rules decide on facts that cannot change, since every writer of the repository takes the
same lock. A question that was not prefetched costs one more round trip.

We do not wait for the disk under the lock. The commit itself is asynchronous. A second, empty transaction in
the same round trip then flushes the server's log, for all waiting writers at once, and only after that do we
acknowledge anything. So for a moment others may see what a crash could still lose. But what they write
themselves is flushed after it, and the positions they saw are never used again, since a crash begins a new
epoch (see lineclear_history in the first migration).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.log.codec import encode_body
from lineclear.core.log.epochs import begin_epoch
from lineclear.core.log.events import Event
from lineclear.core.log.fold import fold
from lineclear.core.log.queries import PICK, SCAN, Question, by_key
from lineclear.core.log.state import FoldedState
from lineclear.core.log.tables import AGENT, ALL, LOG, OPERATION, TASK, LogEntry
from lineclear.store.postgres.statements import DELETE, END, FLUSH, PUT, encode_rows
from lineclear.store.postgres.view import PostgresView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    from psycopg.pq.abc import PGresult

    from lineclear.app.ports import Caller
    from lineclear.core.instants import Instant
    from lineclear.core.log.events import Draft
    from lineclear.core.log.tables import Table, TableRow
    from lineclear.store.postgres.session import PostgresSession
    from lineclear.store.postgres.wire import Command

    R = TypeVar("R", bound=TableRow)
    Key = tuple[int | str, ...]

_TABLES = {table.name: table for table in ALL}


class PostgresTx(PostgresView):
    """Collects its writes until the commit, and sees them in every later answer."""

    _is_writing = True

    def __init__(
        self, session: PostgresSession, repo: str, clock: Callable[[], Instant] | None, caller: Caller
    ) -> None:
        super().__init__(session, repo, clock)
        self._caller = caller
        self._own = FoldedState()
        self._written: dict[str, dict[Key, Any]] = {}
        self._first_head = 0

    def begin(self, near: Iterable[Question]) -> None:
        """Take the repository's lock, which we keep until the end, and fetch the facts near the request."""
        operation = [by_key(OPERATION, self._caller.op)] if self._caller.op else []
        self.prefetch(by_key(AGENT, self._caller.name), *operation, *near)

    def commit(self) -> bool:
        """Write everything durably. False if there is no new event to announce."""
        growth = self.head - self._first_head
        end: list[Command] = [(END, (self._repo, growth, "true"))] if self._written else []
        # FLUSH even without own writes: our answer may rest on others' writes that are not durable yet.
        self._session.ask(*self._commands(), *end, ("COMMIT", ()), then=(FLUSH, ()))
        self._session.head, self._session.epoch = self.head, self.now.boot
        return growth > 0

    @property
    def has_written(self) -> bool:
        return bool(self._written)

    # -- the port ---------------------------------------------------------------------------

    def get(self, table: Table[R], key: Key, /) -> R | None:
        written = self._written.get(table.name)
        if written is not None and key in written:
            own: R | None = written[key]
            return own
        return super().get(table, key)

    def pick(self, table: Table[R], index: str, values: Iterable[int | str], /) -> list[R]:
        wanted = tuple(dict.fromkeys(values))
        found = super().pick(table, index, wanted)
        if table.name not in self._written or not wanted:
            return found
        return self._with_own(Question(PICK, table, index, wanted), found)

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
        # Each of our own writes may replace one row of the answer.
        wider = limit + len(self._written.get(table.name, ())) if limit else 0
        found = super().scan(table, index, prefix, low=low, high=high, limit=wider, reverse=reverse)
        if table.name in self._written:
            question = Question(SCAN, table, index, prefix, low=low, high=high, reverse=reverse)
            found = self._with_own(question, found)
        return found[:limit] if limit else found

    def count(self, table: Table[Any], index: str, prefix: Key = (), /) -> int:
        if table.name in self._written:
            return len(self.scan(table, index, prefix))
        return super().count(table, index, prefix)

    def search_tasks(self, text: str, limit: int, /) -> list[int]:
        found = super().search_tasks(text, limit)
        words = set(text.lower().split())
        own = self._written.get(TASK.name, {}).values()
        similar = [
            task.id for task in own if task and words & set(f"{task.title} {task.body}".lower().split())
        ]
        return [*dict.fromkeys([*found, *similar])][:limit]

    def append(self, draft: Draft, /) -> Event:
        by = self._caller
        self.head += 1
        facts = (self.head, self.now.wall_ns, by.name, draft.kind, draft.subject, by.seen, by.op)
        event = Event(*facts, draft.body)
        self.put(LOG, LogEntry(*facts, encode_body(draft.body)))
        fold(self, event)
        return event

    def put(self, table: Table[R], row: R, /) -> None:
        self._written.setdefault(table.name, {})[table.key_of(row)] = row
        self._own.put(table, row)

    def delete(self, table: Table[R], key: Key, /) -> None:
        self._written.setdefault(table.name, {})[key] = None
        self._own.delete(table, key)

    # -- inside -----------------------------------------------------------------------------

    def _begin(self, commands: list[Command]) -> list[PGresult]:
        results = super()._begin(commands)
        self._first_head = self.head
        return results

    def _meet_new_epoch(self) -> None:
        begin_epoch(self)
        if not self._written:  # another writer has begun it
            self._session.epoch = self.now.boot

    def _with_own(self, question: Question, found: list[Any]) -> list[Any]:
        written, key_of = self._written[question.table.name], question.table.key_of
        own = question.answer(self._own)
        merged = [row for row in found if key_of(row) not in written] + own
        return question.sorted(merged) if own else merged

    def _commands(self) -> list[Command]:
        """All writes: at most one PUT and one DELETE per table."""
        made: list[Command] = []
        for name, rows in self._written.items():
            values = _TABLES[name].values
            kept = [values(row) for row in rows.values() if row is not None]
            gone = [key for key, row in rows.items() if row is None]
            if kept:
                made.append((PUT[name], (self._repo, encode_rows(kept))))
            if gone:
                made.append((DELETE[name], (self._repo, encode_rows(gone))))
        return made
