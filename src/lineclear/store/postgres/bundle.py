"""Several uses of the store as one transaction: everything a hook or a verb asks, in one round trip.

To the use cases it is a store like any other. What they read and write is one speculative transaction (see
speculation.py), decided on guesses and committed at the end, all or nothing. A part that refuses takes only
its own writes back.
"""

from __future__ import annotations

from lineclear.store.postgres.positions import NeedsLock
from lineclear.store.postgres.speculation import SpeculativeTx

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, TypeVar

    from lineclear.app.ports import Caller, Tx, View

    T = TypeVar("T")


class Bundle:
    """A store for the time of one run. Positions in what it gives are stand-ins until the end."""

    kind = "postgres"
    __slots__ = ("_tx",)

    def __init__(self, tx: SpeculativeTx) -> None:
        self._tx = tx

    def transact(self, caller: Caller, work: Callable[[Tx], T], /) -> T:
        mark = self._tx.begin_part(caller)
        try:
            return work(self._tx)
        except BaseException:
            self._tx.undo_part(mark)
            raise

    def read(self, work: Callable[[View], T], /) -> T:
        return work(self._tx)

    def close(self) -> None:
        """The store that it is a part of stays open."""

    def __getattr__(self, name: str) -> NoReturn:
        """Listening, loading, care of the database: nothing that belongs into a transaction."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise NeedsLock


class Settled:
    """What a run came to, when all of it is committed: `of` puts true positions in the place of stand-ins."""

    __slots__ = ("_head", "_tx")

    def __init__(self, tx: SpeculativeTx, head: int) -> None:
        self._tx, self._head = tx, head

    @property
    def is_changed(self) -> bool:
        return self._tx.appended > 0

    def of(self, value: T) -> T:
        settled: Any = self._tx.window.settled(value, self._head)
        result: T = settled
        return result
