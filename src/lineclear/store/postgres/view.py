"""Reads on one snapshot. The transaction begins with the first question, in the same round trip."""

from __future__ import annotations

from lineclear.core.epochs import clock_of, last_boot
from lineclear.core.instants import Instant
from lineclear.core.tables import LOG
from lineclear.store.postgres.sifting import sift_rows
from lineclear.store.postgres.statements import BEGIN, BEGIN_READING, GET, PICK, SCAN, Read, search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    from lineclear.core.tables import Row, Table
    from lineclear.store.postgres.session import Session
    from lineclear.store.postgres.speculation import Known

    R = TypeVar("R", bound=Row)
    Key = tuple[int | str, ...]

FAR_FUTURE_NS = 1 << 62
WORTH_KNOWING_ROWS = 100


class PostgresView:
    now: Instant
    head: int

    def __init__(
        self, session: Session, repo: str, known: Known, clock: Callable[[], Instant] | None
    ) -> None:
        self._session, self._repo, self._known, self._clock = session, repo, known, clock
        self._is_begun = False

    def __getattr__(self, name: str) -> Any:
        """`now` and `head` before the first question."""
        if name not in ("now", "head"):
            raise AttributeError(name)
        self._begin(None)
        return getattr(self, name)

    def get(self, table: Table[R], key: Key, /) -> R | None:
        found = self._ask(Read(GET, table, "key", key))
        return found[0] if found else None

    def pick(self, table: Table[R], index: str, values: Iterable[int | str], /) -> list[R]:
        wanted = tuple(dict.fromkeys(values))
        return self._ask(Read(PICK, table, index, wanted)) if wanted else []

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
        return self._ask(Read(SCAN, table, index, prefix, low=low, high=high, limit=limit, reverse=reverse))

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
        return self._ask(read) if read is not None else []

    def _ask(self, read: Read) -> list[Any]:
        if not self._is_begun:
            return self._begin(read)
        return self._heard(read, read.of_result(self._session.ask(read.plain(self._repo))[0]))

    def _begin(self, first: Read | None) -> list[Any]:
        session = self._session
        questions = [first.plain(self._repo)] if first is not None else []
        start = (BEGIN, (self._repo, None, "false"))
        moment, *answers = session.begin(BEGIN_READING, start, *questions)
        self._is_begun = True
        self.head = int(moment.get_value(0, 0) or b"0")
        session.hear(self.head, int(moment.get_value(0, 1) or b"0"))
        self.now = self._clock() if self._clock is not None else session.server_now()
        if session.epoch != self.now.boot:
            self.now = self._now_before_epoch(self.now)
        return self._heard(first, first.of_result(answers[0])) if first is not None else []

    def _heard(self, read: Read, answer: list[Any]) -> list[Any]:
        """What was read may well be asked by the next transaction."""
        if read.table is not LOG and len(answer) <= WORTH_KNOWING_ROWS:
            self._known.learn(read, answer)
        return answer

    def _now_before_epoch(self, now: Instant) -> Instant:
        """Before the first write under a new clock, every lease in the tables is of a dead one."""
        self._session.epoch = last_boot(self)
        if self._session.epoch is None or clock_of(self._session.epoch) == clock_of(now.boot):
            return now
        return Instant(FAR_FUTURE_NS, now.boot, now.wall_ns)
