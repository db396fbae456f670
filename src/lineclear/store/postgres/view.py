"""Reads the tables inside one transaction. `prefetch` gets many answers in one round trip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.instants import Instant
from lineclear.core.log.epochs import clock_of, last_boot
from lineclear.core.log.queries import COUNT, GET, PICK, SCAN, SEARCH, Question, around
from lineclear.core.log.tables import LOG
from lineclear.core.words.refusals import refuse
from lineclear.store.postgres.statements import (
    BEGIN,
    BEGIN_READING,
    BEGIN_WRITING,
    command_of,
    rows_of,
    search,
)
from lineclear.store.postgres.wire import show_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    from psycopg.pq.abc import PGresult

    from lineclear.core.log.tables import Table, TableRow
    from lineclear.store.postgres.session import PostgresSession
    from lineclear.store.postgres.wire import Command

    R = TypeVar("R", bound=TableRow)
    Key = tuple[int | str, ...]

FAR_FUTURE_NS = 1 << 62


class PostgresView:
    """One snapshot. The transaction begins in the same round trip as the first question."""

    now: Instant
    head: int
    _is_writing = False

    def __init__(self, session: PostgresSession, repo: str, clock: Callable[[], Instant] | None) -> None:
        self._session, self._repo, self._clock = session, repo, clock
        self._is_begun = False
        self._answers: dict[Any, list[Any]] = {}
        # Every row that any answer contained, by table and key.
        self._rows: dict[tuple[str, Key], Any] = {}

    def __getattr__(self, name: str) -> Any:
        """`now` and `head` are known only after the first round trip."""
        if name not in ("now", "head"):
            raise AttributeError(name)
        self.prefetch()
        return getattr(self, name)

    # -- the port ---------------------------------------------------------------------------

    def get(self, table: Table[R], key: Key, /) -> R | None:
        known: R | None = self._rows.get((table.name, key))
        if known is not None:
            return known
        found = self._ask(Question(GET, table, "key", key))
        return found[0] if found else None

    def pick(self, table: Table[R], index: str, values: Iterable[int | str], /) -> list[R]:
        wanted = tuple(dict.fromkeys(values))
        return self._ask(Question(PICK, table, index, wanted)) if wanted else []

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
        return self._ask(
            Question(SCAN, table, index, prefix, low=low, high=high, limit=limit, reverse=reverse)
        )

    def count(self, table: Table[Any], index: str, prefix: Key = (), /) -> int:
        number: int = self._ask(Question(COUNT, table, index, prefix))[0]
        return number

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
        """Fetches whole rows: fewer columns first would cost a second round trip."""
        values = tuple(values)
        self.prefetch(*around(table, index, values, low, high))
        entry_of = table.entry_of[index]
        found: list[R] = self.pick(table, index, values) + self.scan(table, index, low=low, high=high)
        return [row for row in found if keep(entry_of(row))]

    def search_tasks(self, text: str, limit: int, /) -> list[int]:
        question = search(text, limit)
        return self._ask(question) if question is not None else []

    def prefetch(self, *questions: Question) -> None:
        missing = list({asked.identity: asked for asked in questions if not self._knows(asked)}.values())
        if self._is_begun and not missing:
            return
        commands = [command_of(question, self._repo) for question in missing]
        is_first, self._is_begun = not self._is_begun, True
        results = self._begin(commands) if is_first else self._session.ask(*commands)
        for question, result in zip(missing, results, strict=True):
            answer = self._answers[question.identity] = rows_of(question, result)
            if question.table is not LOG and question.kind not in (SEARCH, COUNT):
                key_of = question.table.key_of
                self._rows.update(((question.table.name, key_of(row)), row) for row in answer)
        if is_first and self._session.epoch != self.now.boot:
            self._meet_new_epoch()

    def _knows(self, question: Question) -> bool:
        row = (question.table.name, question.prefix)
        return question.identity in self._answers or (question.kind == GET and row in self._rows)

    # -- the transaction --------------------------------------------------------------------

    def _ask(self, question: Question) -> list[Any]:
        """The server's answer, asked for only once."""
        self.prefetch(question)
        if question.table is LOG:  # long, and read piece by piece: not cached
            return self._answers.pop(question.identity)
        return list(self._answers[question.identity])

    def _begin(self, commands: list[Command]) -> list[PGresult]:
        mode, is_writing = (BEGIN_WRITING, "true") if self._is_writing else (BEGIN_READING, "false")
        moment, *results = self._session.begin(mode, (BEGIN, (self._repo, None, is_writing)), *commands)
        head, now_ns = moment.get_value(0, 0), moment.get_value(0, 1)
        if head is None or now_ns is None:
            raise refuse("store.missing", path=show_url(self._session.url))
        self.head = int(head)
        self._session.note_answer(self.head, int(now_ns))
        self.now = self._clock() if self._clock is not None else self._session.server_now()
        return results

    def _meet_new_epoch(self) -> None:
        """Before the first write under a new clock, count every lease as over: it belongs to an old clock."""
        self._session.epoch = last_boot(self)
        if self._session.epoch is not None and clock_of(self._session.epoch) != clock_of(self.now.boot):
            self.now = Instant(FAR_FUTURE_NS, self.now.boot, self.now.wall_ns)
