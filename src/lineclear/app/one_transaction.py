"""Run a function in one read if it writes nothing, else in one write transaction.

The same function runs in both. In a read, its first write aborts the attempt.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn, TypeVar

    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.core.instants import Instant
    from lineclear.core.log.queries import Question

    T = TypeVar("T")


def in_one_step(
    store: Store,
    caller: Caller,
    work: Callable[[Tx], T],
    *,
    is_write_likely: bool,
    near: Sequence[Question] = (),
) -> T:
    """Run `work` in one read, or in one transaction. `is_write_likely` is a guess; a wrong one only costs
    time. `near`: the questions that `work` will ask, to prefetch.

    `work` may run more than once, so it must have no effect outside its transaction.
    """

    def look(view: View) -> T:
        view.prefetch(*near)
        return work(ReadOnly(view))

    if not is_write_likely:
        try:
            return store.read(look)
        except WriteNeeded:
            pass
    return store.transact(caller, work, near)


class WriteNeeded(Exception):
    """A write was attempted in a read."""


class ReadOnly:
    """A read view that looks like a transaction and raises `WriteNeeded` on a write."""

    __slots__ = ("_view",)

    if TYPE_CHECKING:
        now: Instant
        head: int
        get: Any
        pick: Any
        scan: Any
        count: Any
        sift: Any
        search_tasks: Any
        prefetch: Any

    def __init__(self, view: View) -> None:
        self._view = view

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def append(self, *_given: object) -> NoReturn:
        raise WriteNeeded

    def put(self, *_given: object) -> NoReturn:
        raise WriteNeeded

    def delete(self, *_given: object) -> NoReturn:
        raise WriteNeeded
