"""A shared store for work that waits while the store is out of reach or busy, instead of failing.

Only for work that may be repeated: if the connection was lost while a write was on its way, it is written
again.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lineclear.core.store_outages import passes_by_itself
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    from lineclear.app.ports import Caller, Listener, Store, Tx, View
    from lineclear.core.log.queries import Question
    from lineclear.core.log.tables import LogEntry

    T = TypeVar("T")

PAUSE_S = 0.5


def wait_out(act: Callable[[], T], is_over: Callable[[], bool]) -> T:
    """Call `act` until the store answers. Raises its refusal if it is another one, or `is_over`."""
    while True:
        try:
            return act()
        except Refusal as refusal:
            if not passes_by_itself(refusal) or is_over():
                raise
        time.sleep(PAUSE_S)


class PatientStore:
    def __init__(self, store: Store, is_over: Callable[[], bool]) -> None:
        self._store, self._is_over, self.kind = store, is_over, store.kind

    def transact(self, caller: Caller, work: Callable[[Tx], T], near: Iterable[Question] = (), /) -> T:
        near = list(near)
        return wait_out(lambda: self._store.transact(caller, work, near), self._is_over)

    def read(self, work: Callable[[View], T], /) -> T:
        return wait_out(lambda: self._store.read(work), self._is_over)

    def listen(self) -> Listener:
        return wait_out(self._store.listen, self._is_over)

    def load(self, entries: Iterable[LogEntry], /) -> int:
        return self._store.load(entries)

    def check(self) -> list[str]:
        return self._store.check()

    def info(self) -> dict[str, Any]:
        return self._store.info()

    def close(self) -> None:
        self._store.close()
