"""The reference engine, in the memory of one process. The other engines must give the same answers."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from lineclear.core.instants import Instant
from lineclear.core.log.codec import encode_body, event_of
from lineclear.core.log.epochs import begin_epoch
from lineclear.core.log.events import Event
from lineclear.core.log.fold import fold
from lineclear.core.log.state import FoldedState
from lineclear.core.log.tables import LOG, TASK, LogEntry
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    from lineclear.app.ports import Caller, Tx, View
    from lineclear.core.log.events import Draft
    from lineclear.core.log.queries import Question
    from lineclear.core.log.tables import Table, TableRow

    R = TypeVar("R", bound=TableRow)
    T = TypeVar("T")
    Key = tuple[int | str, ...]


def _host_now() -> Instant:
    return Instant(time.monotonic_ns(), "memory", time.time_ns())


class MemoryTx(FoldedState):
    """The state itself, with a list by which a failed transaction is undone."""

    def __init__(self) -> None:
        super().__init__()
        self.head = 0
        self.now = Instant(0, "memory", 0)
        self._undo: list[tuple[Table[Any], Key, Any]] = []

    def begin(self, caller: Caller | None, now: Instant) -> None:
        self._caller = caller
        self.now = now
        self._undo = []

    def roll_back(self) -> None:
        for table, key, old in reversed(self._undo):
            if old is None:
                super().delete(table, key)
            else:
                super().put(table, old)
        self.head = max((entry.position for entry in self.scan(LOG, "key", reverse=True, limit=1)), default=0)

    def put(self, table: Table[R], row: R, /) -> None:
        key = table.key_of(row)
        self._undo.append((table, key, self.get(table, key)))
        super().put(table, row)

    def delete(self, table: Table[R], key: Key, /) -> None:
        self._undo.append((table, key, self.get(table, key)))
        super().delete(table, key)

    def append(self, draft: Draft, /) -> Event:
        caller = self._caller
        if caller is None:
            raise RuntimeError("a read cannot append")
        self.head += 1
        at_ns = self.now.wall_ns
        facts = (self.head, at_ns, caller.name, draft.kind, draft.subject, caller.seen, caller.op)
        event = Event(*facts, draft.body)
        self.put(LOG, LogEntry(*facts, encode_body(draft.body)))
        fold(self, event)
        return event

    def search_tasks(self, text: str, limit: int, /) -> list[int]:
        words = set(text.lower().split())
        scored = []
        for task in self.all_rows(TASK):
            shared = len(words & set(f"{task.title} {task.body}".lower().split()))
            if shared:
                scored.append((-shared, task.id))
        return [task_id for _, task_id in sorted(scored)[:limit]]

    def prefetch(self, *questions: Question) -> None:
        """Has nothing to fetch."""


class MemoryStore:
    """A store for the threads of one process, which take turns. It ends with the process."""

    kind = "memory"

    def __init__(self, clock: Callable[[], Instant] = _host_now) -> None:
        self._clock = clock
        self._turn = threading.RLock()
        self._bell = threading.Condition()
        self._rings = 0
        self._tx = MemoryTx()

    def transact(self, caller: Caller, work: Callable[[Tx], T], _near: Iterable[Question] = (), /) -> T:
        with self._turn:
            self._tx.begin(caller, self._clock())
            try:
                if not self._tx.head:
                    begin_epoch(self._tx)
                result = work(self._tx)
            except BaseException:
                self._tx.roll_back()
                raise
        with self._bell:
            self._rings += 1
            self._bell.notify_all()
        return result

    def read(self, work: Callable[[View], T], /) -> T:
        with self._turn:
            self._tx.begin(None, self._clock())
            return work(self._tx)

    def listen(self) -> MemoryListener:
        return MemoryListener(self)

    def load(self, entries: Iterable[LogEntry], /) -> int:
        with self._turn:
            self._tx.begin(None, self._clock())
            if self._tx.head:
                raise refuse("store.not_empty", path="memory")
            count = 0
            for entry in entries:
                self._tx.put(LOG, entry)
                self._tx.head = entry.position
                fold(self._tx, event_of(entry))
                count += 1
            return count

    def check(self) -> list[str]:
        return []

    def info(self) -> dict[str, Any]:
        return {"kind": self.kind, "events": self._tx.count(LOG, "key"), "head": self._tx.head}

    def close(self) -> None:
        """Has nothing to close."""


class MemoryListener:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._rings_seen = store._rings

    def __enter__(self) -> MemoryListener:
        return self

    def __exit__(self, *_exc: object) -> None:
        """Has nothing to close."""

    def wait(self, timeout_s: float, /) -> bool:
        store = self._store
        with store._bell:
            rung = store._bell.wait_for(lambda: store._rings != self._rings_seen, timeout_s)
            self._rings_seen = store._rings
        return rung
