"""What use cases need from outside. Engines and adapters implement these; only wiring knows which."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Protocol, TypeVar

    from lineclear.core.instants import Instant
    from lineclear.core.log.events import Draft, Event
    from lineclear.core.log.questions import Question
    from lineclear.core.log.tables import LogEntry, Table, TableRow

    R = TypeVar("R", bound=TableRow)
    T = TypeVar("T")
    Key = tuple[int | str, ...]

    class View(Protocol):
        """A consistent picture of one repository's rows at one position of the log."""

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
            """Ids of tasks that share words with the text, the likeliest first. A shortlist only."""

        def prefetch(self, *questions: Question) -> None:
            """These will be asked now. Where the server is far away, all the answers come in one round
            trip; elsewhere nothing happens. A question that is then not asked does no harm."""

    class Tx(View, Protocol):
        """The one write transaction of a repository: nobody else writes until it ends."""

        def append(self, draft: Draft, /) -> Event:
            """Number the event, store it, and fold it into the tables, all in this transaction."""

        def put(self, table: Table[R], row: R, /) -> None:
            """Write a row without an event: only quiet columns and operations may be changed so."""

        def delete(self, table: Table[R], key: Key, /) -> None:
            """Remove a row without an event: only operations may be removed so."""

    class Store(Protocol):
        """One repository's log and tables. All rules stay outside: an engine only keeps rows."""

        kind: str

        def transact(self, caller: Caller, work: Callable[[Tx], T], near: Iterable[Question] = (), /) -> T:
            """Run `work` once, as the only writer, and commit durably before returning; an exception
            leaves nothing behind. `near`: what `work` will ask, as in `prefetch`; the answers come with
            the lock. An engine that has no use for it does not even look. The rows of the caller, and of
            its operation id, need not be named."""

        def read(self, work: Callable[[View], T], /) -> T:
            """Run `work` on one consistent snapshot. Never waits for a writer. `work` may be run again
            on a new snapshot, when a connection was lost."""

        def listen(self) -> Listener:
            """Wake-ups after other processes' commits: a hint only, never the truth."""

        def load(self, entries: Iterable[LogEntry], /) -> int:
            """Fill an empty store from another's log, positions kept, by replay; gives the count."""

        def check(self) -> list[str]:
            """Damage that the engine itself can find, in words; nothing when all is well."""

        def info(self) -> dict[str, Any]:
            """Versions, sizes and settings, for `db info` and `doctor`."""

        def close(self) -> None: ...

    class Listener(Protocol):
        def __enter__(self) -> Listener: ...
        def __exit__(self, *exc: object) -> None: ...
        def wait(self, timeout_s: float, /) -> bool:
            """Sleep until a commit was announced or the time is over; True if announced."""

    class Liveness(Protocol):
        """Is the process that holds a bond still there? Judged by a lock it holds, never by pid."""

        def is_dead(self, bond: str, /) -> bool:
            """The bond was made on this host, its lock is free, and the grace is over."""

    class Presence(Protocol):
        """Heartbeats and delivered positions: facts about agents that are not worth an event."""

        def touch(self, agent: str, seen: int | None = None, /) -> None: ...
        def seen(self, agent: str, /) -> int: ...
        def idle_ns(self, agent: str, /) -> int | None: ...

    class Places(Protocol):
        """Where a path that somebody typed lies in the repository."""

        def locate(self, text: str, cwd: str, /) -> tuple[str, bool]:
            """(repo-relative path, is a directory), through symlinks and from any worktree."""


class Caller:
    """Who acts, from where, with which operation id, and what it had been told before."""

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
        """`keep_ms`: how long the answer to `op` is kept for a repeat."""
        self.name, self.is_person, self.tree, self.client = name, is_person, tree, client
        self.session, self.bond, self.op, self.keep_ms, self.seen = session, bond, op, keep_ms, seen


class NobodyDies:
    """Liveness where no process can be judged (another host, tests)."""

    __slots__ = ()

    def is_dead(self, _bond: str, /) -> bool:
        return False
