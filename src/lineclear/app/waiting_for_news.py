"""Wait for a suitable task, a message, or the next events of the log.

A waiter wakes when the bell rings, and also polls slowly, so it misses nothing if a ring is lost.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from lineclear.app.log import tail
from lineclear.app.tasks import DEFAULT_LEASE_MS, take
from lineclear.core.store_outages import is_outage
from lineclear.core.words.computed.tasks import no_task_came
from lineclear.core.words.refusals import Refusal, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    from lineclear.app.ports import Caller, Liveness, Store, View

    T = TypeVar("T")

POLL_S = 0.25
# Leases run out and holders die without a commit that would ring the bell.
TRY_EVERY_S = 1.0
# Refusals of `take` that may change with time.
WORTH_WAITING = frozenset(("task.none", "task.taken", "task.not_ready"))
FOLLOW_AT_ONCE = 1_000


def await_task(
    store: Store, liveness: Liveness, caller: Caller, limit_ms: int, *, number: int = 0,
    skills: frozenset[str] = frozenset(), lease_ms: int = DEFAULT_LEASE_MS,
) -> dict[str, Any]:  # fmt: skip
    """Take a task as `take` does; if there is none, try again whenever something has happened."""
    last, tried_head, try_at = Refusal("", ""), -1, 0.0

    def attempt() -> dict[str, Any] | None:
        nonlocal last, tried_head, try_at
        head = store.read(lambda view: view.head)
        if head == tried_head and monotonic() < try_at:
            return None
        tried_head, try_at = head, monotonic() + TRY_EVERY_S
        try:
            return take(store, liveness, caller, number=number, skills=skills, lease_ms=lease_ms)
        except Refusal as refusal:
            if refusal.code not in WORTH_WAITING:
                raise
            last = refusal
        return None

    def may_repeat(refusal: Refusal) -> bool:
        """If the connection broke during `take`, only an operation id prevents taking a second task."""
        return bool(caller.op) or refusal.code == "store.unreachable"

    taken = _until(store, limit_ms, attempt, may_repeat)
    if taken is None:
        raise no_task_came(limit_ms, last)
    return taken


def await_messages(store: Store, limit_ms: int, look: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The inbox that `look` returns, as soon as there is a message in it."""

    def attempt() -> dict[str, Any] | None:
        found = look()
        return found if found["messages"] else None

    found = _until(store, limit_ms, attempt)
    if found is None:
        raise refuse("inbox.timeout", waited_ms=limit_ms)
    return found


def follow(
    store: Store, after: int, *, agent: str = "", kind: str = "", subject: str = ""
) -> Iterator[tuple[list[dict[str, Any]], int]]:
    """Yield for ever: (the next matching events, the position up to which the log has been read)."""
    position = after

    def look(view: View) -> tuple[list[dict[str, Any]], int]:
        found = tail(view, after=position, agent=agent, kind=kind, subject=subject, limit=FOLLOW_AT_ONCE)
        return found, view.head

    with store.listen() as bell:
        while True:
            try:
                events, head = store.read(look)
            except Refusal as refusal:
                if not is_outage(refusal):
                    raise
                bell.wait(POLL_S)
                continue
            is_all = len(events) < FOLLOW_AT_ONCE
            position = head if is_all else events[-1]["position"]
            if events:
                yield events, position
            if is_all:
                bell.wait(POLL_S)


def _until(
    store: Store,
    limit_ms: int,
    look: Callable[[], T | None],
    may_repeat: Callable[[Refusal], bool] = lambda _: True,
) -> T | None:
    """What `look` finds, or None when the time is over. Listens before it looks, so no commit is missed.
    Waits while the store is unreachable, if `may_repeat` allows asking again."""
    deadline = monotonic() + limit_ms / 1000
    with store.listen() as bell:
        while True:
            found = None
            try:
                found = look()
            except Refusal as refusal:
                if not is_outage(refusal) or not may_repeat(refusal) or monotonic() >= deadline:
                    raise
            if found is not None:
                return found
            left_s = deadline - monotonic()
            if left_s <= 0:
                return None
            bell.wait(min(POLL_S, left_s))
