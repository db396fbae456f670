"""The ports of all use cases: the store, liveness, presence. Engines and adapters implement them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Protocol, TypeVar

    from lineclear.core.instants import Instant
    from lineclear.core.log.events import Draft, Event
    from lineclear.core.log.queries import Question
    from lineclear.core.log.tables import LogEntry, Table, TableRow

    R = TypeVar("R", bound=TableRow)
    T = TypeVar("T")
    Key = tuple[int | str, ...]

    class View(Protocol):
        """A consistent view of one repository's rows at one log position."""

        now: Instant
        head: int

        def get(self, table: Table[R], key: Key, /) -> R | None:
            """The row with exactly this key."""

        def pick(self, table: Table[R], index: str, values: Iterable[int | str], /) -> list[R]:
            """Rows whose first column of the index is one of the values, in index order."""

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
            """Rows in index order whose first columns equal `prefix` and whose next column lies
            strictly between `low` and `high` (either may be missing); at most `limit` if not 0."""

        def count(self, table: Table[Any], index: str, prefix: Key = (), /) -> int:
            """How many rows `scan` would find, without fetching them."""

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
            """Rows whose first column of the index is one of the values, or lies strictly between
            `low` and `high`, and whose index entry (its columns, then the key) passes `keep`. An
            engine may look at entries alone and fetch only the rows that pass. No promised order."""

        def search_tasks(self, text: str, limit: int, /) -> list[int]:
            """Ids of tasks that share words with the text, the best match first. A shortlist only."""

        def prefetch(self, *questions: Question) -> None:
            """Announce questions that will be asked next. A remote store fetches all answers in one round
            trip; others do nothing. A question that is then not asked does no harm."""

    class Tx(View, Protocol):
        """The write transaction of a repository: nobody else writes until it ends."""

        def append(self, draft: Draft, /) -> Event:
            """Number the event, store it, and fold it into the tables, all in this transaction."""

        def put(self, table: Table[R], row: R, /) -> None:
            """Write a row without an event; only for quiet columns and operations."""

        def delete(self, table: Table[R], key: Key, /) -> None:
            """Remove a row without an event; only for operations."""

    class Store(Protocol):
        """One repository's log and tables. An engine only keeps rows; it contains no rules."""

        kind: str

        def transact(self, caller: Caller, work: Callable[[Tx], T], near: Iterable[Question] = (), /) -> T:
            """Run `work` once, as the only writer, and commit durably before returning; an exception leaves
            nothing behind. `near`: the questions that `work` will ask, as in `prefetch`; a remote store
            fetches the answers together with the lock, others do not iterate over them. The rows of the
            caller and of its operation id need not be named."""

        def read(self, work: Callable[[View], T], /) -> T:
            """Run `work` on one consistent view, without waiting for a writer. After a lost connection `work`
            may run again on a new view."""

        def listen(self) -> Listener:
            """Wake-ups after other processes' commits; only a hint, for one may be lost."""

        def load(self, entries: Iterable[LogEntry], /) -> int:
            """Fill an empty store by replaying another's log with its positions; returns the count."""

        def check(self) -> list[str]:
            """Descriptions of the damage that the engine itself can find; empty if there is none."""

        def info(self) -> dict[str, Any]:
            """Versions, sizes and settings, for `db info` and `doctor`."""

        def close(self) -> None: ...

    class Listener(Protocol):
        def __enter__(self) -> Listener: ...
        def __exit__(self, *exc: object) -> None: ...
        def wait(self, timeout_s: float, /) -> bool:
            """Sleep until a commit is announced or the time is over; True if announced."""

    class Liveness(Protocol):
        """Is the process that holds a bond alive? Judged by a lock that it holds, never by its pid."""

        def is_dead(self, bond: str, /) -> bool:
            """True if the bond was made on this host, its lock is free, and the grace period is over."""

    class Presence(Protocol):
        """Heartbeats and delivered positions: facts about agents that are not worth an event."""

        def touch(self, agent: str, seen: int | None = None, /) -> None: ...
        def seen(self, agent: str, /) -> int: ...
        def idle_ns(self, agent: str, /) -> int | None: ...

    class Places(Protocol):
        """Finds where a given path is in the repository."""

        def locate(self, text: str, cwd: str, /) -> tuple[str, bool]:
            """(repo-relative path, is a directory), through symlinks and from any worktree."""


class Caller:
    """Who acts, from which worktree, with which operation id, and `seen`, the log position it was told."""

    __slots__ = ("bond", "client", "is_person", "keep_ms", "name", "op", "seen", "session", "tree")

    def __init__(
        self,
        name: str,
        *,
        is_person: bool = False,
        tree: str = "main",
        client: str = "",
        session: str = "",
        bond: str = "",
        op: str = "",
        keep_ms: int = 24 * 3_600_000,
        seen: int = 0,
    ) -> None:
        """`keep_ms`: how long the answer to `op` is stored for a repeat."""
        self.name, self.is_person, self.tree, self.client = name, is_person, tree, client
        self.session, self.bond, self.op, self.keep_ms, self.seen = session, bond, op, keep_ms, seen


class NobodyDies:
    """Liveness where no process can be judged (another host, tests)."""

    __slots__ = ()

    def is_dead(self, _bond: str, /) -> bool:
        return False
