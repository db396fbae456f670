"""One call, one step: a snapshot where nothing has to be written, else one write transaction.

The same function runs in both. On a snapshot its first write ends the attempt.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn, TypeVar

    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.core.instants import Instant
    from lineclear.core.log.questions import Question

    T = TypeVar("T")


def in_one_step(
    store: Store,
    caller: Caller,
    work: Callable[[Tx], T],
    *,
    is_write_likely: bool,
    near: Sequence[Question] = (),
) -> T:
    """Run `work` in one read, or in one transaction. `is_write_likely` is a guess: a wrong one costs time.
    `near`: what `work` will ask, as in the store's port.

    `work` may run more than once, and has no effect but through its transaction.
    """
    if not is_write_likely:
        try:
            return store.read(lambda view: _look(view, work, near))
        except WriteNeeded:
            pass
    return store.transact(caller, work, near)


def _look(view: View, work: Callable[[Tx], T], near: Sequence[Question]) -> T:
    view.prefetch(*near)
    return work(ReadOnly(view))


class WriteNeeded(Exception):
    """Something has to be written, and this is only a snapshot."""


class ReadOnly:
    """A snapshot in the place of a transaction."""

    __slots__ = ("_view",)

    if TYPE_CHECKING:
        now: Instant
        head: int
        get: Any
        pick: Any
        scan: Any
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
