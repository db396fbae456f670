"""Transactions whose facts are guessed, and corrected when the guess was wrong.

The rules live in Python, the facts on a server that may be 50 ms away, and a transaction asks it
half a dozen questions. So a run of `work` gets its answers from what this process remembers of the
tables (`Known`), where nothing remembered means nothing there, and keeps its writes to itself. One
round trip then takes the repository's lock, asks all the questions, compares the answers with the
guesses by digest, and only if every one agrees applies the writes, gives the positions and moves the
head. Otherwise it changes nothing and brings the true answers, and `work` runs again.

Why a guess cannot do harm. What `work` decides depends on the answers to its questions, on the time,
and on the positions of its own events. The answers are verified under the lock that every writer
of the repository takes, so nothing changes between comparison and write. The time is a lower bound
of the server's (its last answer plus what has passed here since, less what our clock may be fast)
that the server accepts if it is at most 2 s behind and never ahead: too early a time makes a new
lease a little shorter and lets an old one last a little longer, both on the safe side. Positions are
stand-ins until the server gives them (see positions.py). A refusal is verified like a write, on
one snapshot and without the lock, before anybody hears of it.

The disk is waited for outside of the lock. The commit under it is asynchronous; a second, empty
transaction in the same round trip flushes the log of the server up to there, for all who wait at
once, and only then is anybody promised anything. So others may see for a moment what a crash could
still take; what they write themselves is flushed after it, and the positions they saw are never
given again, since after a crash a new epoch begins (see lineclear_history in the first migration).
"""

from __future__ import annotations

from lineclear.app.ports import Caller
from lineclear.core.codec import encode_body
from lineclear.core.events import Event
from lineclear.core.fold import fold
from lineclear.core.state import State
from lineclear.core.tables import ALL, LOG, TASK, Entry
from lineclear.store.postgres.positions import NeedsLock, Window
from lineclear.store.postgres.sifting import sift_rows
from lineclear.store.postgres.statements import (
    DELETE,
    GET,
    PICK,
    PUT,
    SCAN,
    SEARCH,
    Read,
    encode_rows,
    search,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    from lineclear.core.events import Draft
    from lineclear.core.instants import Instant
    from lineclear.core.tables import Row, Table

    R = TypeVar("R", bound=Row)
    Key = tuple[int | str, ...]

MOST_KNOWN_ROWS = 20_000
NOBODY = Caller("")
_TABLES = {table.name: table for table in ALL}


class Known:
    """What this process remembers of the tables: the source of all guesses, never of truth."""

    __slots__ = ("_learnt", "_searches", "_state")

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._state, self._learnt = State(), 0
        self._searches: dict[Any, list[Any]] = {}

    def guess(self, read: Read) -> list[Any]:
        if read.kind == SEARCH:
            return self._searches.get(read.identity, [])
        return read.answer(self._state)

    def learn(self, read: Read, answer: list[Any]) -> None:
        """From now on the guess for this question is this answer."""
        self._make_room(len(answer))
        if read.kind == SEARCH:
            self._searches[read.identity] = answer
            return
        key_of = read.table.key_of
        fresh = {key_of(row) for row in answer}
        # A limit hides rows behind those that go now, hence again until nothing wrong is left.
        while stale := {key_of(row) for row in read.answer(self._state)} - fresh:
            for key in stale:
                self._state.delete(read.table, key)
        for row in answer:
            self._state.put(read.table, row)

    def keep(self, written: dict[str, dict[Key, Any]], settle: Callable[[Any], Any]) -> None:
        """Our own committed rows, with their true positions."""
        self._searches = {}
        for name, rows in written.items():
            table = _TABLES[name]
            if table is LOG:
                continue
            self._make_room(len(rows))
            for key, row in rows.items():
                if row is None:
                    self._state.delete(table, settle(key))
                else:
                    self._state.put(table, settle(row))

    def _make_room(self, count: int) -> None:
        if self._learnt + count > MOST_KNOWN_ROWS:
            self.forget()
        self._learnt += count


class BufferedTx:
    """A transaction that keeps its writes to itself and sees them in every later answer."""

    __slots__ = ("_caller", "_own", "appended", "now", "written")

    def __init__(self, now: Instant, caller: Caller) -> None:
        self.now, self._caller = now, caller
        self._own = State()
        self.written: dict[str, dict[Key, Any]] = {}
        self.appended = 0

    def _ask(self, read: Read) -> list[Any]:
        """The answer as if this transaction had written nothing."""
        raise NotImplementedError

    def _next_position(self) -> int:
        raise NotImplementedError

    # -- the port ---------------------------------------------------------------------------

    def get(self, table: Table[R], key: Key, /) -> R | None:
        written = self.written.get(table.name)
        if written is not None and key in written:
            row: R | None = written[key]
            return row
        found = self._ask(Read(GET, table, "key", key))
        return found[0] if found else None

    def pick(self, table: Table[R], index: str, values: Iterable[int | str], /) -> list[R]:
        wanted = tuple(dict.fromkeys(values))
        if not wanted:
            return []
        read = Read(PICK, table, index, wanted)
        found = self._ask(read)
        return self._merged(read, found) if table.name in self.written else found

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
        # Own writes may take the place of as many rows of the answer as there are of them.
        wider = limit + len(self.written.get(table.name, ())) if limit else 0
        read = Read(SCAN, table, index, prefix, low=low, high=high, limit=wider, reverse=reverse)
        found = self._ask(read)
        if table.name in self.written:
            found = self._merged(read, found)
        return found[:limit] if limit else found

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
        return sift_rows(self, table, index, values, low, high, keep)

    def search_tasks(self, text: str, limit: int, /) -> list[int]:
        read = search(text, limit)
        found = self._ask(read) if read is not None else []
        words = set(text.lower().split())
        own = self.written.get(TASK.name, {}).values()
        similar = [
            task.id for task in own if task and words & set(f"{task.title} {task.body}".lower().split())
        ]
        return [*dict.fromkeys([*found, *similar])][:limit]

    def append(self, draft: Draft, /) -> Event:
        by = self._caller
        self.appended += 1
        facts = (self._next_position(), self.now.wall_ns, by.name, draft.kind, draft.subject, by.seen, by.op)
        event = Event(*facts, draft.body)
        self.put(LOG, Entry(*facts, encode_body(draft.body)))
        fold(self, event)
        return event

    def put(self, table: Table[R], row: R, /) -> None:
        self.written.setdefault(table.name, {})[table.key_of(row)] = row
        self._own.put(table, row)

    def delete(self, table: Table[R], key: Key, /) -> None:
        self.written.setdefault(table.name, {})[key] = None
        self._own.delete(table, key)

    def _merged(self, read: Read, found: list[Any]) -> list[Any]:
        table = read.table
        written, key_of = self.written[table.name], table.key_of
        own = read.answer(self._own)
        merged = [row for row in found if key_of(row) not in written] + own
        return read.sorted(merged) if own else merged

    # -- parts ------------------------------------------------------------------------------

    def begin_part(self, caller: Caller) -> tuple[int, dict[str, dict[Key, Any]]]:
        """From here on somebody else may act; what it writes can be undone by the mark that this gives."""
        self._caller = caller
        return self.appended, {name: dict(rows) for name, rows in self.written.items()}

    def undo_part(self, mark: tuple[int, dict[str, dict[Key, Any]]]) -> None:
        self.appended, self.written = mark
        self._own = State()
        for name, rows in self.written.items():
            for row in rows.values():
                if row is not None:
                    self._own.put(_TABLES[name], row)

    # -- what to write ----------------------------------------------------------------------

    def commands(self, repo: str, window: Window | None) -> list[tuple[str, list[int | str]]]:
        """All writes, one command for each table and kind."""
        made = []
        for name, rows in self.written.items():
            values = _TABLES[name].values
            puts = [values(row) for row in rows.values() if row is not None]
            if puts:
                made.append((PUT[name], self._parameters(repo, puts, window)))
            gone = [key for key, row in rows.items() if row is None]
            if gone:
                made.append((DELETE[name], self._parameters(repo, gone, window)))
        return made

    def _parameters(self, repo: str, rows: list[Key], window: Window | None) -> list[int | str]:
        text = encode_rows(rows)
        offsets = window.offsets_in(text) if window is not None else []
        base = window.base if window is not None else 0
        return [repo, text, base, "{" + ",".join(map(str, offsets)) + "}"]


class SpeculativeTx(BufferedTx):
    """Facts are guesses, all of them noted. With `head` given, positions are the true ones."""

    __slots__ = ("_head", "_known", "guesses", "window")

    def __init__(
        self, known: Known, now: Instant, caller: Caller, *, floor: int, head: int | None = None
    ) -> None:
        super().__init__(now, caller)
        self._known, self._head = known, head
        self.window = Window(floor)
        self.guesses: dict[Any, tuple[Read, list[Any]]] = {}

    @property
    def head(self) -> int:
        return self.window.at(self.appended) if self._head is None else self._head + self.appended

    @head.setter
    def head(self, _position: int) -> None:
        raise NeedsLock  # positions jump ahead: an epoch begins

    def reads(self) -> list[Read]:
        return [read for read, _ in self.guesses.values()]

    def _next_position(self) -> int:
        return self.head

    def _ask(self, read: Read) -> list[Any]:
        if self.window.is_used and self._cannot_match(read):
            return []
        noted = self.guesses.get(read.identity)
        if noted is None:
            noted = self.guesses[read.identity] = (read, self._known.guess(read))
        return noted[1]

    def _cannot_match(self, read: Read) -> bool:
        """A question for a position that is not given yet finds nothing on the server."""
        bounds = [value for value in (read.low, read.high) if value is not None]
        for value in (*read.prefix, *bounds):
            if self.window.covers(value) or (isinstance(value, str) and self.window.is_in(value)):
                if read.kind == GET and self.window.covers(value) and int(value) > self.window.base:
                    return True
                raise NeedsLock
        return False


class GuessingView(SpeculativeTx):
    """For reading: answers that were `heard` are true, all others are guesses, and the head is one, too."""

    __slots__ = ("_heard", "is_all_heard", "is_head_used")

    def __init__(self, known: Known, now: Instant, head: int, heard: dict[Any, list[Any]]) -> None:
        super().__init__(known, now, NOBODY, floor=head, head=head)
        self._heard = heard
        self.is_all_heard, self.is_head_used = True, False

    @property
    def head(self) -> int:
        self.is_head_used = True
        return self._head or 0

    @head.setter
    def head(self, _position: int) -> None:
        raise NeedsLock

    def _ask(self, read: Read) -> list[Any]:
        if read.table is LOG and read.kind != GET:
            raise NeedsLock  # nobody keeps the log in mind: it would only be asked twice
        heard = self._heard.get(read.identity)
        if heard is None:
            self.is_all_heard = False
            return super()._ask(read)
        self.guesses[read.identity] = (read, heard)
        return heard


class LockedTx(BufferedTx):
    """Facts are the server's, asked one by one while we hold the lock."""

    __slots__ = ("_answers", "_fetch", "head")

    def __init__(
        self,
        now: Instant,
        caller: Caller,
        head: int,
        answers: dict[Any, list[Any]],
        fetch: Callable[[Read], list[Any]],
    ) -> None:
        super().__init__(now, caller)
        self.head = head
        self._answers, self._fetch = answers, fetch

    def _next_position(self) -> int:
        self.head += 1
        return self.head

    def _ask(self, read: Read) -> list[Any]:
        answer = self._answers.get(read.identity)
        if answer is None:
            answer = self._answers[read.identity] = self._fetch(read)
        return answer
